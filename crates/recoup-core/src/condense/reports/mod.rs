//! Reports that tools print, read as findings. Each reader says by the structure
//! of what it is given whether that is its tool's.

mod cargo;
mod cargo_tests;
mod eslint;
mod junit;
mod pytest;
mod ripgrep;
mod sarif;

use serde_json::value::RawValue;

use super::document::invalid;
use super::finding::Finding;
use crate::error::Result;

/// What all of them come to.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) verdict: &'static str,
    /// One line for people.
    pub(super) description: String,
    pub(super) findings: Vec<Finding<'a>>,
}

const PASS: &str = "PASS";
const FAIL: &str = "FAIL";

fn verdict(failed: bool) -> &'static str {
    if failed { FAIL } else { PASS }
}

/// The report that one JSON value is, if it is one.
pub(super) fn of_whole(root: &RawValue) -> Result<Option<Report<'_>>> {
    let readers = [sarif::read, eslint::read, pytest::read, junit::read];
    if let Some(report) = readers.into_iter().find_map(|read| read(root)) {
        return Ok(Some(report));
    }
    of_lines(root.get())
}

/// The report that lines of JSON are, if they are one.
pub(super) fn of_lines(text: &str) -> Result<Option<Report<'_>>> {
    let lines = || text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let first = lines().next().and_then(|(_, line)| serde_json::from_str(line).ok());
    match first {
        Some(first) if cargo::is_message(first) => cargo::read(lines()).map(Some),
        Some(first) if ripgrep::is_event(first) => ripgrep::read(lines()).map(Some),
        _ => Ok(None),
    }
}

/// A line that must be JSON.
fn line(number: usize, line: &str) -> Result<&RawValue> {
    serde_json::from_str(line)
        .map_err(|error| invalid().with_source(format!("in line {}: {error}", number + 1)))
}

/// `1 error`, `2 errors`.
fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
