//! `cargo xtask eval checks`: checks that are compiled from rules, on labelled rules and calls of
//! `xtask/corpora/checks`. Errors of the working half are listed with `--verbose`; of the frozen half
//! only figures are shown. `--working` leaves the frozen half alone.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]

#[path = "../tests/corpus/rule_calls.rs"]
mod rule_calls;

use std::process::ExitCode;

use recoup_core::memory::checks::RuleCheck;

fn main() -> ExitCode {
    let has = |option: &str| std::env::args().any(|argument| argument == option);
    let halves: &[&str] = if has("--working") { &["working"] } else { &["working", "frozen"] };
    let are_good = halves.iter().map(|half| {
        println!("{half}:");
        let is_verbose = has("--verbose") && *half == "working";
        rule_calls::measure(half, is_verbose, |_, rule| RuleCheck::compile(rule, None))
    });
    // All halves are measured.
    let are_good: Vec<bool> = are_good.collect();
    if are_good.contains(&false) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
