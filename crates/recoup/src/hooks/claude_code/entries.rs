//! Entries of a transcript line: of a person, the agent or the client. Only what a person typed is
//! a prompt: the client writes much else as `user_entries`.

use std::borrow::Cow;

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{EntryKind, PlanChange, TaskNotification, ToolAction};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::outcome::{self, INTERRUPTED};
use super::transcript::ClaudeTranscriptLine;
use crate::hooks::typed::typed_message_text;
use crate::hooks::wire::{self, tag_content};

pub(super) const NOTIFICATION: &str = "<task-notification>";

#[derive(Deserialize)]
struct ClaudeMessage<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
}

fn message<'a>(line: &ClaudeTranscriptLine<'a>) -> Option<ClaudeMessage<'a>> {
    serde_json::from_str(line.message?.get()).ok()
}

/// Entries of a line in the user's role.
pub(super) fn user_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<EntryKind> {
    let Some(content) = message(line).and_then(|message| message.content) else {
        return Vec::new();
    };
    let blocks = wire::blocks(content);
    let outcomes: Vec<EntryKind> =
        blocks.iter().filter_map(|block| outcome::parse_outcome(block, line)).collect();
    // Text beside a tool's result was not typed.
    if !outcomes.is_empty() {
        return outcomes;
    }
    if line.is_meta || line.is_compact_summary {
        return Vec::new();
    }
    classify_user_message(content, line.origin, line.agent().is_some()).into_iter().collect()
}

/// Classifies a message in the user's role: a notification, an interruption or a prompt.
fn classify_user_message(
    content: &RawValue,
    origin: Option<&RawValue>,
    in_sub_agent: bool,
) -> Option<EntryKind> {
    let text = wire::text_of(content);
    let text = text.trim();
    if text.starts_with(NOTIFICATION) {
        return notification(text);
    }
    if text.starts_with(INTERRUPTED) {
        return Some(EntryKind::Interruption);
    }
    if !is_human(origin) {
        return None;
    }
    let typed = typed_message_text(HookClient::ClaudeCode, content)?;
    if in_sub_agent { EntryKind::sub_agent(&typed) } else { EntryKind::prompt(&typed) }
}

/// True for a person's prompt; one without an origin is a person's, or that of a script in their
/// place.
fn is_human(origin: Option<&RawValue>) -> bool {
    match origin {
        None => true,
        Some(origin) => wire::string_field(origin, "kind").is_some_and(|kind| kind == "human"),
    }
}

fn notification(text: &str) -> Option<EntryKind> {
    parse_notification(text).map(EntryKind::Notification)
}

/// Parses a notification about a background task.
pub(super) fn parse_notification(text: &str) -> Option<TaskNotification> {
    let inner = tag_content(text, "task-notification").unwrap_or(text);
    let part = |name| tag_content(inner, name).unwrap_or("");
    let id = tag_content(inner, "task-id")?;
    Some(TaskNotification::new(id, part("status"), part("summary")))
}

/// Entries of a queued prompt or task notification.
pub(super) fn attachment_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<EntryKind> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct QueuedAttachment<'a> {
        #[serde(rename = "type", borrow, default)]
        kind: Cow<'a, str>,
        #[serde(borrow, default)]
        prompt: Option<&'a RawValue>,
        #[serde(borrow, default)]
        command_mode: Option<Cow<'a, str>>,
        #[serde(borrow, default)]
        origin: Option<&'a RawValue>,
        #[serde(default)]
        is_meta: bool,
    }
    let Some(attachment) = line.attachment else { return Vec::new() };
    let Ok(queued) = serde_json::from_str::<QueuedAttachment<'_>>(attachment.get()) else {
        return Vec::new();
    };
    let (Some(prompt), "queued_command", false) = (queued.prompt, &*queued.kind, queued.is_meta)
    else {
        return Vec::new();
    };
    let what = classify_user_message(prompt, queued.origin, line.agent().is_some());
    let typed = queued.command_mode.as_deref().is_none_or(|mode| mode == "prompt");
    what.filter(|what| typed || matches!(what, EntryKind::Notification(_))).into_iter().collect()
}

/// Messages and calls of the agent.
pub(super) fn assistant_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<EntryKind> {
    let Some(message) = message(line) else { return Vec::new() };
    // The client's own text in the agent's role.
    if line.is_api_error_message || message.model.as_deref() == Some("<synthetic>") {
        return Vec::new();
    }
    let blocks = message.content.map(wire::blocks).unwrap_or_default();
    blocks.iter().filter_map(|block| wire::agent_entry(block, "tool_use", tool_action)).collect()
}

pub(super) fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
    let field = |name| wire::string_field(input, name);
    let known = match tool {
        "Bash" | "PowerShell" => field("command").map(ToolAction::shell),
        "Edit" | "MultiEdit" => field("file_path").map(|path| ToolAction::Edit(vec![path])),
        "NotebookEdit" => field("notebook_path").map(|path| ToolAction::Edit(vec![path])),
        "Write" => field("file_path").map(ToolAction::Write),
        "Read" => field("file_path").map(ToolAction::Read),
        "Agent" | "Task" => Some(ToolAction::Agent),
        "BashOutput" | "TaskOutput" | "AgentOutputTool" | "TaskGet" | "TaskList" => {
            Some(ToolAction::Wait)
        }
        "TaskCreate" => field("subject").map(|task| ToolAction::Plan(PlanChange::Add(task))),
        "TaskUpdate" => task_update(input),
        "TodoWrite" => serde_json::from_str(input.get()).ok().map(TodoList::plan),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// Change of a task's status; other changes are no progress.
fn task_update(input: &RawValue) -> Option<ToolAction> {
    let (id, status) = (wire::string_field(input, "taskId")?, wire::string_field(input, "status")?);
    let done = (status != "deleted").then_some(status == "completed");
    Some(ToolAction::Plan(PlanChange::Mark { id, done }))
}

/// Task list of older versions of the client.
#[derive(Deserialize)]
struct TodoList {
    #[serde(default)]
    todos: Vec<TodoItem>,
}

#[derive(Deserialize)]
struct TodoItem {
    content: String,
    #[serde(default)]
    status: String,
}

impl TodoList {
    fn plan(self) -> ToolAction {
        let tasks = self.todos.into_iter().map(|it| (it.content, it.status == "completed"));
        ToolAction::Plan(PlanChange::Whole(tasks.collect()))
    }
}
