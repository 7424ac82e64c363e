//! `cargo xtask eval classify`: how well prompts are read. The working half by models
//! that have not seen the prompt in question, with every error; the frozen half by the
//! weights that are shipped, its errors only with `--errors`. Short prompts are read by the
//! shipped weights, to see what becomes a rule at once.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a report for the terminal")]
#![allow(clippy::disallowed_methods, reason = "a measurement of time")]

#[path = "../tests/corpus/classify/mod.rs"]
mod corpus;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use corpus::figures::{Figures, Tally};
use corpus::judge::{self, Fault};
use corpus::short;
use corpus::{Prompt, train};
use recoup_core::memory::capture::{PromptClassification, classify, classify_with};
use sha2::{Digest, Sha256};

const FOLDS: usize = 10;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|it| it == name);
    let working = corpus::prompts("working.jsonl");
    let training = corpus::prompts("training.jsonl");
    time(&working);
    println!("\n# Working half, each prompt read by weights that have not seen it\n");
    let models = train::cross_validate(&working, &training, FOLDS);
    let readings: Vec<PromptClassification> = working
        .iter()
        .enumerate()
        .map(|(at, it)| classify_with(&it.text, &models[at % FOLDS]))
        .collect();
    report(&working, &readings, true);
    println!("\n# Short prompts, working half\n");
    let short = std::fs::read_to_string(corpus::path("short-working.jsonl")).unwrap_or_default();
    report_short(&short, true);
    if has("--working") {
        return ExitCode::SUCCESS;
    }
    let hash = |name: &str| arguments.iter().find_map(|it| it.strip_prefix(name));
    let read = frozen("frozen.jsonl", hash("--sha256=").unwrap_or("")).and_then(|prompts| {
        println!("\n# Frozen half\n");
        let prompts = corpus::parse(&prompts);
        let readings: Vec<PromptClassification> =
            prompts.iter().map(|it| classify(&it.text)).collect();
        report(&prompts, &readings, has("--errors"));
        let Some(hash) = hash("--short-sha256=") else { return Ok(()) };
        println!("\n# Short prompts, frozen half\n");
        report_short(&frozen("short-frozen.jsonl", hash)?, has("--errors"));
        Ok(())
    });
    read.map_or_else(
        |problem| {
            eprintln!("{problem}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Prints how many prompts become a rule at once, and how many wait to be said again.
fn report_short(prompts: &str, errors: bool) {
    let figures = short::measure(prompts);
    println!("{:22}{:>8}{:>8}{:>11}{:>8}", "", "prompts", "active", "candidate", "active");
    for (name, tally) in [("to last", figures.durable), ("for this moment", figures.passing)] {
        let (all, active, candidate) = (tally.all, tally.active, tally.candidate);
        println!("{name:22}{all:>8}{active:>8}{candidate:>11}{:>8.3}", tally.active_share());
    }
    for text in figures.errors.iter().filter(|_| errors) {
        println!("    {}", text.replace('\n', "\n    "));
    }
}

/// A frozen half, if it is what it was when it was frozen.
fn frozen(name: &str, hash: &str) -> Result<String, String> {
    let path = corpus::path(name);
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found = String::new();
    for byte in Sha256::digest(&bytes) {
        let _ = write!(found, "{byte:02x}");
    }
    if found != hash {
        return Err(format!(
            "{} is not what was frozen: its SHA-256 is {found}, and xtask/src/eval.rs has {hash}. It must not be changed: take it from git.",
            path.display()
        ));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn report(prompts: &[Prompt], readings: &[PromptClassification], errors: bool) {
    let mut figures = Figures::default();
    for (prompt, reading) in prompts.iter().zip(readings) {
        let faults = figures.add(prompt, reading);
        if errors && !faults.is_empty() {
            tell(prompt, reading, &faults);
        }
    }
    println!(
        "{:22}{:>8}{:>8}{:>8}{:>11}{:>8}",
        "", "wanted", "said", "right", "precision", "recall"
    );
    row("worth keeping", figures.memory);
    row("  and all of it right", figures.strict);
    rows(&figures.by_label);
    println!();
    rows(&figures.by_language);
    println!("\n{} prompts", figures.prompts);
    for (fault, count) in &figures.faults {
        println!("{count:>5}  {fault}");
    }
}

fn rows(tallies: &BTreeMap<String, Tally>) {
    for (name, tally) in tallies {
        row(name, *tally);
    }
}

fn row(name: &str, tally: Tally) {
    let Tally { said, right, wanted } = tally;
    println!(
        "{name:22}{wanted:>8}{said:>8}{right:>8}{:>11.3}{:>8.3}",
        tally.precision(),
        tally.recall()
    );
}

fn tell(prompt: &Prompt, reading: &PromptClassification, faults: &[Fault]) {
    let text: String = prompt.text.chars().take(400).collect();
    println!(
        "{} {} ({} {}) {faults:?}\n    {}",
        prompt.id,
        prompt.label,
        prompt.lang,
        prompt.why,
        text.replace('\n', "\n    ")
    );
    if prompt.is_memory() {
        println!("    wanted: {} {:?}", prompt.statement, prompt.must);
    }
    println!(
        "    taken for {}{}",
        judge::label(reading),
        reading.refused.map_or(String::new(), |it| format!(", refused: {it}"))
    );
    for it in &reading.sayings {
        println!(
            "    {} {:.2} {}{}",
            it.kind,
            it.confidence,
            it.text,
            if it.universal { " (universal)" } else { "" }
        );
    }
    println!();
}

/// What one prompt costs: the least of several times, because others use the machine too.
fn time(prompts: &[Prompt]) {
    let first = least(1, &prompts[0].text);
    let mut times: Vec<f64> = prompts.iter().map(|prompt| least(7, &prompt.text)).collect();
    times.sort_unstable_by(f64::total_cmp);
    #[allow(clippy::cast_precision_loss, reason = "a few hundred")]
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let most = times[times.len() * 99 / 100];
    let huge = least(3, &"the quick brown fox, always { } = never;\n".repeat(25_000));
    println!(
        "\ntime per prompt: mean {mean:.0} µs, p99 {most:.0} µs, the first of a process {first:.0} µs, a paste of 1 MB {huge:.0} µs",
    );
}

/// The shortest of so many readings, in µs.
fn least(rounds: usize, prompt: &str) -> f64 {
    let once = |_| {
        let start = Instant::now();
        let _ = std::hint::black_box(classify(prompt));
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..rounds).map(once).fold(f64::MAX, f64::min)
}
