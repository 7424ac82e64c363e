//! Detection of failed calls, and of the line that tells what is wrong.
//!
//! The exit status decides, never a word in the output: a listing may well contain "error". Only a
//! test runner's own summary overrides a success, because `| tail` and `|| true` hide the exit
//! code.

mod class;
mod error_line;

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::base::text::shorten_text;
use crate::memory::capture::transcript::{CallOutcome, CallStatus, ToolCall};
use crate::memory::learn::patterns::PatternSection;
use crate::memory::shell::CommandKind;
use crate::secrets;

pub use class::{error_class, error_subject};

pub(super) use class::leads_to_host;

/// Maximum characters of an error line.
pub const MOST_LINE: usize = 300;

/// Summaries of test runners that report failures.
static FAILED_SUMMARY: PatternSection = PatternSection::new("(failed summary)");

/// A call that has failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// Exit code of the command, if known.
    pub exit: Option<i32>,
    /// Error line: plain text without secrets, 300 characters at most.
    pub error: String,
}

/// Returns the failure of a call, if it failed. Calls that never ran (refused, denied) or that a
/// person stopped have not failed.
pub fn detect_failure(call: &ToolCall, outcome: &CallOutcome) -> Option<CallFailure> {
    let kind = || call.command().and_then(|line| CommandKind::of(line));
    match outcome.ended {
        // With these codes, a reader closed the pipe, or a person pressed Ctrl-C.
        CallStatus::Failed { exit: Some(130 | 141) }
        | CallStatus::Refused
        | CallStatus::Denied
        | CallStatus::Interrupted => None,
        // `grep` found nothing.
        CallStatus::Failed { exit: Some(1) }
            if kind().is_some_and(|kind| kind.exits_one_for_no())
                && !error_line::has_certain_error(&strip_terminal_codes(&outcome.output)) =>
        {
            None
        }
        CallStatus::Failed { exit } => {
            let error = error_line(&output_of(call, outcome)).unwrap_or_else(|| match exit {
                Some(124) => "exit code 124: it timed out".to_owned(),
                Some(code) => format!("exit code {code}, without a word"),
                None => "failed without a word".to_owned(),
            });
            Some(CallFailure { exit, error })
        }
        // Failed tests behind a successful exit code.
        CallStatus::Succeeded => {
            if kind()?.only_displays() {
                return None;
            }
            let output = output_of(call, outcome);
            let text = strip_terminal_codes(&output);
            // Few lines have any of these words, and only those are worth the pattern.
            let may_fail = |line: &&str| ["ail", "AIL", "rror"].iter().any(|it| line.contains(it));
            let is_summary = |line: &&str| FAILED_SUMMARY.fits(line.trim_end());
            let summary = text.lines().filter(may_fail).find(is_summary)?;
            let error = error_line::find_certain_error_line(&text);
            let error = redact_error_line(&error.unwrap_or_else(|| summary.to_owned()));
            Some(CallFailure { exit: None, error })
        }
    }
}

/// Returns the line of an output that tells what is wrong, or `None` if it is empty.
pub fn error_line(output: &str) -> Option<String> {
    let text = strip_terminal_codes(output);
    error_line::find_error_line(&text).map(|line| redact_error_line(&line))
}

/// Returns one line, redacted before it is cut: half a secret is still one.
fn redact_error_line(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    shorten_text(&secrets::redact(&words.join(" ")), MOST_LINE).into_owned()
}

/// Returns the output of a call without its command's password, which it may repeat.
fn output_of<'a>(call: &ToolCall, outcome: &'a CallOutcome) -> Cow<'a, str> {
    match call.command() {
        Some(command) => command.hide_values_in(&outcome.output),
        None => Cow::Borrowed(&outcome.output),
    }
}

/// Removes escape sequences, overwritten parts and control characters.
pub(crate) fn strip_terminal_codes(text: &str) -> Cow<'_, str> {
    let odd = |c: char| c.is_control() && c != '\n' && c != '\t';
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    let mut clean = String::with_capacity(text.len());
    for (at, line) in text.split('\n').enumerate() {
        if at > 0 {
            clean.push('\n');
        }
        let line = without_escapes(line.trim_end_matches('\r'));
        let shown = line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or("");
        clean.extend(shown.chars().filter(|c| !odd(*c)));
    }
    Cow::Owned(clean)
}

/// Removes colours and movements (ended by a letter or the like), and titles and links (ended by a
/// bell, or an escape and a backslash).
fn without_escapes(line: &str) -> Cow<'_, str> {
    static ESCAPES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\x1b(?:\[[^@-~]*[@-~]?|\][^\x07\x1b]*(?:[\x07\x1b]\\?)?|.)?")
            .expect("the pattern is valid")
    });
    if line.contains('\u{1b}') { ESCAPES.replace_all(line, "") } else { Cow::Borrowed(line) }
}
