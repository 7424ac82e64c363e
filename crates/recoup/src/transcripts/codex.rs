//! Codex's transcripts. A line of a rollout is `{timestamp, type, payload}`: the agent's messages and
//! calls are in `response_item`, the user's prompts in `event_msg`, because user messages among the
//! items also hold instructions and the environment.

use std::borrow::Cow;

use memchr::memmem;
use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, EntryKind, PlanChange, TaskNotification, ToolAction, ToolCall,
    TranscriptEntry,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::wire::{self, BorrowedText, typed_text};

/// Whole texts of calls that a person denied.
const DENIED: [&str; 4] = [
    "rejected by user", "exec command rejected by user", "patch rejected by user",
    "command rejected by user",
];

/// Beginnings of texts of calls that never began.
const REFUSED: [&str; 5] = [
    "apply_patch verification failed", "failed to parse function arguments", "unsupported call:",
    "unsupported custom tool call:", "invalid patch:",
];

/// True if the first line of a rollout says that a script or an agent started the session:
/// `{"type":"session_meta","payload":{…,"originator":"codex_exec",…}}`
pub(crate) fn is_headless_header(line: &[u8]) -> bool {
    let marks = [
        &b"\"originator\":\"codex_exec\""[..],
        b"\"source\":\"exec\"",
        // A sub-agent's prompts come from an agent.
        b"\"source\":{\"subagent\"",
    ];
    marks.iter().any(|mark| memmem::find(line, mark).is_some())
}

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
pub(super) fn parse_entries(line: &[u8]) -> Vec<TranscriptEntry> {
    wire::parse_line(line, |text| {
        let line: RolloutLine<'_> = serde_json::from_str(text)?;
        let payload = || -> serde_json::Result<Option<RolloutPayload<'_>>> {
            line.payload.map(|payload| serde_json::from_str(payload.get())).transpose()
        };
        let what = match &*line.kind {
            "response_item" => payload()?.and_then(|payload| item_entry(&payload)),
            "event_msg" => payload()?.and_then(|payload| match &*payload.kind {
                "user_message" => {
                    let BorrowedText(text) = serde_json::from_str(payload.message?.get()).ok()?;
                    EntryKind::prompt(&typed_text(HookClient::Codex, &text)?)
                }
                "turn_aborted" => Some(EntryKind::Interruption),
                "sub_agent_activity" => {
                    let BorrowedText(status) =
                        serde_json::from_str(payload.activity?.get()).ok()?;
                    let id = payload.agent_thread_id.as_deref()?;
                    Some(EntryKind::Notification(TaskNotification::new(id, &status, "")))
                }
                _ => None,
            }),
            "compacted" => Some(EntryKind::Compaction),
            _ => None,
        };
        let at = wire::parse_time(line.timestamp.as_deref());
        Ok(what.map(|what| TranscriptEntry { at, agent: None, what }).into_iter().collect())
    })
}

fn item_entry(payload: &RolloutPayload<'_>) -> Option<EntryKind> {
    match &*payload.kind {
        "message" if payload.role.as_deref() == Some("assistant") => {
            EntryKind::words(&wire::text_of(payload.content?))
        }
        "function_call" => {
            let (name, arguments) = (payload.name.as_deref()?, payload.arguments.as_deref()?);
            call_entry(payload, name, function_action(name, arguments), arguments)
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
            Some(parse_outcome(payload.call_id.as_deref()?, payload.output?))
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
#[serde(default)]
struct FunctionArguments {
    #[serde(alias = "cmd")]
    command: Value,
    #[serde(alias = "file_path")]
    path: Option<String>,
    input: Option<String>,
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
    /// Shell line. An older form has a list of arguments: LINE of `bash -lc LINE`; other words are
    /// joined as one would type them.
    fn line(&self) -> Option<String> {
        let words: Vec<&str> = match &self.command {
            Value::String(line) => return Some(line.clone()),
            Value::Array(words) => words.iter().map(Value::as_str).collect::<Option<_>>()?,
            _ => return None,
        };
        // A shell is known by its file name: `publish` is none.
        let is_shell = |program: &str| {
            program.rsplit('/').next().is_some_and(|name| ["bash", "sh", "zsh"].contains(&name))
        };
        if let [program, "-lc" | "-c", line] = words[..]
            && is_shell(program)
        {
            return Some(line.to_owned());
        }
        let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
        let quoted = words.iter().map(|word| {
            if !word.is_empty() && word.chars().all(is_plain) {
                (*word).to_owned()
            } else {
                format!("'{}'", word.replace('\'', r"'\''"))
            }
        });
        (!words.is_empty()).then(|| quoted.collect::<Vec<_>>().join(" "))
    }
}

fn function_action(name: &str, arguments: &str) -> ToolAction {
    let given: FunctionArguments = serde_json::from_str(arguments).unwrap_or_default();
    let known = match name {
        "shell" | "shell_command" | "exec_command" | "container.exec" | "local_shell" => {
            given.line().map(ToolAction::shell)
        }
        "apply_patch" => given.input.as_deref().map(patch),
        "read_file" | "view_image" => given.path.map(ToolAction::Read),
        "spawn_agent" => Some(ToolAction::Agent),
        "write_stdin" | "wait" | "wait_agent" => Some(ToolAction::Wait),
        "update_plan" => {
            let tasks = given.plan.into_iter().map(|it| (it.step, it.status == "completed"));
            Some(ToolAction::Plan(PlanChange::Whole(tasks.collect())))
        }
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// Files that a patch touches.
pub(crate) fn patch(text: &str) -> ToolAction {
    const MARKS: [&str; 3] = ["*** Update File: ", "*** Add File: ", "*** Delete File: "];
    let path =
        |line: &str| MARKS.iter().find_map(|mark| line.strip_prefix(mark).map(str::to_owned));
    ToolAction::Edit(text.lines().filter_map(path).collect())
}

/// Older form of an output, which else is a text or a list of texts.
#[derive(Deserialize)]
struct LegacyOutput<'a> {
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    success: Option<bool>,
}

/// Parses the outcome of `call`: text for the model, with the exit code in a heading. Nothing else
/// says whether it succeeded.
fn parse_outcome(call: &str, output: &RawValue) -> EntryKind {
    let older = output
        .get()
        .starts_with('{')
        .then(|| serde_json::from_str::<LegacyOutput<'_>>(output.get()));
    let (text, success) = match older {
        Some(Ok(LegacyOutput { content: Some(content), success })) => {
            (wire::text_of(content), success)
        }
        _ => (wire::text_of(output), None),
    };
    let trimmed = text.trim();
    let outcome = |ended, output: &str| EntryKind::Outcome(CallOutcome::new(call, ended, output));
    if DENIED.contains(&trimmed) {
        return outcome(CallStatus::Denied, &text);
    }
    if trimmed == "aborted" || trimmed.starts_with("aborted by user") {
        return outcome(CallStatus::Interrupted, &text);
    }
    if REFUSED.iter().any(|words| trimmed.starts_with(words)) {
        return outcome(CallStatus::Refused, &text);
    }
    if let Some((exit, output)) = parse_json_output(&text) {
        return outcome(wire::status_of_exit(Some(exit)), &output);
    }
    match parse_headed_output(&text) {
        Some((exit, output)) => outcome(wire::status_of_exit(Some(exit)), output),
        None if success == Some(false) => outcome(CallStatus::Failed { exit: None }, &text),
        None => outcome(CallStatus::Succeeded, &text),
    }
}

/// Parses `{"output": …, "metadata": {"exit_code": …}}` of older versions.
fn parse_json_output(text: &str) -> Option<(i32, String)> {
    #[derive(Deserialize)]
    struct LegacyJsonOutput<'a> {
        #[serde(borrow)]
        output: BorrowedText<'a>,
        metadata: LegacyOutputMetadata,
    }
    #[derive(Deserialize)]
    struct LegacyOutputMetadata {
        exit_code: i32,
    }
    let json: LegacyJsonOutput<'_> =
        text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    Some((json.metadata.exit_code, json.output.0.into_owned()))
}

/// Parses `Exit code: 1` or `Process exited with code 1` among the lines before `Output:`. The
/// command's own output comes after that, and can't imitate it.
fn parse_headed_output(text: &str) -> Option<(i32, &str)> {
    let (heading, output) = match text.strip_prefix("Output:\n") {
        Some(_) => return None,
        None => text.split_once("\nOutput:").unwrap_or((text, "")),
    };
    // A heading has only these lines; other output is not a heading.
    let known = |line: &str| {
        [
            "Exit code: ", "Wall time: ", "Total output lines: ", "Chunk ID: ",
            "Original token count: ",
        ]
        .iter()
        .any(|start| line.starts_with(start))
            || line.starts_with("Process ")
            || line.is_empty()
    };
    if !heading.lines().all(known) {
        return None;
    }
    let exit = heading.lines().find_map(|line| {
        let code = line
            .strip_prefix("Exit code: ")
            .or_else(|| line.strip_prefix("Process exited with code "))?;
        code.trim().parse().ok()
    })?;
    Some((exit, output))
}
