//! Parses lines of a Codex rollout: `{timestamp, type, payload}`. The agent's messages and calls
//! are in `response_item`, the user's prompts in `event_msg`: user messages among the items also
//! hold instructions and the environment.

use std::borrow::Cow;

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{
    EntryKind, PlanChange, TaskNotification, ToolAction, ToolCall, TranscriptEntry,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcome;
use crate::hooks::typed::typed_text;
use crate::hooks::wire::{self, BorrowedText};

#[derive(Deserialize)]
struct RolloutLine<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    payload: Option<&'a RawValue>,
}

/// An item or event. `kind` decides which fields are present.
#[derive(Deserialize)]
struct RolloutPayload<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    /// Prompt that a person typed.
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    /// Arguments of a function call: JSON in a string.
    #[serde(borrow, default)]
    arguments: Option<Cow<'a, str>>,
    /// Input of a tool that takes text.
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    action: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output: Option<&'a RawValue>,
    #[serde(borrow, default)]
    agent_thread_id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "kind")]
    activity: Option<&'a RawValue>,
}

/// Parses a line into entries.
pub fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
    wire::parse_line(line, |text| {
        let line: RolloutLine<'_> = serde_json::from_str(text)?;
        let what = line_entry(&line)?;
        let at = wire::parse_time(line.timestamp.as_deref());
        Ok(what.map(|what| TranscriptEntry { at, agent: None, what }).into_iter().collect())
    })
}

fn line_entry(line: &RolloutLine<'_>) -> serde_json::Result<Option<EntryKind>> {
    let payload = || -> serde_json::Result<Option<RolloutPayload<'_>>> {
        line.payload.map(|payload| serde_json::from_str(payload.get())).transpose()
    };
    Ok(match &*line.kind {
        "response_item" => payload()?.and_then(|payload| item(&payload)),
        "event_msg" => payload()?.and_then(|payload| event(&payload)),
        "compacted" => Some(EntryKind::Compaction),
        _ => None,
    })
}

fn event(payload: &RolloutPayload<'_>) -> Option<EntryKind> {
    match &*payload.kind {
        "user_message" => {
            let BorrowedText(text) = serde_json::from_str(payload.message?.get()).ok()?;
            EntryKind::prompt(&typed_text(HookClient::Codex, &text)?)
        }
        "turn_aborted" => Some(EntryKind::Interruption),
        "sub_agent_activity" => {
            let BorrowedText(status) = serde_json::from_str(payload.activity?.get()).ok()?;
            let id = payload.agent_thread_id.as_deref()?;
            Some(EntryKind::Notification(TaskNotification::new(id, &status, "")))
        }
        _ => None,
    }
}

fn item(payload: &RolloutPayload<'_>) -> Option<EntryKind> {
    match &*payload.kind {
        "message" if payload.role.as_deref() == Some("assistant") => {
            EntryKind::words(&wire::text_of(payload.content?))
        }
        "function_call" => {
            let (name, arguments) = (payload.name.as_deref()?, payload.arguments.as_deref()?);
            call_entry(payload, name, function(name, arguments), arguments)
        }
        "custom_tool_call" => {
            let BorrowedText(input) = serde_json::from_str(payload.input?.get()).ok()?;
            let name = payload.name.as_deref()?;
            let action = if name == "apply_patch" { patch(&input) } else { ToolAction::Other };
            call_entry(payload, name, action, &input)
        }
        "local_shell_call" => {
            let action: FunctionArguments = serde_json::from_str(payload.action?.get()).ok()?;
            call_entry(
                payload,
                "local_shell",
                ToolAction::shell(action.line()?),
                payload.action?.get(),
            )
        }
        "function_call_output" | "custom_tool_call_output" => {
            Some(outcome::parse_outcome(payload.call_id.as_deref()?, payload.output?))
        }
        _ => None,
    }
}

fn call_entry(
    payload: &RolloutPayload<'_>,
    tool: &str,
    action: ToolAction,
    input: &str,
) -> Option<EntryKind> {
    let id = payload.call_id.as_deref()?;
    Some(EntryKind::Call(ToolCall::new(id, tool, action, input.as_bytes())))
}

/// Arguments that tell what a function does.
#[derive(Deserialize, Default)]
struct FunctionArguments {
    #[serde(default, alias = "cmd")]
    command: serde_json::Value,
    #[serde(default, alias = "file_path")]
    path: Option<String>,
    #[serde(default)]
    input: Option<String>,
    #[serde(default)]
    plan: Vec<PlanStep>,
}

/// One line of a plan.
#[derive(Deserialize)]
struct PlanStep {
    step: String,
    #[serde(default)]
    status: String,
}

impl FunctionArguments {
    fn plan(self) -> ToolAction {
        let tasks = self.plan.into_iter().map(|it| (it.step, it.status == "completed"));
        ToolAction::Plan(PlanChange::Whole(tasks.collect()))
    }

    /// Shell line; an older form has a list of arguments.
    fn line(&self) -> Option<String> {
        match &self.command {
            serde_json::Value::String(line) => Some(line.clone()),
            serde_json::Value::Array(words) => {
                let words: Option<Vec<&str>> =
                    words.iter().map(serde_json::Value::as_str).collect();
                join_words(&words?)
            }
            _ => None,
        }
    }
}

/// Returns LINE of `bash -lc LINE`; other words are joined as one would type them.
fn join_words(words: &[&str]) -> Option<String> {
    if let [program, "-lc" | "-c", line] = words
        && is_shell(program)
    {
        return Some((*line).to_owned());
    }
    let plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "-_./=:,@%+".contains(c))
    };
    let quoted = words.iter().map(|word| {
        if plain(word) { (*word).to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
    });
    (!words.is_empty()).then(|| quoted.collect::<Vec<_>>().join(" "))
}

/// True for a shell, by file name: `publish` is none.
fn is_shell(program: &str) -> bool {
    let name = program.rsplit('/').next();
    name.is_some_and(|name| ["bash", "sh", "zsh"].contains(&name))
}

fn function(name: &str, arguments: &str) -> ToolAction {
    let given: FunctionArguments = serde_json::from_str(arguments).unwrap_or_default();
    let known = match name {
        "shell" | "shell_command" | "exec_command" | "container.exec" | "local_shell" => {
            given.line().map(ToolAction::shell)
        }
        "apply_patch" => given.input.as_deref().map(patch),
        "read_file" | "view_image" => given.path.map(ToolAction::Read),
        "spawn_agent" => Some(ToolAction::Agent),
        "write_stdin" | "wait" | "wait_agent" => Some(ToolAction::Wait),
        "update_plan" => Some(given.plan()),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// Files that a patch touches.
pub(super) fn patch(text: &str) -> ToolAction {
    const MARKS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let path =
        |line: &str| MARKS.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
    ToolAction::Edit(text.lines().filter_map(path).collect())
}
