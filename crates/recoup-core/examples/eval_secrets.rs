//! `cargo xtask eval secrets`: the rules against the generated corpus and against texts that
//! others have labelled. Prints all rates, and every text of the generated corpus and of the
//! working half that was judged wrongly; fails when a rate is too bad. Of the frozen half only
//! figures are shown.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a report for the terminal")]

#[path = "../tests/corpus/secrets/mod.rs"]
mod corpus;

use std::fmt::Write as _;
use std::process::ExitCode;

use corpus::labelled::{self, LabelledReport, LabelledText};
use corpus::rates::{self, LEAST_REFUSED, MOST_REFUSED, Rate};
use sha2::{Digest, Sha256};

fn main() -> ExitCode {
    let secrets = rates::of_secrets(&corpus::secrets());
    let clean = rates::of_clean(&corpus::clean());
    println!("# Generated corpus\n");
    print("secrets", &secrets, &format!("at least {} %", LEAST_REFUSED * 100.0));
    print("clean texts", &clean, &format!("at most {} %", MOST_REFUSED * 100.0));
    println!("\n# Working half\n");
    let working = LabelledReport::of(&labelled::working());
    print_classes(&working);
    for text in &working.wrong {
        println!("  wrong: {text}");
    }
    let hash = std::env::args().find_map(|it| it.strip_prefix("--sha256=").map(str::to_owned));
    match frozen(hash.as_deref().unwrap_or_default()) {
        Ok(None) => {}
        Ok(Some(texts)) => {
            println!("\n# Frozen half\n");
            print_classes(&LabelledReport::of(&texts));
        }
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    }
    let good = secrets.share() >= LEAST_REFUSED && clean.share() <= MOST_REFUSED;
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(what: &str, rate: &Rate, wanted: &str) {
    let Rate { texts, refused, wrong } = rate;
    println!("{what}: {refused} of {texts} refused, {:.2} % ({wanted})", rate.share() * 100.0);
    for name in wrong {
        println!("  wrong: {name}");
    }
}

fn print_classes(report: &LabelledReport) {
    for secret in [true, false] {
        let (label, verdict) = if secret { ("secret", "refused") } else { ("clean", "accepted") };
        for ((_, class), tally) in report.classes.iter().filter(|((own, _), _)| *own == secret) {
            println!("{label:8}{class:14}{:>4} of {:>4} {verdict}", tally.right, tally.texts);
        }
        let all = report.total(secret);
        let share = all.share() * 100.0;
        println!(
            "{label:8}{:14}{:>4} of {:>4} {verdict}, {share:.1} %\n",
            "all", all.right, all.texts
        );
    }
}

/// The frozen half, if it is what it was when it was frozen; nothing if there is none to check.
fn frozen(hash: &str) -> Result<Option<Vec<LabelledText>>, String> {
    if hash.is_empty() {
        return Ok(None);
    }
    let path = labelled::path("frozen.jsonl");
    let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut found = String::new();
    for byte in Sha256::digest(&bytes) {
        let _ = write!(found, "{byte:02x}");
    }
    if found != hash {
        return Err(format!(
            "{} is not the frozen half: its SHA-256 is {found}, and xtask/src/eval.rs has {hash}. It must not be changed: take it from git.",
            path.display()
        ));
    }
    Ok(Some(labelled::parse(&String::from_utf8_lossy(&bytes))))
}
