//! Pi: the payloads of our extension. A payload is Pi's own event, and the fields that it lacks.

use std::path::PathBuf;
use std::time::Duration;

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{CallOutcome, CallStatus, bound_name};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{AnswerEnd, HookEvent, HookEventKind, SessionStartKind, UserPrompt, WireFormat};
use crate::exec::agent_command::ReportedOutput;
use crate::transcripts::pi::{parse_outcome, tool_action};
use crate::transcripts::wire::{self, LenientField, typed_text};

/// Payload on a hook's stdin.
///
/// ```text
/// {"event": {"type": …}, "session": ID, "file": PATH, "parent": PATH, "cwd": PATH, "ui": BOOL}
/// ```
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PiPayload<'a> {
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    session: LenientField<String>,
    file: LenientField<PathBuf>,
    parent: LenientField<PathBuf>,
    cwd: LenientField<PathBuf>,
    ui: LenientField<bool>,
}

/// One of Pi's events. `kind` decides which fields are present.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct PiEvent<'a> {
    #[serde(rename = "type")]
    kind: LenientField<String>,
    reason: LenientField<String>,
    text: LenientField<String>,
    source: LenientField<String>,
    prompt: LenientField<String>,
    answer: LenientField<String>,
    tool_name: LenientField<String>,
    tool_call_id: LenientField<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    structured_content: LenientField<StructuredContent>,
    is_error: LenientField<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct StructuredContent {
    output: LenientField<String>,
    exit_code: LenientField<i32>,
    wall_time_seconds: LenientField<f64>,
}

impl StructuredContent {
    /// Output of a shell command that ended by itself: all of it, also where Pi shortens its text.
    fn reported_output(&self) -> Option<ReportedOutput> {
        let took = self.wall_time_seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
        Some(ReportedOutput {
            stdout: self.output.clone()?,
            exit: (*self.exit_code)?,
            millis: took.and_then(|it| u64::try_from(it.as_millis()).ok()),
            ..ReportedOutput::default()
        })
    }
}

/// Parses a payload; none for events that do not concern us.
pub(super) fn parse_event(payload: &PiPayload<'_>) -> Option<HookEvent> {
    let inner: PiEvent<'_> = serde_json::from_str(payload.event?.get()).ok()?;
    let name = inner.kind.clone()?;
    let tool_input = inner.input.map(|input| input.get().into());
    let output = inner.structured_content.as_ref().and_then(StructuredContent::reported_output);
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
        person: *payload.ui,
        heard: true,
        tool_input,
        permission_mode: None,
        output,
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
                text: typed_text(HookClient::Pi, inner.text.as_deref()?)?,
                turn: None,
            })
        }
        "before_agent_start" => HookEventKind::Starting(inner.prompt.0.unwrap_or_default()),
        "tool_call" => {
            let (tool, input) = (inner.tool_name.as_deref()?, inner.input?);
            let id = inner.tool_call_id.as_deref();
            HookEventKind::Calling(wire::tool_call(id, tool, input, tool_action))
        }
        "tool_result" => {
            let (tool, input) = (inner.tool_name.as_deref()?, inner.input?);
            let call = wire::tool_call(inner.tool_call_id.as_deref(), tool, input, tool_action);
            let text = inner.content.map(wire::text_of).unwrap_or_default();
            let mut outcome = parse_outcome(&call.id, &text, *inner.is_error == Some(true));
            // The exit code is in its structured content, else in its text.
            if let CallStatus::Failed { .. } = outcome.ended
                && let Some(said) = &*inner.structured_content
                && let Some(exit) = *said.exit_code
            {
                let output = said.output.as_deref().unwrap_or(&outcome.output);
                outcome =
                    CallOutcome::new(&call.id, CallStatus::Failed { exit: Some(exit) }, output);
            }
            HookEventKind::Called(call, outcome)
        }
        "session_before_compact" => HookEventKind::Compacting,
        "session_compact" => HookEventKind::Compacted,
        "agent_end" => {
            HookEventKind::Stopped(AnswerEnd { answer: inner.answer.0, ..AnswerEnd::default() })
        }
        "session_shutdown" => HookEventKind::Ended(inner.reason.0.unwrap_or_default()),
        _ => return None,
    })
}
