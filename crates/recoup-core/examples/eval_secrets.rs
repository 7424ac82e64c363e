//! `cargo xtask eval secrets`: the rules against the corpus. Prints both rates
//! and every text that was judged wrongly, and fails when a rate is too bad.
#![allow(clippy::print_stdout, reason = "a report for the terminal")]

#[path = "../tests/corpus/secrets/mod.rs"]
mod corpus;

use std::process::ExitCode;

use corpus::rates::{self, LEAST_REFUSED, MOST_REFUSED, Rate};

fn main() -> ExitCode {
    let secrets = rates::of_secrets(&corpus::secrets());
    let clean = rates::of_clean(&corpus::clean());
    print("secrets", &secrets, &format!("at least {} %", LEAST_REFUSED * 100.0));
    print("clean texts", &clean, &format!("at most {} %", MOST_REFUSED * 100.0));
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
