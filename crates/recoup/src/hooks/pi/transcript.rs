//! Parses lines of a Pi session: JSON with a `type`; most are messages with a `role`. Texts of
//! extensions (`custom`, `custom_message`) and Pi's own summaries are not a person's.

use std::borrow::Cow;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Action, Call, Ended, Entry, EntryKind, Outcome};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::hooks::typed::typed_in;
use crate::hooks::wire;

#[derive(Deserialize)]
struct Line<'a> {
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
struct Message<'a> {
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
pub fn entries(line: &[u8]) -> Vec<Entry> {
    wire::reading(line, |text| {
        let line: Line<'_> = serde_json::from_str(text)?;
        let said = match (&*line.kind, line.message) {
            ("compaction", _) => vec![EntryKind::Compaction],
            ("message", Some(message)) => {
                let message: Message<'_> = serde_json::from_str(message.get())?;
                of(&message, line.id.as_deref().unwrap_or(""))
            }
            _ => Vec::new(),
        };
        let at = line.timestamp.and_then(time);
        Ok(said.into_iter().map(|what| Entry { at, agent: None, what }).collect())
    })
}

/// Parses ISO 8601 or milliseconds.
fn time(timestamp: &RawValue) -> Option<Timestamp> {
    match serde_json::from_str::<i64>(timestamp.get()) {
        Ok(millis) => Some(Timestamp::from_millis(millis)),
        Err(_) => wire::time(Some(timestamp.get().trim_matches('"'))),
    }
}

fn of(message: &Message<'_>, id: &str) -> Vec<EntryKind> {
    let content = || message.content.map(wire::text_of).unwrap_or_default();
    match &*message.role {
        "user" => {
            let typed = message.content.and_then(|content| typed_in(Client::Pi, content));
            typed.and_then(|typed| EntryKind::prompt(&typed)).into_iter().collect()
        }
        "assistant" => {
            let blocks = message.content.map(wire::blocks).unwrap_or_default();
            let said = |block| wire::agent_said(block, "toolCall", action);
            blocks.iter().filter_map(said).collect()
        }
        "toolResult" => {
            let outcome = message
                .tool_call_id
                .as_deref()
                .map(|call| outcome(call, &content(), message.is_error));
            outcome.map(EntryKind::Outcome).into_iter().collect()
        }
        "bashExecution" => by_hand(message, id),
        _ => Vec::new(),
    }
}

pub(super) fn action(tool: &str, input: &RawValue) -> Action {
    let field = |name| wire::field(input, name);
    let known = match tool {
        "bash" => field("command").map(Action::shell),
        "edit" => field("path").map(|path| Action::Edit(vec![path])),
        "write" => field("path").map(Action::Write),
        "read" => field("path").map(Action::Read),
        _ => None,
    };
    known.unwrap_or(Action::Other)
}

/// A command that a person ran, and its outcome.
fn by_hand(message: &Message<'_>, id: &str) -> Vec<EntryKind> {
    let Some(command) = message.command.as_deref() else { return Vec::new() };
    let call = Call::new(id, "bash", Action::shell(command), command.as_bytes());
    let ended = match message.exit_code {
        _ if message.cancelled => Ended::Interrupted,
        Some(0) | None => Ended::Succeeded,
        exit => Ended::Failed { exit },
    };
    let outcome = Outcome::new(id, ended, message.output.as_deref().unwrap_or(""));
    vec![EntryKind::Call(call), EntryKind::Outcome(outcome)]
}

const EXITED: &str = "Command exited with code ";

/// Parses the outcome of a call. The exit code is in the last matching line of the text; an
/// extension may have added more below.
pub(super) fn outcome(call: &str, text: &str, is_error: bool) -> Outcome {
    let last = |mark: &str| text.rmatch_indices(mark).map(|(at, _)| at).next();
    let stopped = last("\n\nCommand aborted").is_some() || text.trim() == "Command aborted";
    if is_error && (stopped || text.trim() == "Operation aborted") {
        return Outcome::new(call, Ended::Interrupted, text);
    }
    if !is_error {
        return Outcome::new(call, Ended::Succeeded, text);
    }
    let Some(at) = last(EXITED) else {
        return Outcome::new(call, Ended::Failed { exit: None }, text);
    };
    let code = text[at + EXITED.len()..].lines().next().and_then(|code| code.trim().parse().ok());
    Outcome::new(call, Ended::Failed { exit: code }, &text[..at])
}
