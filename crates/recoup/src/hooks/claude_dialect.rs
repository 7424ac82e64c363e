//! Clients whose hooks are nearly Claude Code's: Qwen Code, Copilot CLI, Droid, Kimi Code and Gemini
//! CLI. A table has the names and texts that differ and could mean something else in another
//! client; fields that only one of them sends are read from all. Events before a call are not read,
//! because none of these clients takes context there, and neither are their transcripts.

use std::path::{Path, PathBuf};

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{
    CallOutcome, CallStatus, ToolAction, ToolCall, bound_name,
};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::event::{AnswerEnd, HookEvent, HookEventKind, SessionStartKind, UserPrompt, WireFormat};
use crate::clients::hooks_of;
use crate::transcripts::wire::{self, LenientField, typed_message_text};

/// Differences of one client.
struct HookDialect {
    events: &'static [(&'static str, DialectEvent)],
    /// Text before a command's output, if there is more than the output.
    heading: Option<&'static str>,
    /// Beginnings of the client's own lines below a command's output, in their order; one has the
    /// exit code.
    footer: &'static [&'static str],
    success: SuccessSign,
    /// Text between the server and the tool in the name of an MCP tool.
    mcp_separator: &'static str,
}

/// Sign that a command succeeded, if it is not reported as failed. A result without it has an
/// unknown outcome: the command was cancelled, killed or sent to the background.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SuccessSign {
    /// The event alone.
    Event,
    /// Exit code below the output.
    ExitCode,
    /// The output's heading at the beginning, and neither an exit code nor a signal below.
    Heading,
}

/// Events as they are read.
#[derive(Clone, Copy)]
enum DialectEvent {
    SessionStart,
    Prompt,
    ToolEnd,
    ToolFailure,
    AnswerEnd,
    SessionEnd,
}

const CLAUDE_EVENTS: &[(&str, DialectEvent)] = &[
    ("SessionStart", DialectEvent::SessionStart),
    ("UserPromptSubmit", DialectEvent::Prompt),
    ("PostToolUse", DialectEvent::ToolEnd),
    ("PostToolUseFailure", DialectEvent::ToolFailure),
    ("Stop", DialectEvent::AnswerEnd),
    ("SessionEnd", DialectEvent::SessionEnd),
];

/// Claude Code's names, and results that are the output alone.
const CLAUDE_LIKE: HookDialect = HookDialect {
    events: CLAUDE_EVENTS,
    heading: None,
    footer: &[],
    success: SuccessSign::ExitCode,
    mcp_separator: "__",
};

/// Line that names the signal by which a command was killed.
const SIGNAL_LINE: &str = "Signal: ";

static DIALECTS: [(HookClient, HookDialect); 5] = [
    (
        HookClient::QwenCode,
        HookDialect {
            heading: Some("Output: "),
            footer: &["Error: (none)", "Exit Code: ", SIGNAL_LINE, "Process Group PGID: "],
            ..CLAUDE_LIKE
        },
    ),
    (HookClient::CopilotCli, HookDialect { footer: &["<shellId: "], ..CLAUDE_LIKE }),
    (
        HookClient::Droid,
        HookDialect {
            footer: &["[Process exited with code "],
            mcp_separator: "___",
            ..CLAUDE_LIKE
        },
    ),
    (
        HookClient::KimiCode,
        HookDialect {
            footer: &["Command failed with exit code: "],
            success: SuccessSign::Event,
            ..CLAUDE_LIKE
        },
    ),
    (
        HookClient::Gemini,
        HookDialect {
            events: &[
                ("SessionStart", DialectEvent::SessionStart),
                ("BeforeAgent", DialectEvent::Prompt),
                ("AfterTool", DialectEvent::ToolEnd),
                ("AfterAgent", DialectEvent::AnswerEnd),
                ("SessionEnd", DialectEvent::SessionEnd),
            ],
            heading: Some("Output: "),
            footer: &[
                "Exit Code: ", SIGNAL_LINE, "Background PIDs: ", "Process Group PGID: ",
                "</untrusted_context>",
            ],
            success: SuccessSign::Heading,
            ..CLAUDE_LIKE
        },
    ),
];

/// Fields of a result, an error or a part of a text that have the text.
const TEXT_FIELDS: [&str; 4] = ["llmContent", "text_result_for_llm", "text", "message"];

/// Payload on a hook's stdin. The client and the event decide which fields are present.
#[derive(Default, Deserialize)]
#[serde(default)]
struct DialectPayload<'a> {
    hook_event_name: LenientField<String>,
    session_id: LenientField<String>,
    agent_id: LenientField<String>,
    cwd: LenientField<PathBuf>,
    timestamp: LenientField<String>,
    prompt_id: LenientField<String>,
    source: LenientField<String>,
    reason: LenientField<String>,
    /// Text, or a list of parts.
    #[serde(borrow)]
    prompt: Option<&'a RawValue>,
    tool_name: LenientField<String>,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    tool_use_id: LenientField<String>,
    tool_call_id: LenientField<String>,
    mcp_context: LenientField<McpContext>,
    tool_response: Value,
    tool_result: Value,
    tool_output: Value,
    /// Text, or an object with a message.
    error: Value,
    is_interrupt: LenientField<bool>,
    last_assistant_message: LenientField<String>,
    prompt_response: LenientField<String>,
}

#[derive(Deserialize)]
struct McpContext {
    server_name: String,
    tool_name: String,
}

/// True if Claude Code's hooks were run by Copilot CLI: it sends a time, and has a transcript at no
/// event but the last, `session-state/SESSION/events.jsonl` in its own directory.
pub(super) fn is_from_copilot(has_time: bool, transcript: Option<&Path>) -> bool {
    let is_own = |path: &Path| {
        let mut names = path.iter().rev().filter_map(|name| name.to_str());
        names.next() == Some("events.jsonl") && names.nth(1) == Some("session-state")
    };
    has_time && transcript.is_none_or(is_own)
}

/// True if payloads of this client are read here.
pub(super) fn is_dialect(client: HookClient) -> bool {
    DIALECTS.iter().any(|(it, _)| *it == client)
}

/// Parses a payload; none for events that do not concern us.
pub(super) fn parse_event(text: &str, client: HookClient) -> serde_json::Result<Option<HookEvent>> {
    let payload: DialectPayload<'_> = serde_json::from_str(text)?;
    let dialect = DIALECTS.iter().find(|(it, _)| *it == client);
    Ok(dialect.and_then(|(client, dialect)| dialect.event(*client, &payload, text)))
}

impl HookDialect {
    fn event(
        &self,
        client: HookClient,
        payload: &DialectPayload<'_>,
        whole: &str,
    ) -> Option<HookEvent> {
        let name = payload.hook_event_name.clone()?;
        let (_, event) = self.events.iter().find(|(known, _)| *known == name)?;
        let turn = payload.prompt_id.clone().or_else(|| payload.timestamp.clone());
        let what = match event {
            DialectEvent::SessionStart => {
                let how = SessionStartKind::of_source(payload.source.as_deref());
                if hooks_of(client).answer.takes_context_at(&name) {
                    HookEventKind::Began(how)
                } else {
                    HookEventKind::Opened(how)
                }
            }
            DialectEvent::Prompt => {
                let text = typed_message_text(client, payload.prompt?)?;
                // Qwen Code repeats the event, without a text, before each request. A sub-agent's
                // prompt comes from an agent.
                let is_typed = !text.is_empty() && payload.agent_id.is_none();
                HookEventKind::Prompt(is_typed.then_some(UserPrompt { text, turn })?)
            }
            DialectEvent::ToolEnd => {
                let call = self.call(payload, whole)?;
                let results = [&payload.tool_response, &payload.tool_result, &payload.tool_output];
                let result = results.into_iter().find(|it| !it.is_null())?;
                match result.get("error").filter(|error| !error.is_null()) {
                    Some(error) => self.failure(call, &text_in(error), false)?,
                    None => self.call_end(call, &text_in(result)),
                }
            }
            DialectEvent::ToolFailure => {
                let call = self.call(payload, whole)?;
                let stopped = *payload.is_interrupt == Some(true);
                self.failure(call, &text_in(&payload.error), stopped)?
            }
            DialectEvent::AnswerEnd => HookEventKind::Stopped(AnswerEnd {
                answer: payload
                    .last_assistant_message
                    .clone()
                    .or_else(|| payload.prompt_response.clone()),
                turn,
                ..AnswerEnd::default()
            }),
            DialectEvent::SessionEnd => {
                HookEventKind::Ended(payload.reason.clone().unwrap_or_default())
            }
        };
        Some(HookEvent {
            client,
            name,
            session: bound_name(payload.session_id.as_deref().unwrap_or("unknown")),
            agent: payload.agent_id.as_deref().filter(|id| !id.is_empty()).map(bound_name),
            cwd: payload.cwd.clone().unwrap_or_default(),
            transcript: None,
            parent: None,
            format: WireFormat::Native,
            person: None,
            heard: true,
            tool_input: payload.tool_input.map(|input| input.get().into()),
            permission_mode: None,
            output: None,
            what,
        })
    }

    /// Call that a payload is about. Without an id, it is identified by the whole payload, which has
    /// a time or at least the result: the same command may run again.
    fn call(&self, payload: &DialectPayload<'_>, whole: &str) -> Option<ToolCall> {
        let (name, input) = (payload.tool_name.as_deref()?, payload.tool_input?);
        let tool = match (&*payload.mcp_context, name.split_once(self.mcp_separator)) {
            (Some(McpContext { server_name, tool_name }), _) => {
                format!("mcp__{server_name}__{tool_name}")
            }
            (None, Some((server, tool))) if !name.starts_with("mcp__") => {
                format!("mcp__{server}__{tool}")
            }
            _ => name.to_owned(),
        };
        let id = payload.tool_use_id.as_deref().or(payload.tool_call_id.as_deref());
        let digest = || wire::text_digest(whole);
        let id = id.map_or_else(digest, str::to_owned);
        Some(wire::tool_call(Some(&id), &tool, input, tool_action))
    }

    /// End of a call that is not reported as failed.
    fn call_end(&self, call: ToolCall, text: &str) -> HookEventKind {
        if call.command().is_none() {
            let outcome = CallOutcome::new(&call.id, CallStatus::Succeeded, text);
            return HookEventKind::Called(call, outcome);
        }
        let (output, footer) = self.split_output(text);
        let exit = footer.iter().find_map(|line| code_in(line));
        let is_killed = footer.iter().any(|line| line.starts_with(SIGNAL_LINE));
        let text = text.trim_start_matches("<untrusted_context>\n");
        let has_heading = self.heading.is_some_and(|heading| text.starts_with(heading));
        let is_known = match self.success {
            SuccessSign::Event => true,
            SuccessSign::ExitCode => exit.is_some(),
            SuccessSign::Heading => has_heading && (exit.is_some() || !is_killed),
        };
        if !is_known {
            return HookEventKind::CalledSomehow(call, output);
        }
        let exit = exit.filter(|_| self.success != SuccessSign::Event);
        let outcome = CallOutcome::new(&call.id, wire::status_of_exit(exit), &output);
        HookEventKind::Called(call, outcome)
    }

    /// End of a failed call. A command without an exit code may not have run: a call that was
    /// denied is reported in the same way.
    fn failure(&self, call: ToolCall, error: &str, stopped: bool) -> Option<HookEventKind> {
        let (output, footer) = self.split_output(error);
        let ended = match footer.iter().find_map(|line| code_in(line)) {
            _ if stopped => CallStatus::Interrupted,
            None if call.command().is_some() => return None,
            exit => CallStatus::Failed { exit },
        };
        let outcome = CallOutcome::new(&call.id, ended, &output);
        Some(HookEventKind::Called(call, outcome))
    }

    /// Splits a command's result into its output and the client's lines below. Each of these is
    /// there once, in its place, so that no command can print another exit code.
    fn split_output<'t>(&self, text: &'t str) -> (String, Vec<&'t str>) {
        let mut lines: Vec<&str> = text.trim_end().lines().collect();
        let mut footer = Vec::new();
        for start in self.footer.iter().rev() {
            footer.extend(lines.pop_if(|line| line.starts_with(start)));
            while lines.pop_if(|line| line.is_empty()).is_some() {}
        }
        let text = lines.join("\n");
        let output = self.heading.and_then(|heading| text.split_once(&format!("\n{heading}")));
        (output.map_or(&*text, |(_, output)| output).to_owned(), footer)
    }
}

/// Exit code in a line such as `Exit Code: 2` or `<shellId: 1 completed with exit code 2>`.
fn code_in(line: &str) -> Option<i32> {
    let at = line.to_ascii_lowercase().rfind("code")?;
    let digits = line[at + "code".len()..].trim_start_matches([':', ' ']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits[..end].parse().ok()
}

/// Maps a tool of any of these clients: no name means two things.
fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
    let field = |name| wire::string_field(input, name);
    let path = || field("file_path").or_else(|| field("path"));
    let known = match tool {
        "run_shell_command" | "Bash" | "Execute" => field("command").map(ToolAction::shell),
        "edit" | "replace" | "Edit" => path().map(|path| ToolAction::Edit(vec![path])),
        "write_file" | "Write" | "Create" => path().map(ToolAction::Write),
        "read_file" | "Read" => path().map(ToolAction::Read),
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// Text of a result or an error: a string, a list of parts, or a field of an object.
fn text_in(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_in).collect::<Vec<_>>().join("\n"),
        Value::Object(fields) => {
            let text = TEXT_FIELDS.iter().find_map(|name| fields.get(*name));
            text.map(text_in).unwrap_or_default()
        }
        _ => String::new(),
    }
}
