//! Claude Code's hooks: parses their payloads. Any field but the event's name may be missing, or
//! have another type in the next version: then only what depends on it is skipped.

use std::path::PathBuf;

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, ToolAction, ToolCall, bound_name,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::event::{AnswerEnd, HookEvent, HookEventKind, SessionStartKind, UserPrompt, WireFormat};
use crate::config::env;
use crate::exec::agent_command::ReportedOutput;
use crate::transcripts::claude_code::{
    DENIED, NOTIFICATION, REFUSED, exit_code, parse_notification, tool_action,
};
use crate::transcripts::wire::{self, LenientField, tag_content, typed_text};

/// Payload on a hook's stdin.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClaudePayload<'a> {
    pub(super) hook_event_name: LenientField<String>,
    pub(super) session_id: LenientField<String>,
    pub(super) transcript_path: LenientField<PathBuf>,
    pub(super) cwd: LenientField<PathBuf>,
    prompt_id: LenientField<String>,
    /// Only Codex has turns.
    pub(super) turn_id: LenientField<String>,
    agent_id: LenientField<String>,
    agent_type: LenientField<String>,
    pub(super) agent_transcript_path: LenientField<PathBuf>,
    source: LenientField<String>,
    reason: LenientField<String>,
    prompt: LenientField<String>,
    pub(super) tool_name: LenientField<String>,
    #[serde(borrow)]
    pub(super) tool_input: Option<&'a RawValue>,
    pub(super) tool_use_id: LenientField<String>,
    #[serde(borrow)]
    pub(super) tool_response: Option<&'a RawValue>,
    permission_mode: LenientField<String>,
    duration_ms: LenientField<u64>,
    error: LenientField<String>,
    is_interrupt: LenientField<bool>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
    last_assistant_message: LenientField<String>,
}

impl ClaudePayload<'_> {
    /// Call that the payload is about.
    pub(super) fn call(&self, action: fn(&str, &RawValue) -> ToolAction) -> Option<ToolCall> {
        let (tool, input) = (self.tool_name.as_deref()?, self.tool_input?);
        Some(wire::tool_call(self.tool_use_id.as_deref(), tool, input, action))
    }

    /// Builds the event with the common fields.
    pub(super) fn build_event(
        &self,
        client: HookClient,
        name: String,
        what: HookEventKind,
    ) -> HookEvent {
        let path = self.transcript_path.as_deref();
        let stem = || Some(path?.file_stem()?.to_string_lossy().into_owned());
        let session = self.session_id.clone().filter(|id| !id.is_empty()).or_else(stem);
        HookEvent {
            client,
            name,
            session: bound_name(session.as_deref().unwrap_or("unknown")),
            agent: self.agent_id.as_deref().filter(|id| !id.is_empty()).map(bound_name),
            cwd: self.cwd.clone().unwrap_or_default(),
            transcript: path.filter(|path| path.is_absolute()).map(Into::into),
            parent: None,
            format: WireFormat::Native,
            person: None,
            heard: true,
            tool_input: self.tool_input.map(|input| input.get().into()),
            permission_mode: self.permission_mode.clone(),
            output: None,
            what,
        }
    }
}

/// One call of a batch.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BatchedCall<'a> {
    #[serde(rename = "tool_name")]
    tool: LenientField<String>,
    #[serde(borrow, rename = "tool_input")]
    input: Option<&'a RawValue>,
    #[serde(rename = "tool_use_id")]
    id: LenientField<String>,
    #[serde(borrow, rename = "tool_response")]
    response: Option<&'a RawValue>,
}

/// Parses a payload; none for events that do not concern us.
pub(super) fn parse_event(payload: &ClaudePayload<'_>) -> Option<HookEvent> {
    let name = payload.hook_event_name.clone()?;
    let mut output = None;
    let what = match name.as_str() {
        "PostToolUse" => {
            let call = payload.call(tool_action)?;
            let read = |response: &RawValue| serde_json::from_str(response.get()).ok();
            let response: ToolResponse = payload.tool_response.and_then(read).unwrap_or_default();
            output = response.output(*payload.duration_ms);
            let runs_on = response.status.as_deref() == Some("async_launched");
            if response.background_task_id.is_some() || runs_on {
                return None;
            }
            let interrupted = *response.interrupted == Some(true);
            let ended = if interrupted { CallStatus::Interrupted } else { CallStatus::Succeeded };
            let parts =
                [response.stdout.0.unwrap_or_default(), response.stderr.0.unwrap_or_default()];
            let outcome = CallOutcome::new(&call.id, ended, &parts.join("\n"));
            HookEventKind::Called(call, outcome)
        }
        "PostToolUseFailure" => {
            output = failed_output(payload);
            failed(payload)?
        }
        _ => parse_common_event(HookClient::ClaudeCode, &name, payload)?,
    };
    let event = payload.build_event(HookClient::ClaudeCode, name, what);
    Some(HookEvent { output, ..event })
}

/// Parses events that all clients with this layout have in common.
pub(super) fn parse_common_event(
    client: HookClient,
    name: &str,
    payload: &ClaudePayload<'_>,
) -> Option<HookEventKind> {
    Some(match name {
        "SessionStart" => {
            HookEventKind::Began(SessionStartKind::of_source(payload.source.as_deref()))
        }
        "UserPromptSubmit" => prompt(client, payload)?,
        "PreToolUse" => HookEventKind::Calling(payload.call(tool_action)?),
        "PostToolUseFailure" => failed(payload)?,
        "PostToolBatch" => HookEventKind::Batch(refused_calls(payload.tool_calls?)),
        "SubagentStart" => HookEventKind::AgentBegan,
        "SubagentStop" => HookEventKind::AgentDone {
            // At each compaction an agent without a type ends that nobody started.
            sort: payload.agent_type.clone().filter(|sort| !sort.is_empty())?,
            answer: payload.last_assistant_message.clone(),
            transcript: payload.agent_transcript_path.clone().filter(|path| path.is_absolute()),
        },
        "PreCompact" => HookEventKind::Compacting,
        "Stop" | "StopFailure" => HookEventKind::Stopped(AnswerEnd {
            answer: payload.last_assistant_message.clone().filter(|_| name == "Stop"),
            turn: payload.turn_id.clone(),
            prompts: Vec::new(),
            failed: payload.error.clone().filter(|_| name == "StopFailure"),
        }),
        "SessionEnd" => HookEventKind::Ended(payload.reason.clone().unwrap_or_default()),
        _ => return None,
    })
}

/// Parses a prompt. Text that the client wrote in the user's role is never one.
fn prompt(client: HookClient, payload: &ClaudePayload<'_>) -> Option<HookEventKind> {
    let text = payload.prompt.clone()?;
    if text.trim_start().starts_with(NOTIFICATION) {
        return parse_notification(&text).map(HookEventKind::Task);
    }
    // A sub-agent's prompt comes from an agent.
    if payload.agent_id.is_some() {
        return None;
    }
    let text = typed_text(client, &text)?;
    let turn = payload.turn_id.clone().or_else(|| payload.prompt_id.clone());
    Some(HookEventKind::Prompt(UserPrompt { text, turn }))
}

/// Response of a tool. A call that runs on in the background has not ended.
#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct ToolResponse {
    stdout: LenientField<String>,
    stderr: LenientField<String>,
    interrupted: LenientField<bool>,
    is_image: LenientField<bool>,
    persisted_output_path: LenientField<String>,
    return_code_interpretation: LenientField<String>,
    bash_edit_diff: Option<IgnoredAny>,
    background_task_id: LenientField<String>,
    status: LenientField<String>,
}

impl ToolResponse {
    /// Output of a shell command, if it ended by itself and nothing of it was cut off.
    fn output(&self, millis: Option<u64>) -> Option<ReportedOutput> {
        let (stdout, stderr) = (self.stdout.clone()?, self.stderr.clone().unwrap_or_default());
        let limit = env::claude_code_output_limit().unwrap_or(MAX_OUTPUT_BYTES);
        let is_whole = *self.interrupted != Some(true)
            && stdout.len() <= limit
            && self.background_task_id.is_none()
            && *self.is_image != Some(true)
            && self.persisted_output_path.is_none()
            // The exit code is not told.
            && self.return_code_interpretation.is_none()
            && !stderr.contains(MOVED_BACK);
        let changes_files = self.bash_edit_diff.is_some();
        is_whole.then_some(ReportedOutput { stdout, stderr, exit: 0, millis, changes_files })
    }
}

/// The client's own words behind the output of a command that left the directories that it may use.
const MOVED_BACK: &str = "Shell cwd was reset to";
/// Output from which the client cuts, in some versions without a sign.
const MAX_OUTPUT_BYTES: usize = 30_000;
/// Output of a failed command from which the client cuts, in some cases without a sign.
const MAX_FAILED_BYTES: usize = 10_000;

/// Output of a shell command that failed: the client reports both streams as one.
fn failed_output(payload: &ClaudePayload<'_>) -> Option<ReportedOutput> {
    let error = payload.error.as_deref()?;
    let exit = exit_code(error).filter(|_| *payload.is_interrupt != Some(true))?;
    let output = error.split_once('\n').map_or("", |(_, rest)| rest);
    let limit = env::claude_code_output_limit().unwrap_or(MAX_FAILED_BYTES).min(MAX_FAILED_BYTES);
    let is_whole = output.len() < limit && !output.contains(MOVED_BACK);
    is_whole.then(|| ReportedOutput {
        stdout: output.to_owned(),
        exit,
        millis: *payload.duration_ms,
        ..ReportedOutput::default()
    })
}

fn failed(payload: &ClaudePayload<'_>) -> Option<HookEventKind> {
    let call = payload.call(tool_action)?;
    let error = payload.error.as_deref().unwrap_or_default();
    // Only the transcript tells whether a person or a tool wrote this.
    if error.starts_with(DENIED) {
        return None;
    }
    let ended = match exit_code(error) {
        _ if *payload.is_interrupt == Some(true) => CallStatus::Interrupted,
        exit => CallStatus::Failed { exit },
    };
    let output = match ended {
        CallStatus::Failed { exit: Some(_) } => error.split_once('\n').map_or("", |(_, rest)| rest),
        _ => error,
    };
    let outcome = CallOutcome::new(&call.id, ended, output);
    Some(HookEventKind::Called(call, outcome))
}

/// Calls of a batch that look refused. Whether one ran, and printed that itself, is known from its
/// own events. Denials by a person are not believed here: the payload has none of the client's own
/// data beside the text.
fn refused_calls(calls: &RawValue) -> Vec<(ToolCall, CallOutcome)> {
    let calls: Vec<&RawValue> = serde_json::from_str(calls.get()).unwrap_or_default();
    let read = |call: &RawValue| {
        let batched: BatchedCall<'_> = serde_json::from_str(call.get()).ok()?;
        let text = wire::text_of(batched.response?);
        let why = tag_content(&text, "tool_use_error").filter(|_| text.starts_with(REFUSED))?;
        let id = batched.id.as_deref();
        let call = wire::tool_call(id, batched.tool.as_deref()?, batched.input?, tool_action);
        let outcome = CallOutcome::new(&call.id, CallStatus::Refused, why);
        Some((call, outcome))
    };
    calls.into_iter().filter_map(read).collect()
}
