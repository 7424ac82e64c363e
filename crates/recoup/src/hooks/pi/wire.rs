//! Parses the payloads of our Pi extension: Pi's own event, and the fields that it lacks.
//!
//! ```text
//! {"event": {"type": …}, "session": ID, "file": PATH, "parent": PATH, "cwd": PATH, "ui": BOOL}
//! ```

use std::path::PathBuf;

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{CallOutcome, CallStatus, ToolCall, bound_name};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::{parse_outcome, tool_action};
use crate::hooks::event::{
    AnswerEnd, HookEvent, HookEventKind, SessionStartKind, UserPrompt, WireFormat,
};
use crate::hooks::typed::typed_text;
use crate::hooks::wire::{self, lenient};

/// Payload on a hook's stdin.
#[derive(Debug, Deserialize)]
pub(in crate::hooks) struct PiPayload<'a> {
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
struct PiEvent<'a> {
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
    structured_content: Option<StructuredContent>,
    #[serde(default, deserialize_with = "lenient")]
    is_error: Option<bool>,
}

#[derive(Deserialize)]
struct StructuredContent {
    #[serde(default, deserialize_with = "lenient")]
    output: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    exit_code: Option<i32>,
}

/// Parses a payload; none for events that do not concern us.
pub(in crate::hooks) fn parse_event(payload: &PiPayload<'_>) -> Option<HookEvent> {
    let inner: PiEvent<'_> = serde_json::from_str(payload.event?.get()).ok()?;
    let name = inner.kind.clone()?;
    let what = event_kind(&name, inner)?;
    let file = payload.file.clone().filter(|file| file.is_absolute());
    Some(HookEvent {
        client: HookClient::Pi,
        name,
        session: bound_name(payload.session.as_deref().unwrap_or("unknown")),
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

fn event_kind(name: &str, inner: PiEvent<'_>) -> Option<HookEventKind> {
    Some(match name {
        "session_start" => HookEventKind::Opened(match inner.reason.as_deref() {
            Some("startup" | "new") => SessionStartKind::Startup,
            Some("fork") => SessionStartKind::Fork,
            _ => SessionStartKind::Resume,
        }),
        // Input from another extension is not the user's.
        "input" if inner.source.as_deref() != Some("extension") => {
            HookEventKind::Prompt(UserPrompt {
                text: typed_text(HookClient::Pi, &inner.text?)?,
                turn: None,
            })
        }
        "before_agent_start" => HookEventKind::Starting(inner.prompt.unwrap_or_default()),
        "tool_result" => called(&inner)?,
        "session_before_compact" => HookEventKind::Compacting,
        "session_compact" => HookEventKind::Compacted,
        "agent_end" => {
            HookEventKind::Stopped(AnswerEnd { answer: inner.answer, ..AnswerEnd::default() })
        }
        "session_shutdown" => HookEventKind::Ended(inner.reason.unwrap_or_default()),
        _ => return None,
    })
}

/// Parses a tool's result. The exit code is in its structured content, else in its text.
fn called(inner: &PiEvent<'_>) -> Option<HookEventKind> {
    let (tool, input) = (inner.tool_name.as_deref()?, inner.input?);
    let id = inner.tool_call_id.clone().unwrap_or_else(|| wire::text_digest(input.get()));
    let call = ToolCall::new(&id, tool, tool_action(tool, input), input.get().as_bytes());
    let text = inner.content.map(wire::text_of).unwrap_or_default();
    let outcome = parse_outcome(&id, &text, inner.is_error == Some(true));
    let said = inner.structured_content.as_ref();
    let exit = said.and_then(|said| said.exit_code);
    let outcome = match (outcome.ended, exit) {
        (CallStatus::Failed { .. }, Some(exit)) => {
            let output = said.and_then(|said| said.output.as_deref()).unwrap_or(&outcome.output);
            CallOutcome::new(&id, CallStatus::Failed { exit: Some(exit) }, output)
        }
        _ => outcome,
    };
    Some(HookEventKind::Called(call, outcome))
}
