//! Parses the payloads of our Pi extension: Pi's own event, and the fields that it lacks.
//!
//! ```text
//! {"event": {"type": …}, "session": ID, "file": PATH, "parent": PATH, "cwd": PATH, "ui": BOOL}
//! ```

use std::path::PathBuf;

use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Call, Ended, Outcome, named};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::{action, outcome};
use crate::hooks::event::{Event, EventKind, How, Prompt, Stop, WireFormat};
use crate::hooks::typed::typed;
use crate::hooks::wire::{self, lenient};

/// Payload on a hook's stdin.
#[derive(Debug, Deserialize)]
pub(in crate::hooks) struct Payload<'a> {
    #[serde(borrow, default)]
    pub(in crate::hooks) event: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    session: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    file: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    parent: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    cwd: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    ui: Option<bool>,
}

/// One of Pi's events. `kind` decides which fields are present.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Inner<'a> {
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    kind: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    text: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    source: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    prompt: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    answer: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    tool_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    tool_call_id: Option<String>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    structured_content: Option<Structured>,
    #[serde(default, deserialize_with = "lenient")]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct Structured {
    #[serde(default, deserialize_with = "lenient")]
    output: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    exit_code: Option<i32>,
}

/// Parses a payload; none for events that do not concern us.
pub(in crate::hooks) fn event(payload: &Payload<'_>) -> Option<Event> {
    let inner: Inner<'_> = serde_json::from_str(payload.event?.get()).ok()?;
    let name = inner.kind.clone()?;
    let what = what(&name, inner)?;
    let file = payload.file.clone().filter(|file| file.is_absolute());
    Some(Event {
        client: Client::Pi,
        name,
        session: named(payload.session.as_deref().unwrap_or("unknown")),
        agent: None,
        cwd: payload.cwd.clone().unwrap_or_default(),
        transcript: file,
        parent: payload.parent.clone().filter(|parent| parent.is_absolute()),
        format: WireFormat::Native,
        person: payload.ui,
        heard: true,
        what,
    })
}

fn what(name: &str, inner: Inner<'_>) -> Option<EventKind> {
    Some(match name {
        "session_start" => EventKind::Opened(match inner.reason.as_deref() {
            Some("startup" | "new") => How::Startup,
            Some("fork") => How::Fork,
            _ => How::Resume,
        }),
        // Input from another extension is not the user's.
        "input" if inner.source.as_deref() != Some("extension") => {
            EventKind::Prompt(Prompt { text: typed(Client::Pi, &inner.text?)?, turn: None })
        }
        "before_agent_start" => EventKind::Starting(inner.prompt.unwrap_or_default()),
        "tool_result" => called(&inner)?,
        "session_before_compact" => EventKind::Compacting,
        "session_compact" => EventKind::Compacted,
        "agent_end" => EventKind::Stopped(Stop { answer: inner.answer, ..Stop::default() }),
        "session_shutdown" => EventKind::Ended(inner.reason.unwrap_or_default()),
        _ => return None,
    })
}

/// Parses a tool's result. The exit code is in its structured content, else in its text.
fn called(inner: &Inner<'_>) -> Option<EventKind> {
    let (tool, input) = (inner.tool_name.as_deref()?, inner.input?);
    let id = inner.tool_call_id.clone().unwrap_or_else(|| wire::print(input.get()));
    let call = Call::new(&id, tool, action(tool, input), input.get().as_bytes());
    let text = inner.content.map(wire::text_of).unwrap_or_default();
    let outcome = outcome(&id, &text, inner.is_error == Some(true));
    let said = inner.structured_content.as_ref();
    let exit = said.and_then(|said| said.exit_code);
    let outcome = match (outcome.ended, exit) {
        (Ended::Failed { .. }, Some(exit)) => {
            let output = said.and_then(|said| said.output.as_deref()).unwrap_or(&outcome.output);
            Outcome::new(&id, Ended::Failed { exit: Some(exit) }, output)
        }
        _ => outcome,
    };
    Some(EventKind::Called(call, outcome))
}
