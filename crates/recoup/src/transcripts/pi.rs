//! Pi's session files: lines of JSON with a `type`; most are messages with a `role`. Texts of
//! extensions (`custom`, `custom_message`) and Pi's own summaries are not a person's.

use std::borrow::Cow;
use std::path::Path;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, EntryKind, ToolAction, ToolCall, TranscriptEntry, bound_name,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::{self, typed_message_text};

/// Length limit of a header.
const MAX_HEADER_BYTES: usize = 16 << 10;

/// Last line of a failed command.
const EXITED: &str = "Command exited with code ";

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
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiMessage<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    is_error: bool,
    /// Command that a person ran in Pi's own shell.
    #[serde(borrow)]
    command: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<Cow<'a, str>>,
    exit_code: Option<i32>,
    cancelled: bool,
}

/// Parses a line into entries.
pub(super) fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
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
        // ISO 8601 or milliseconds.
        let at = line.timestamp.and_then(|time| match serde_json::from_str::<i64>(time.get()) {
            Ok(millis) => Some(Timestamp::from_millis(millis)),
            Err(_) => wire::parse_time(Some(time.get().trim_matches('"'))),
        });
        Ok(said.into_iter().map(|what| TranscriptEntry { at, agent: None, what }).collect())
    })
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
        // A command that a person ran, and its outcome.
        "bashExecution" => {
            let Some(command) = message.command.as_deref() else { return Vec::new() };
            let call = ToolCall::new(id, "bash", ToolAction::shell(command), command.as_bytes());
            let ended = match message.exit_code {
                _ if message.cancelled => CallStatus::Interrupted,
                exit => wire::status_of_exit(exit),
            };
            let outcome = CallOutcome::new(id, ended, message.output.as_deref().unwrap_or(""));
            vec![EntryKind::Call(call), EntryKind::Outcome(outcome)]
        }
        _ => Vec::new(),
    }
}

pub(crate) fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
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

/// Parses the outcome of a call. The exit code is in the last matching line of the text; an
/// extension may have added more below.
pub(crate) fn parse_outcome(call: &str, text: &str, is_error: bool) -> CallOutcome {
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

#[derive(Deserialize)]
struct SessionHeader<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
}

/// True if the session has a file, so that it is being resumed: Pi writes the file with the first
/// answer, and a session without one has an empty context.
pub(crate) fn is_written(file: &Path) -> bool {
    matches!(fsx::open_regular(file), Ok(FileLookup::Regular(_)))
}

/// Id of the session in a file's first line; none if that is no session of Pi.
pub(crate) fn session_id(file: &Path) -> Option<String> {
    let Ok(FileLookup::Regular(file)) = fsx::open_regular(file) else { return None };
    let head = file.read_start(MAX_HEADER_BYTES).ok()?;
    let line = head.split(|byte| *byte == b'\n').next()?;
    let header: SessionHeader<'_> = serde_json::from_slice(line).ok()?;
    Some(bound_name(&header.id))
}
