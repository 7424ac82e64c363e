//! Parses Codex's payloads: hooks have the same layout as Claude Code's; `notify` gets one object
//! as an argument.

use std::path::PathBuf;

use recoup_core::memory::hooked::HookClient;
use recoup_core::memory::transcript::{ToolAction, bound_name};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::patch;
use crate::hooks::claude_code::wire::{ClaudePayload, parse_common_event};
use crate::hooks::event::{AnswerEnd, HookEvent, HookEventKind, UserPrompt, WireFormat};
use crate::hooks::typed::typed_text;
use crate::hooks::wire::{self, lenient};

/// Parses a payload; none for events that do not concern us.
pub(in crate::hooks) fn parse_event(payload: &ClaudePayload<'_>) -> Option<HookEvent> {
    let name = payload.hook_event_name.clone()?;
    let what = match name.as_str() {
        "PreToolUse" => HookEventKind::Calling(payload.call(tool_action)?),
        // The payload lacks the exit code; the transcript has it.
        "PostToolUse" => {
            let output = payload.tool_response.map(wire::text_of).unwrap_or_default();
            HookEventKind::CalledSomehow(payload.call(tool_action)?, output)
        }
        _ => parse_common_event(HookClient::Codex, &name, payload)?,
    };
    Some(payload.build_event(HookClient::Codex, name, what))
}

fn tool_action(tool: &str, input: &RawValue) -> ToolAction {
    let field = |name| wire::string_field(input, name);
    let known = match tool {
        "Bash" | "shell" | "exec_command" => field("command").map(ToolAction::shell),
        "apply_patch" | "Edit" | "Write" => {
            field("command").or_else(|| field("input")).map(|text| patch(&text))
        }
        _ => None,
    };
    known.unwrap_or(ToolAction::Other)
}

/// Argument of `notify`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::hooks) struct CodexNotification {
    #[serde(rename = "type", default, deserialize_with = "lenient")]
    pub(in crate::hooks) kind: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    thread_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    turn_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    cwd: Option<PathBuf>,
    #[serde(default, deserialize_with = "lenient")]
    client: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    input_messages: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient")]
    last_assistant_message: Option<String>,
}

/// Our name for the event.
const NAME: &str = "notify";

/// Parses the end of a turn; none for other notifications.
pub(in crate::hooks) fn parse_notification(notice: CodexNotification) -> Option<HookEvent> {
    let turn = notice.turn_id;
    // Cleaned as in a hook, so that it is recognised as the same prompt.
    let prompt = |text: &String| {
        let text = typed_text(HookClient::Codex, text)?;
        Some(UserPrompt { text, turn: turn.clone() })
    };
    let prompts = notice.input_messages.iter().flatten().filter_map(prompt).collect();
    if notice.kind.as_deref() != Some("agent-turn-complete") {
        return None;
    }
    Some(HookEvent {
        client: HookClient::Codex,
        name: NAME.to_owned(),
        session: bound_name(&notice.thread_id?),
        agent: None,
        cwd: notice.cwd.unwrap_or_default(),
        transcript: None,
        parent: None,
        format: WireFormat::Native,
        person: notice.client.map(|client| client != "codex_exec"),
        // Nobody reads our output.
        heard: false,
        what: HookEventKind::Stopped(AnswerEnd {
            answer: notice.last_assistant_message,
            prompts,
            turn,
            failed: None,
        }),
    })
}
