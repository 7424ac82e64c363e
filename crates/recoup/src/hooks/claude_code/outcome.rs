//! Outcome of a call in Claude Code's transcript: a `tool_result`, and the client's own data beside
//! it. A tool can print anything into its result, so a denial by the user is believed only if the
//! client's data does not contradict it.

use recoup_core::memory::transcript::{CallOutcome, CallStatus, EntryKind};
use serde_json::value::RawValue;

use super::transcript::ClaudeTranscriptLine;
use crate::hooks::wire::{self, BorrowedText, MessageBlock, tag_content};

pub(super) const DENIED: &str = "The user doesn't want to proceed with this tool use";
/// Beginning of a result if the client refused the call.
pub(super) const REFUSED: &str = "<tool_use_error>";
const NOT_NOW: &str = "The user doesn't want to take this action right now";
const REJECTED: &str = "User rejected tool use";
/// Beginning of a message after a person interrupted the agent.
pub(super) const INTERRUPTED: &str = "[Request interrupted by user";

/// Parses the outcome in a block.
pub(super) fn parse_outcome(
    block: &MessageBlock<'_>,
    line: &ClaudeTranscriptLine<'_>,
) -> Option<EntryKind> {
    if block.kind != "tool_result" {
        return None;
    }
    let text = block.content.map(wire::text_of).unwrap_or_default();
    let ended = classify_end(&text, block.is_error == Some(true), line);
    let output = match ended {
        CallStatus::Failed { exit: Some(_) } => {
            text.split_once('\n').map_or("", |(_, output)| output)
        }
        CallStatus::Refused => tag_content(&text, "tool_use_error").unwrap_or(&text),
        _ => &text,
    };
    Some(EntryKind::Outcome(CallOutcome::new(block.tool_use_id.as_deref()?, ended, output)))
}

fn classify_end(text: &str, is_error: bool, line: &ClaudeTranscriptLine<'_>) -> CallStatus {
    if is_interrupted(line) || (is_error && text.starts_with(INTERRUPTED)) {
        return CallStatus::Interrupted;
    }
    match denial_source(line) {
        Some(DenialSource::Person) => return CallStatus::Denied,
        Some(DenialSource::Rule) => return CallStatus::Refused,
        None => {}
    }
    if !is_error {
        return CallStatus::Succeeded;
    }
    if text.starts_with(REFUSED) || is_not_permitted(text) {
        return CallStatus::Refused;
    }
    if is_denied(text, line) {
        CallStatus::Denied
    } else {
        CallStatus::Failed { exit: exit_code(text) }
    }
}

enum DenialSource {
    Person,
    Rule,
}

/// Returns who denied the call before it began: a person or a rule.
fn denial_source(line: &ClaudeTranscriptLine<'_>) -> Option<DenialSource> {
    let decision = line.permission_decision?;
    let says_no =
        wire::string_field(decision, "decision").is_some_and(|it| it == "reject" || it == "deny");
    let source = wire::string_field(decision, "source").unwrap_or_default();
    says_no.then_some(if source.starts_with("user") {
        DenialSource::Person
    } else {
        DenialSource::Rule
    })
}

fn is_denied(text: &str, line: &ClaudeTranscriptLine<'_>) -> bool {
    let says_so = text.starts_with(DENIED) || text.starts_with(NOT_NOW);
    // An error that a tool returned has `Error: …` there.
    says_so && client_text(line).is_none_or(|text| text == REJECTED)
}

fn is_not_permitted(text: &str) -> bool {
    text.starts_with("Claude requested permissions") || text.starts_with("Permission to use ")
}

fn client_text(line: &ClaudeTranscriptLine<'_>) -> Option<String> {
    let BorrowedText(text) = serde_json::from_str(line.tool_use_result?.get()).ok()?;
    Some(text.into_owned())
}

fn is_interrupted(line: &ClaudeTranscriptLine<'_>) -> bool {
    let flag = |result: &RawValue| {
        #[derive(serde::Deserialize)]
        struct InterruptFlag {
            #[serde(default)]
            interrupted: bool,
        }
        serde_json::from_str::<InterruptFlag>(result.get()).is_ok_and(|flag| flag.interrupted)
    };
    line.tool_use_result.is_some_and(flag)
}

/// Parses `Exit code 2` on the first line.
pub(super) fn exit_code(text: &str) -> Option<i32> {
    let first = text.lines().next()?;
    first.strip_prefix("Exit code ")?.trim().parse().ok()
}
