//! Outcome of a call in Codex's transcript: text for the model, with the exit code in a heading.
//! Nothing else says whether it succeeded.

use std::borrow::Cow;

use recoup_core::memory::transcript::{CallOutcome, CallStatus, EntryKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hooks::wire::{self, BorrowedText};

/// Whole texts of calls that a person denied.
const DENIED: [&str; 4] = [
    "rejected by user",
    "exec command rejected by user",
    "patch rejected by user",
    "command rejected by user",
];

/// Beginnings of texts of calls that never began.
const REFUSED: [&str; 5] = [
    "apply_patch verification failed",
    "failed to parse function arguments",
    "unsupported call:",
    "unsupported custom tool call:",
    "invalid patch:",
];

/// Older form of an output, which else is a text or a list of texts.
#[derive(Deserialize)]
struct LegacyOutput<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    success: Option<bool>,
}

/// Parses the outcome of `call`.
pub(super) fn parse_outcome(call: &str, output: &RawValue) -> EntryKind {
    let older = output
        .get()
        .starts_with('{')
        .then(|| serde_json::from_str::<LegacyOutput<'_>>(output.get()));
    let (text, success) = match older {
        Some(Ok(LegacyOutput { content: Some(content), success })) => {
            (wire::text_of(content), success)
        }
        _ => (wire::text_of(output), None),
    };
    let (ended, output) = classify_output(&text, success);
    EntryKind::Outcome(CallOutcome::new(call, ended, &output))
}

fn classify_output(text: &str, success: Option<bool>) -> (CallStatus, Cow<'_, str>) {
    let trimmed = text.trim();
    if DENIED.contains(&trimmed) {
        return (CallStatus::Denied, Cow::Borrowed(text));
    }
    if trimmed == "aborted" || trimmed.starts_with("aborted by user") {
        return (CallStatus::Interrupted, Cow::Borrowed(text));
    }
    if REFUSED.iter().any(|words| trimmed.starts_with(words)) {
        return (CallStatus::Refused, Cow::Borrowed(text));
    }
    if let Some((exit, output)) = parse_json_output(text) {
        return (end_of_exit_code(exit), Cow::Owned(output));
    }
    match parse_headed_output(text) {
        Some((exit, output)) => (end_of_exit_code(exit), Cow::Borrowed(output)),
        None if success == Some(false) => (CallStatus::Failed { exit: None }, Cow::Borrowed(text)),
        None => (CallStatus::Succeeded, Cow::Borrowed(text)),
    }
}

fn end_of_exit_code(exit: i32) -> CallStatus {
    if exit == 0 { CallStatus::Succeeded } else { CallStatus::Failed { exit: Some(exit) } }
}

/// Parses `{"output": …, "metadata": {"exit_code": …}}` of older versions.
fn parse_json_output(text: &str) -> Option<(i32, String)> {
    #[derive(Deserialize)]
    struct LegacyJsonOutput<'a> {
        #[serde(borrow)]
        output: BorrowedText<'a>,
        metadata: LegacyOutputMetadata,
    }
    #[derive(Deserialize)]
    struct LegacyOutputMetadata {
        exit_code: i32,
    }
    let json: LegacyJsonOutput<'_> =
        text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    Some((json.metadata.exit_code, json.output.0.into_owned()))
}

/// Parses `Exit code: 1` or `Process exited with code 1` among the lines before `Output:`. The
/// command's own output comes after that, and can't imitate it.
fn parse_headed_output(text: &str) -> Option<(i32, &str)> {
    let (heading, output) = match text.strip_prefix("Output:\n") {
        Some(_) => return None,
        None => text.split_once("\nOutput:").unwrap_or((text, "")),
    };
    // A heading has only these lines; other output is not a heading.
    let known = |line: &str| {
        [
            "Exit code: ",
            "Wall time: ",
            "Total output lines: ",
            "Chunk ID: ",
            "Original token count: ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
            || line.starts_with("Process ")
            || line.is_empty()
    };
    if !heading.lines().all(known) {
        return None;
    }
    let exit = heading.lines().find_map(|line| {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    })?;
    Some((exit, output))
}
