//! Results and reports made short: the three strategies, the reports that are
//! recognised, and laws that hold for any input.

mod budget;
mod laws;
mod length;
mod misread_reports;
mod odd_inputs;
mod preserve;
mod reports;
mod strategies;

use recoup_core::condense::{
    CondenseOptions, CondenseStrategy, InputDocument, condense, condense_or_keep,
};
use serde_json::Value;

/// What a strategy prints for this input.
fn printed(strategy: CondenseStrategy, input: impl AsRef<[u8]>) -> String {
    with(&CondenseOptions { strategy, ..CondenseOptions::default() }, input)
}

fn with(options: &CondenseOptions, input: impl AsRef<[u8]>) -> String {
    condense(&InputDocument::read(input.as_ref()).unwrap(), options).to_pretty_json()
}

/// The condensed result or the input itself, as agents get it.
fn kept(options: &CondenseOptions, input: impl AsRef<[u8]>) -> String {
    condense_or_keep(&InputDocument::read(input.as_ref()).unwrap(), options).to_json()
}

fn verdict(input: impl AsRef<[u8]>) -> Value {
    serde_json::from_str(&printed(CondenseStrategy::StructuredVerdict, input)).unwrap()
}

fn identifiers(input: impl AsRef<[u8]>) -> Value {
    serde_json::from_str(&printed(CondenseStrategy::IdentifiersOnly, input)).unwrap()
}

fn summary(input: impl AsRef<[u8]>) -> Value {
    serde_json::from_str(&printed(CondenseStrategy::Summary, input)).unwrap()
}

/// Why an input is refused.
fn refusal(input: impl AsRef<[u8]>) -> String {
    InputDocument::read(input.as_ref()).unwrap_err().to_string()
}
