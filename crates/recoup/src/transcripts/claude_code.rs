//! Parses Claude Code's transcript: lines of JSON with a `type`. Most lines are about the client
//! itself; the largest hold whole requests, whose contents are not even parsed.

use std::borrow::Cow;
use std::path::Path;

use memchr::memmem;
use recoup_core::base::fsx::{self, FileLookup};
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, EntryKind, PlanChange, TaskNotification, ToolAction, TranscriptEntry,
    bound_name,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::wire::{self, BorrowedText, tag_content, typed_message_text};

/// Each line of interest contains one of these words as a value. Inside a text their quotes would
/// be escaped, so a request is skipped without being parsed.
const WORDS: [&[u8]; 4] =
    [b"\"user\"", b"\"assistant\"", b"\"attachment\"", b"\"compact_boundary\""];

pub(crate) const NOTIFICATION: &str = "<task-notification>";

pub(crate) const DENIED: &str = "The user doesn't want to proceed with this tool use";
/// Beginning of a result if the client refused the call.
pub(crate) const REFUSED: &str = "<tool_use_error>";
const NOT_NOW: &str = "The user doesn't want to take this action right now";
const REJECTED: &str = "User rejected tool use";
/// Beginning of a message after a person interrupted the agent.
const INTERRUPTED: &str = "[Request interrupted by user";

/// Bytes read from the start of a transcript.
const MAX_HEAD_BYTES: usize = 256 << 10;

/// True for an entry point without a person: `sdk-cli` for `claude -p`, `sdk-ts` and `sdk-py` in a
/// program. `cli` is a terminal; editors and the desktop app have names of their own.
pub(crate) fn is_headless_entrypoint(name: &str) -> bool {
    name.starts_with("sdk") || matches!(name, "mcp" | "claude-code-github-action")
}

#[derive(Debug, Default, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "the client has these flags")]
#[serde(default, rename_all = "camelCase")]
struct ClaudeTranscriptLine<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    subtype: Option<Cow<'a, str>>,
    is_sidechain: bool,
    is_meta: bool,
    is_compact_summary: bool,
    is_api_error_message: bool,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    origin: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    permission_decision: Option<&'a RawValue>,
}

impl ClaudeTranscriptLine<'_> {
    /// Id of the sub-agent that the line belongs to.
    fn agent(&self) -> Option<String> {
        self.is_sidechain.then(|| bound_name(self.agent_id.as_deref().unwrap_or("sub-agent")))
    }
}

/// Parses a line into entries.
pub(super) fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
    if !WORDS.iter().any(|word| memmem::find(line, word).is_some()) {
        return Vec::new();
    }
    wire::parse_line(line, |text| {
        let line: ClaudeTranscriptLine<'_> = serde_json::from_str(text)?;
        let said: Vec<EntryKind> = match (&*line.kind, line.subtype.as_deref()) {
            ("user", _) => user_entries(&line),
            ("assistant", _) => {
                let message = message(&line).filter(|message| {
                    // Else the client's own text in the agent's role.
                    !line.is_api_error_message && message.model.as_deref() != Some("<synthetic>")
                });
                let content = message.and_then(|message| message.content);
                let blocks = content.map(wire::blocks).unwrap_or_default();
                let entry = |block| wire::agent_entry(block, "tool_use", tool_action);
                blocks.iter().filter_map(entry).collect()
            }
            ("attachment", _) => attachment_entries(&line),
            ("system", Some("compact_boundary")) => vec![EntryKind::Compaction],
            _ => Vec::new(),
        };
        let (at, agent) = (wire::parse_time(line.timestamp.as_deref()), line.agent());
        let entry = |what| TranscriptEntry { at, agent: agent.clone(), what };
        Ok(said.into_iter().map(entry).collect())
    })
}

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

/// Entries of a line in the user's role. Only what a person typed is a prompt: the client writes
/// much else in that role.
fn user_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<EntryKind> {
    let Some(content) = message(line).and_then(|message| message.content) else {
        return Vec::new();
    };
    let blocks = wire::blocks(content);
    let results = blocks.iter().filter(|block| block.kind == "tool_result");
    let outcomes = results.filter_map(|block| {
        let text = block.content.map(wire::text_of).unwrap_or_default();
        let ended = classify_end(&text, block.is_error == Some(true), line);
        let output = match ended {
            CallStatus::Failed { exit: Some(_) } => {
                text.split_once('\n').map_or("", |(_, output)| output)
            }
            CallStatus::Refused => tag_content(&text, "tool_use_error").unwrap_or(&text),
            _ => &text,
        };
        Some(EntryKind::Outcome(CallOutcome::new(block.tool_use_id.as_deref()?, ended, output)))
    });
    let outcomes: Vec<EntryKind> = outcomes.collect();
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
        return parse_notification(text).map(EntryKind::Notification);
    }
    if text.starts_with(INTERRUPTED) {
        return Some(EntryKind::Interruption);
    }
    // A prompt without an origin is a person's, or that of a script in their place.
    let is_other = |origin| wire::string_field(origin, "kind").is_none_or(|kind| kind != "human");
    if origin.is_some_and(is_other) {
        return None;
    }
    let typed = typed_message_text(HookClient::ClaudeCode, content)?;
    if in_sub_agent { EntryKind::sub_agent(&typed) } else { EntryKind::prompt(&typed) }
}

/// Parses a notification about a background task.
pub(crate) fn parse_notification(text: &str) -> Option<TaskNotification> {
    let inner = tag_content(text, "task-notification").unwrap_or(text);
    let part = |name| tag_content(inner, name).unwrap_or("");
    let id = tag_content(inner, "task-id")?;
    Some(TaskNotification::new(id, part("status"), part("summary")))
}

/// Entries of a queued prompt or task notification.
fn attachment_entries(line: &ClaudeTranscriptLine<'_>) -> Vec<EntryKind> {
    #[derive(Default, Deserialize)]
    #[serde(default, rename_all = "camelCase")]
    struct QueuedAttachment<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
        #[serde(borrow)]
        prompt: Option<&'a RawValue>,
        #[serde(borrow)]
        command_mode: Option<Cow<'a, str>>,
        #[serde(borrow)]
        origin: Option<&'a RawValue>,
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

pub(crate) fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
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
        // A change of a task's status; other changes are no progress.
        "TaskUpdate" => field("taskId").zip(field("status")).map(|(id, status)| {
            let done = (status != "deleted").then_some(status == "completed");
            ToolAction::Plan(PlanChange::Mark { id, done })
        }),
        "TodoWrite" => serde_json::from_str(input.get()).ok().map(|TodoList { todos }| {
            let tasks = todos.into_iter().map(|it| (it.content, it.status == "completed"));
            ToolAction::Plan(PlanChange::Whole(tasks.collect()))
        }),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
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

/// Classifies the end of a call. A tool can print anything into its result, so a denial by the user
/// is believed only if the client's own data beside it does not contradict it.
fn classify_end(text: &str, is_error: bool, line: &ClaudeTranscriptLine<'_>) -> CallStatus {
    #[derive(Deserialize)]
    struct InterruptFlag {
        #[serde(default)]
        interrupted: bool,
    }
    let flag = |result: &RawValue| {
        serde_json::from_str::<InterruptFlag>(result.get()).is_ok_and(|flag| flag.interrupted)
    };
    if line.tool_use_result.is_some_and(flag) || (is_error && text.starts_with(INTERRUPTED)) {
        return CallStatus::Interrupted;
    }
    // Denied before it began, by a person or by a rule.
    let no = |it: String| it == "reject" || it == "deny";
    if let Some(decision) = line.permission_decision
        && wire::string_field(decision, "decision").is_some_and(no)
    {
        let source = wire::string_field(decision, "source").unwrap_or_default();
        let by_person = source.starts_with("user");
        return if by_person { CallStatus::Denied } else { CallStatus::Refused };
    }
    if !is_error {
        return CallStatus::Succeeded;
    }
    let begins_with = |all: &[&str]| all.iter().any(|start| text.starts_with(start));
    if begins_with(&[REFUSED, "Claude requested permissions", "Permission to use "]) {
        return CallStatus::Refused;
    }
    // An error that a tool returned has `Error: …` there.
    let client_text = || serde_json::from_str(line.tool_use_result?.get()).ok();
    if begins_with(&[DENIED, NOT_NOW])
        && client_text().is_none_or(|BorrowedText(text)| text == REJECTED)
    {
        return CallStatus::Denied;
    }
    CallStatus::Failed { exit: exit_code(text) }
}

/// Parses `Exit code 2` on the first line.
pub(crate) fn exit_code(text: &str) -> Option<i32> {
    let first = text.lines().next()?;
    first.strip_prefix("Exit code ")?.trim().parse().ok()
}

#[derive(Deserialize)]
struct ForkLine<'a> {
    #[serde(borrow, rename = "forkedFrom")]
    forked_from: ForkSource<'a>,
}

#[derive(Deserialize)]
struct ForkSource<'a> {
    #[serde(borrow, rename = "sessionId")]
    session: Cow<'a, str>,
}

/// Id of the session that the transcript at `path` was copied from, if it says so. The event of a
/// fork does not say. A branched conversation (`/branch`) begins with copied lines that do:
/// `"forkedFrom":{"sessionId":…}`. One begun with `--fork-session` has no transcript yet at its
/// first event, and never names the other.
pub(crate) fn parent_session(path: &Path) -> Option<String> {
    let Ok(FileLookup::Regular(file)) = fsx::open_regular(path) else { return None };
    let head = file.read_start(MAX_HEAD_BYTES).ok()?;
    // The last line may be cut; then it does not parse.
    let lines = head.split(|byte| *byte == b'\n');
    let source = |line: &[u8]| {
        memmem::find(line, b"\"forkedFrom\"")?;
        let line: ForkLine<'_> = serde_json::from_slice(line).ok()?;
        Some(bound_name(&line.forked_from.session))
    };
    lines.into_iter().find_map(source)
}
