//! `cargo xtask eval capture`: how well prompts are heard. The working half with every error on
//! request (`--errors`), the frozen half in figures only.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]
#![allow(clippy::disallowed_methods, reason = "a measurement of time")]
#![allow(clippy::cast_precision_loss, reason = "counts of prompts")]

#[path = "../tests/corpus/prompts/mod.rs"]
mod prompts;

use std::collections::BTreeMap;
use std::time::Instant;

use prompts::LabelledPrompt;
use recoup_core::memory::NoteScope;
use recoup_core::memory::capture::{PromptReading, read_prompt};
use recoup_core::memory::guard::private_text::PublicText;

fn main() {
    let has = |name: &str| std::env::args().any(|it| it == name);
    report("working", has("--errors"));
    if !has("--working") {
        report("frozen", false);
        // Short prompts of an older corpus: all of a prompt is marked, so only the first table counts.
        report("short-frozen", false);
    }
}

/// Counts of one group of prompts.
#[derive(Default)]
struct GroupTally {
    wanted: usize,
    heard: usize,
    candidates: usize,
    others: usize,
    wrong: usize,
    wrong_candidates: usize,
}

#[derive(Default)]
struct SpanTally {
    compared: usize,
    equal: usize,
    close: usize,
    kinds: usize,
    overlap: f64,
}

fn report(part: &str, errors: bool) {
    let all = prompts::load(part);
    if all.is_empty() {
        return println!("# {part}: no prompts");
    }
    let mut groups: BTreeMap<String, GroupTally> = BTreeMap::new();
    let mut spans = SpanTally::default();
    let (mut asked, mut taken_back) = ([0_usize; 3], [0_usize; 3]);
    let mut times: Vec<f64> = Vec::new();
    for prompt in &all {
        let start = Instant::now();
        let read = read_prompt(&PublicText::new(&prompt.text), &NoteScope::Universal);
        times.push(start.elapsed().as_secs_f64() * 1e6);
        let kept = read.sure().next().is_some();
        for group in
            ["all".to_owned(), format!("form {}", prompt.form), format!("lang {}", prompt.lang)]
        {
            let tally = groups.entry(group).or_default();
            if prompt.is_kept() {
                tally.wanted += 1;
                tally.heard += usize::from(kept);
                tally.candidates += usize::from(!kept && !read.statements.is_empty());
            } else {
                tally.others += 1;
                tally.wrong += usize::from(kept);
                tally.wrong_candidates += usize::from(!kept && !read.statements.is_empty());
            }
        }
        if errors && kept != prompt.is_kept() {
            print_error(prompt, &read);
        }
        spans.compare(prompt, &read);
        count(&mut asked, prompt.re_ask, read.re_ask);
        count(&mut taken_back, prompt.is_retraction(), !read.retractions.is_empty());
    }
    println!("\n# {part}: {} prompts\n", all.len());
    println!(
        "{:24}{:>7}{:>7}{:>8}{:>7}{:>10}{:>8}{:>7}{:>7}{:>11}",
        "", "wanted", "heard", "recall", "maybe", "others", "wrong", "share", "maybe", "precision"
    );
    for (name, it) in &groups {
        let share = |part: usize, all: usize| part as f64 / all.max(1) as f64;
        println!(
            "{name:24}{:>7}{:>7}{:>8.3}{:>7}{:>10}{:>8}{:>7.3}{:>7}{:>11.3}",
            it.wanted,
            it.heard,
            share(it.heard, it.wanted),
            it.candidates,
            it.others,
            it.wrong,
            share(it.wrong, it.others),
            it.wrong_candidates,
            share(it.heard, it.heard + it.wrong)
        );
    }
    let share = |part: usize| part as f64 / spans.compared.max(1) as f64;
    println!(
        "\nstatements: {} compared, words F1 {:.3}, equal {:.3}, at most two words apart {:.3}, kind {:.3}",
        spans.compared,
        spans.overlap / spans.compared.max(1) as f64,
        share(spans.equal),
        share(spans.close),
        share(spans.kinds)
    );
    println!("asked again (wanted, said, right): {asked:?}; taken back: {taken_back:?}");
    times.sort_unstable_by(f64::total_cmp);
    println!(
        "time per prompt: median {:.0} µs, p99 {:.0} µs",
        times[times.len() / 2],
        times[times.len() * 99 / 100]
    );
}

fn count(counts: &mut [usize; 3], wanted: bool, said: bool) {
    for (count, it) in counts.iter_mut().zip([wanted, said, wanted && said]) {
        *count += usize::from(it);
    }
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_owned)
        .collect()
}

impl SpanTally {
    /// Compares each mark with the statement that has most words in common.
    fn compare(&mut self, prompt: &LabelledPrompt, read: &PromptReading) {
        for mark in prompt.marks.iter().filter(|mark| mark.kind != prompts::RETRACTION) {
            let wanted = words(&prompt.text[mark.span.clone()]);
            let common = |text: &str| words(text).iter().filter(|it| wanted.contains(it)).count();
            let best = read.sure().max_by_key(|it| common(&it.text));
            let Some(best) = best.filter(|it| common(&it.text) * 3 > wanted.len()) else {
                continue;
            };
            let said = words(&best.text);
            let missing = wanted.iter().filter(|it| !said.contains(it)).count();
            let extra = said.iter().filter(|it| !wanted.contains(it)).count();
            self.compared += 1;
            self.equal += usize::from(missing + extra == 0);
            self.close += usize::from(missing + extra <= 2);
            self.kinds += usize::from(
                best.kind
                    .as_str()
                    .starts_with(["correction", "preference", "project", "devops"][mark.kind]),
            );
            self.overlap += 2.0 * common(&best.text) as f64 / (wanted.len() + said.len()) as f64;
        }
    }
}

fn print_error(prompt: &LabelledPrompt, read: &PromptReading) {
    let fault = if prompt.is_kept() { "missed" } else { "kept" };
    println!(
        "{fault}: {} {} {}\n    {}",
        prompt.author,
        prompt.lang,
        prompt.form,
        prompt.text.replace('\n', "\n    ")
    );
    for it in &read.statements {
        println!("    {}: {}", if it.lasting { "said" } else { "maybe" }, it.text);
    }
}
