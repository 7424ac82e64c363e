//! Parses the payloads of Claude Code's hooks. Any field but the event's name may be missing, or
//! have another type in the next version: then only what depends on it is skipped.

use std::path::PathBuf;

use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Action, Call, Ended, Outcome, named};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::entries::{self, action};
use super::outcome::{self, DENIED, REFUSED};
use crate::hooks::event::{Event, EventKind, How, Prompt, Stop, WireFormat};
use crate::hooks::typed::typed;
use crate::hooks::wire::{self, lenient, tagged};

/// Payload on a hook's stdin.
#[derive(Debug, Deserialize)]
pub(in crate::hooks) struct Payload<'a> {
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) hook_event_name: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) session_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) transcript_path: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) cwd: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    prompt_id: Option<String>,
    /// Only Codex has turns.
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) turn_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    agent_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    agent_type: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    agent_transcript_path: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    source: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    prompt: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) tool_name: Option<String>,
    #[serde(borrow, default)]
    pub(in crate::hooks) tool_input: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    pub(in crate::hooks) tool_use_id: Option<String>,
    #[serde(borrow, default)]
    pub(in crate::hooks) tool_response: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    error: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    is_interrupt: Option<bool>,
    #[serde(borrow, default)]
    tool_calls: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient")]
    last_assistant_message: Option<String>,
}

/// One call of a batch.
#[derive(Deserialize)]
struct Batched<'a> {
    #[serde(default, deserialize_with = "lenient", rename = "tool_name")]
    tool: Option<String>,
    #[serde(borrow, default, rename = "tool_input")]
    input: Option<&'a RawValue>,
    #[serde(default, deserialize_with = "lenient", rename = "tool_use_id")]
    id: Option<String>,
    #[serde(borrow, default, rename = "tool_response")]
    response: Option<&'a RawValue>,
}

/// Parses a payload; none for events that do not concern us.
pub(in crate::hooks) fn event(payload: &Payload<'_>) -> Option<Event> {
    let name = payload.hook_event_name.clone()?;
    let what = match name.as_str() {
        "PostToolUse" => called(payload)?,
        _ => common(Client::ClaudeCode, &name, payload)?,
    };
    Some(payload.event(Client::ClaudeCode, name, what))
}

/// Parses events that all clients with this layout have in common.
pub(in crate::hooks) fn common(
    client: Client,
    name: &str,
    payload: &Payload<'_>,
) -> Option<EventKind> {
    Some(match name {
        "SessionStart" => EventKind::Began(how(payload.source.as_deref())),
        "UserPromptSubmit" => prompt(client, payload)?,
        "PreToolUse" => EventKind::Calling(payload.call(action)?),
        "PostToolUseFailure" => failed(payload)?,
        "PostToolBatch" => EventKind::Batch(batch(payload.tool_calls?)),
        "SubagentStart" => EventKind::AgentBegan,
        "SubagentStop" => EventKind::AgentDone {
            // At each compaction an agent without a type ends that nobody started.
            sort: payload.agent_type.clone().filter(|sort| !sort.is_empty())?,
            answer: payload.last_assistant_message.clone(),
            transcript: payload.agent_transcript_path.clone().filter(|path| path.is_absolute()),
        },
        "PreCompact" => EventKind::Compacting,
        "Stop" | "StopFailure" => EventKind::Stopped(Stop {
            answer: payload.last_assistant_message.clone().filter(|_| name == "Stop"),
            turn: payload.turn_id.clone(),
            prompts: Vec::new(),
            failed: payload.error.clone().filter(|_| name == "StopFailure"),
        }),
        "SessionEnd" => EventKind::Ended(payload.reason.clone().unwrap_or_default()),
        _ => return None,
    })
}

/// Parses how a session began; if unknown, as resumed: then everything undelivered is new.
fn how(source: Option<&str>) -> How {
    match source {
        Some("startup") => How::Startup,
        Some("clear") => How::Clear,
        Some("compact") => How::Compact,
        Some("fork") => How::Fork,
        _ => How::Resume,
    }
}

/// Parses a prompt. Text that the client wrote in the user's role is never one.
fn prompt(client: Client, payload: &Payload<'_>) -> Option<EventKind> {
    let text = payload.prompt.clone()?;
    if text.trim_start().starts_with(entries::NOTIFICATION) {
        return entries::task(&text).map(EventKind::Task);
    }
    // A sub-agent's prompt comes from an agent.
    if payload.agent_id.is_some() {
        return None;
    }
    let text = typed(client, &text)?;
    let turn = payload.turn_id.clone().or_else(|| payload.prompt_id.clone());
    Some(EventKind::Prompt(Prompt { text, turn }))
}

/// Response of a tool. A call that runs on in the background has not ended.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase")]
struct Response {
    #[serde(default, deserialize_with = "lenient")]
    stdout: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    stderr: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    interrupted: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    background_task_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<String>,
}

fn called(payload: &Payload<'_>) -> Option<EventKind> {
    let call = payload.call(action)?;
    let read = |response: &RawValue| serde_json::from_str(response.get()).ok();
    let response: Response = payload.tool_response.and_then(read).unwrap_or_default();
    let runs_on = response.status.as_deref() == Some("async_launched");
    if response.background_task_id.is_some() || runs_on {
        return None;
    }
    let interrupted = response.interrupted == Some(true);
    let ended = if interrupted { Ended::Interrupted } else { Ended::Succeeded };
    let parts = [response.stdout.unwrap_or_default(), response.stderr.unwrap_or_default()];
    let outcome = Outcome::new(&call.id, ended, &parts.join("\n"));
    Some(EventKind::Called(call, outcome))
}

fn failed(payload: &Payload<'_>) -> Option<EventKind> {
    let call = payload.call(action)?;
    let error = payload.error.as_deref().unwrap_or_default();
    // Only the transcript tells whether a person or a tool wrote this.
    if error.starts_with(DENIED) {
        return None;
    }
    let ended = match outcome::exit_code(error) {
        _ if payload.is_interrupt == Some(true) => Ended::Interrupted,
        exit => Ended::Failed { exit },
    };
    let output = match ended {
        Ended::Failed { exit: Some(_) } => error.split_once('\n').map_or("", |(_, rest)| rest),
        _ => error,
    };
    let outcome = Outcome::new(&call.id, ended, output);
    Some(EventKind::Called(call, outcome))
}

/// Calls of a batch that look refused. Whether one ran, and printed that itself, is known from its
/// own events. Denials by a person are not believed here: the payload has none of the client's own
/// data beside the text.
fn batch(calls: &RawValue) -> Vec<(Call, Outcome)> {
    let calls: Vec<&RawValue> = serde_json::from_str(calls.get()).unwrap_or_default();
    let read = |call: &&RawValue| {
        let call = *call;
        let batched: Batched<'_> = serde_json::from_str(call.get()).ok()?;
        let text = wire::text_of(batched.response?);
        let why = tagged(&text, "tool_use_error").filter(|_| text.starts_with(REFUSED))?;
        let tool = batched.tool?;
        let input = batched.input?;
        let id = batched.id.unwrap_or_else(|| wire::print(input.get()));
        let outcome = Outcome::new(&id, Ended::Refused, why);
        Some((Call::new(&id, &tool, action(&tool, input), input.get().as_bytes()), outcome))
    };
    calls.iter().filter_map(read).collect()
}

impl Payload<'_> {
    /// Call that the payload is about. One without an id is identified by its input.
    pub(in crate::hooks) fn call(
        &self,
        action: impl Fn(&str, &RawValue) -> Action,
    ) -> Option<Call> {
        let (tool, input) = (self.tool_name.as_deref()?, self.tool_input?);
        let id = self.tool_use_id.clone().unwrap_or_else(|| wire::print(input.get()));
        Some(Call::new(&id, tool, action(tool, input), input.get().as_bytes()))
    }

    /// Builds the event with the common fields.
    pub(in crate::hooks) fn event(&self, client: Client, name: String, what: EventKind) -> Event {
        let path = self.transcript_path.as_deref();
        let stem = || Some(path?.file_stem()?.to_string_lossy().into_owned());
        let session = self.session_id.clone().filter(|id| !id.is_empty()).or_else(stem);
        Event {
            client,
            name,
            session: named(session.as_deref().unwrap_or("unknown")),
            agent: self.agent_id.as_deref().filter(|id| !id.is_empty()).map(named),
            cwd: self.cwd.clone().unwrap_or_default(),
            transcript: path.filter(|path| path.is_absolute()).map(Into::into),
            parent: None,
            format: WireFormat::Native,
            person: None,
            heard: true,
            what,
        }
    }
}
