//! Detection of failed calls, and of the line that tells what is wrong.
//!
//! The exit status decides, never a word in the output: a listing may well contain "error". Only a
//! test runner's own summary overrides a success, because `| tail` and `|| true` hide the exit
//! code.

mod class;
mod clutter;
mod error_line;
mod plain;
mod rules;
mod summary;

use std::borrow::Cow;

use crate::base::text::shortened;
use crate::memory::learn::command::Kind;
use crate::memory::transcript::{Call, Ended, Outcome};
use crate::secrets;

pub(super) use class::leads_to_host;
pub use class::{error_class, error_subject};
pub use plain::plain;

/// Maximum characters of an error line.
pub const MOST_LINE: usize = 300;

/// A call that has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Exit code of the command, if known.
    pub exit: Option<i32>,
    /// True if the client reported an error; false if only the output shows it.
    pub flagged: bool,
    /// Error line: plain text without secrets, 300 characters at most.
    pub error: String,
}

/// Returns the failure of a call, if it failed. Calls that never ran (refused, denied) or that a
/// person stopped have not failed.
pub fn failure(call: &Call, outcome: &Outcome) -> Option<Failure> {
    match outcome.ended {
        Ended::Failed { exit } if is_answer(call, exit, &outcome.output) => None,
        Ended::Failed { exit } => {
            let error = error_or_code(&output_of(call, outcome), exit);
            Some(Failure { exit, flagged: true, error })
        }
        Ended::Succeeded => tests_failed(call, outcome),
        Ended::Refused | Ended::Denied | Ended::Interrupted => None,
    }
}

/// Returns the line of an output that tells what is wrong, or `None` if it is empty.
pub fn error_line(output: &str) -> Option<String> {
    let text = plain(output);
    error_line::find(&text).map(|line| tidy(&line))
}

fn error_or_code(output: &str, exit: Option<i32>) -> String {
    error_line(output).unwrap_or_else(|| match exit {
        Some(124) => "exit code 124: it timed out".to_owned(),
        Some(code) => format!("exit code {code}, without a word"),
        None => "failed without a word".to_owned(),
    })
}

/// Returns one line, redacted before it is cut: half a secret is still one.
fn tidy(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    shortened(&secrets::redact(&words.join(" ")), MOST_LINE).into_owned()
}

/// Returns the output of a call without its command's password, which it may repeat.
fn output_of<'a>(call: &Call, outcome: &'a Outcome) -> Cow<'a, str> {
    match call.command() {
        Some(command) => command.hide_in(&outcome.output),
        None => Cow::Borrowed(&outcome.output),
    }
}

/// True if an exit code is no failure: `grep` found nothing, a reader closed the pipe, a person
/// pressed Ctrl-C.
fn is_answer(call: &Call, exit: Option<i32>, output: &str) -> bool {
    match exit {
        Some(130 | 141) => true,
        Some(1) => {
            let kind = call.command().and_then(|line| Kind::of(line));
            kind.is_some_and(|kind| kind.answers_with_one()) && !rules::is_certain(&plain(output))
        }
        _ => false,
    }
}

/// Detects failed tests behind a successful exit code.
fn tests_failed(call: &Call, outcome: &Outcome) -> Option<Failure> {
    let kind = Kind::of(call.command()?)?;
    if kind.shows() {
        return None;
    }
    let output = output_of(call, outcome);
    let text = plain(&output);
    let summary = text.lines().find(|line| summary::says_failed(line))?;
    let error = error_line::find_certain(&text).unwrap_or_else(|| summary.to_owned());
    Some(Failure { exit: None, flagged: false, error: tidy(&error) })
}
