//! Cursor runs the hooks in Claude Code's settings, with its own payloads and answers: events and
//! tools have their own names, the directory may be empty beside a list of workspace roots, and
//! results are JSON in a string.
//!
//! ```text
//! {"hook_event_name": "postToolUse", "conversation_id": ID, "generation_id": ID,
//!  "cursor_version": …, "workspace_roots": [PATH], "cwd": "", "tool_name": "Shell", …}
//! ```

use std::path::PathBuf;

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, ToolAction, ToolCall, bound_name,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::event::{AnswerEnd, HookEvent, HookEventKind, SessionStartKind, UserPrompt, WireFormat};
use crate::clients::{AnswerLayout, AnswerSpec, DecisionSupport};
use crate::transcripts::wire::{self, LenientField, typed_text};

/// Answers that Cursor reads.
pub(super) static ANSWER: AnswerSpec = AnswerSpec {
    layout: AnswerLayout::Cursor,
    context_events: &["sessionStart", "beforeSubmitPrompt", "postToolUse", "postToolUseFailure"],
    decisions: DecisionSupport::RefusalOrQuestion,
    changes_calls: false,
};

/// Payload on a hook's stdin. The event decides which fields are present.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CursorPayload<'a> {
    hook_event_name: LenientField<String>,
    conversation_id: LenientField<String>,
    session_id: LenientField<String>,
    /// Id of the turn.
    generation_id: LenientField<String>,
    cwd: LenientField<PathBuf>,
    workspace_roots: LenientField<Vec<PathBuf>>,
    is_background_agent: LenientField<bool>,
    prompt: LenientField<String>,
    tool_name: LenientField<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    tool_use_id: LenientField<String>,
    tool_output: LenientField<String>,
    error_message: LenientField<String>,
    failure_type: LenientField<String>,
    is_interrupt: LenientField<bool>,
    status: LenientField<String>,
    reason: LenientField<String>,
}

/// The output of a tool.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct CursorToolOutput {
    output: LenientField<String>,
    exit_code: LenientField<i32>,
}

/// Parses a payload; none for events that do not concern us, or whose project is unknown.
pub(super) fn parse_event(payload: &CursorPayload<'_>) -> Option<HookEvent> {
    let name = payload.hook_event_name.clone()?;
    let what = match name.as_str() {
        // A conversation is reported once, when it is new.
        "sessionStart" => HookEventKind::Began(SessionStartKind::Startup),
        "beforeSubmitPrompt" => HookEventKind::Prompt(UserPrompt {
            text: typed_text(HookClient::ClaudeCode, payload.prompt.as_deref()?)?,
            turn: payload.generation_id.clone(),
        }),
        // Context can't reach the agent before a call, only with the result.
        "preToolUse" => HookEventKind::Calling(payload.call()?),
        "postToolUse" => called(payload)?,
        "postToolUseFailure" => failed(payload)?,
        // No event follows a compaction.
        "preCompact" => HookEventKind::Compacted,
        "stop" => HookEventKind::Stopped(AnswerEnd {
            turn: payload.generation_id.clone(),
            failed: payload.status.clone().filter(|status| status == "error"),
            ..AnswerEnd::default()
        }),
        "sessionEnd" => HookEventKind::Ended(payload.reason.clone().unwrap_or_default()),
        _ => return None,
    };
    let session = payload.conversation_id.iter().chain(payload.session_id.iter());
    let session = session.map(String::as_str).find(|id| !id.is_empty());
    let roots = payload.workspace_roots.iter().flatten();
    let cwd = payload.cwd.iter().chain(roots).find(|dir| dir.is_absolute())?.clone();
    Some(HookEvent {
        client: HookClient::ClaudeCode,
        name,
        session: bound_name(session.unwrap_or("unknown")),
        agent: None,
        cwd,
        // Cursor's transcripts have another layout.
        transcript: None,
        parent: None,
        format: WireFormat::Cursor,
        person: payload.is_background_agent.map(|is_alone| !is_alone),
        heard: true,
        tool_input: payload.tool_input.map(|input| input.get().into()),
        permission_mode: None,
        output: None,
        what,
    })
}

fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
    let path =
        || wire::string_field(input, "file_path").or_else(|| wire::string_field(input, "path"));
    let known = match tool {
        "Shell" => wire::string_field(input, "command").map(ToolAction::shell),
        "Edit" | "StrReplace" | "Delete" => path().map(|path| ToolAction::Edit(vec![path])),
        "Write" => path().map(ToolAction::Write),
        "Read" => path().map(ToolAction::Read),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

fn called(payload: &CursorPayload<'_>) -> Option<HookEventKind> {
    let call = payload.call()?;
    let text = payload.tool_output.as_deref().unwrap_or_default();
    let said: CursorToolOutput = serde_json::from_str(text).unwrap_or_default();
    let ended = wire::status_of_exit(*said.exit_code);
    let outcome = CallOutcome::new(&call.id, ended, said.output.as_deref().unwrap_or(text));
    Some(HookEventKind::Called(call, outcome))
}

/// Parses a failed call. One that was not permitted says nothing about itself.
fn failed(payload: &CursorPayload<'_>) -> Option<HookEventKind> {
    let call = payload.call()?;
    if payload.failure_type.as_deref() == Some("permission_denied") {
        return None;
    }
    let error = payload.error_message.as_deref().unwrap_or_default();
    let ended = if *payload.is_interrupt == Some(true) {
        CallStatus::Interrupted
    } else {
        let code = error.rsplit_once("exit code ").map_or("", |(_, code)| code);
        CallStatus::Failed {
            exit: code.split_whitespace().next().and_then(|code| code.parse().ok()),
        }
    };
    let outcome = CallOutcome::new(&call.id, ended, error);
    Some(HookEventKind::Called(call, outcome))
}

impl CursorPayload<'_> {
    /// Call that the payload is about.
    fn call(&self) -> Option<ToolCall> {
        let (tool, input) = (self.tool_name.as_deref()?, self.tool_input?);
        Some(wire::tool_call(self.tool_use_id.as_deref(), tool, input, tool_action))
    }
}
