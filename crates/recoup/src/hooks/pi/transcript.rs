//! Parses lines of a Pi session: JSON with a `type`; most are messages with a `role`. Texts of
//! extensions (`custom`, `custom_message`) and Pi's own summaries are not a person's.

use std::borrow::Cow;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{
    CallOutcome, CallStatus, EntryKind, ToolAction, ToolCall, TranscriptEntry,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hooks::typed::typed_message_text;
use crate::hooks::wire;

#[derive(Deserialize)]
struct PiTranscriptLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

/// A message. `role` decides which fields are present.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PiMessage<'a> {
    #[serde(borrow, default)]
    role: Cow<'a, str>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(default)]
    is_error: bool,
    /// Command that a person ran in Pi's own shell.
    #[serde(borrow, default)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    output: Option<Cow<'a, str>>,
    #[serde(default)]
    exit_code: Option<i32>,
    #[serde(default)]
    cancelled: bool,
}

/// Parses a line into entries.
pub fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
    wire::parse_line(line, |text| {
        let line: PiTranscriptLine<'_> = serde_json::from_str(text)?;
        let said = match (&*line.kind, line.message) {
            ("compaction", _) => vec![EntryKind::Compaction],
            ("message", Some(message)) => {
                let message: PiMessage<'_> = serde_json::from_str(message.get())?;
                message_entries(&message, line.id.as_deref().unwrap_or(""))
            }
            _ => Vec::new(),
        };
        let at = line.timestamp.and_then(time);
        Ok(said.into_iter().map(|what| TranscriptEntry { at, agent: None, what }).collect())
    })
}

/// Parses ISO 8601 or milliseconds.
fn time(timestamp: &RawValue) -> Option<Timestamp> {
    match serde_json::from_str::<i64>(timestamp.get()) {
        Ok(millis) => Some(Timestamp::from_millis(millis)),
        Err(_) => wire::parse_time(Some(timestamp.get().trim_matches('"'))),
    }
}

fn message_entries(message: &PiMessage<'_>, id: &str) -> Vec<EntryKind> {
    let content = || message.content.map(wire::text_of).unwrap_or_default();
    match &*message.role {
        "user" => {
            let typed =
                message.content.and_then(|content| typed_message_text(HookClient::Pi, content));
            typed.and_then(|typed| EntryKind::prompt(&typed)).into_iter().collect()
        }
        "assistant" => {
            let blocks = message.content.map(wire::blocks).unwrap_or_default();
            let said = |block| wire::agent_entry(block, "toolCall", tool_action);
            blocks.iter().filter_map(said).collect()
        }
        "toolResult" => {
            let outcome = message
                .tool_call_id
                .as_deref()
                .map(|call| parse_outcome(call, &content(), message.is_error));
            outcome.map(EntryKind::Outcome).into_iter().collect()
        }
        "bashExecution" => user_command_entries(message, id),
        _ => Vec::new(),
    }
}

pub(super) fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
    let field = |name| wire::string_field(input, name);
    let known = match tool {
        "bash" => field("command").map(ToolAction::shell),
        "edit" => field("path").map(|path| ToolAction::Edit(vec![path])),
        "write" => field("path").map(ToolAction::Write),
        "read" => field("path").map(ToolAction::Read),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// A command that a person ran, and its outcome.
fn user_command_entries(message: &PiMessage<'_>, id: &str) -> Vec<EntryKind> {
    let Some(command) = message.command.as_deref() else { return Vec::new() };
    let call = ToolCall::new(id, "bash", ToolAction::shell(command), command.as_bytes());
    let ended = match message.exit_code {
        _ if message.cancelled => CallStatus::Interrupted,
        Some(0) | None => CallStatus::Succeeded,
        exit => CallStatus::Failed { exit },
    };
    let outcome = CallOutcome::new(id, ended, message.output.as_deref().unwrap_or(""));
    vec![EntryKind::Call(call), EntryKind::Outcome(outcome)]
}

const EXITED: &str = "Command exited with code ";

/// Parses the outcome of a call. The exit code is in the last matching line of the text; an
/// extension may have added more below.
pub(super) fn parse_outcome(call: &str, text: &str, is_error: bool) -> CallOutcome {
    let last = |mark: &str| text.rmatch_indices(mark).map(|(at, _)| at).next();
    let stopped = last("\n\nCommand aborted").is_some() || text.trim() == "Command aborted";
    if is_error && (stopped || text.trim() == "Operation aborted") {
        return CallOutcome::new(call, CallStatus::Interrupted, text);
    }
    if !is_error {
        return CallOutcome::new(call, CallStatus::Succeeded, text);
    }
    let Some(at) = last(EXITED) else {
        return CallOutcome::new(call, CallStatus::Failed { exit: None }, text);
    };
    let code = text[at + EXITED.len()..].lines().next().and_then(|code| code.trim().parse().ok());
    CallOutcome::new(call, CallStatus::Failed { exit: code }, &text[..at])
}
