//! Codex: its hooks and `notify`. Hooks have the same layout as Claude Code's; `notify` gets one
//! object as an argument.

use std::path::PathBuf;

use recoup_core::memory::HookClient;
use recoup_core::memory::capture::transcript::{ToolAction, bound_name};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::claude_code::{ClaudePayload, parse_common_event};
use super::event::{AnswerEnd, HookEvent, HookEventKind, UserPrompt, WireFormat};
use crate::transcripts::codex::patch;
use crate::transcripts::wire::{self, LenientField, typed_text};

/// Parses a payload; none for events that do not concern us.
pub(super) fn parse_event(payload: &ClaudePayload<'_>) -> Option<HookEvent> {
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
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub(super) struct CodexNotification {
    #[serde(rename = "type")]
    pub(super) kind: LenientField<String>,
    thread_id: LenientField<String>,
    turn_id: LenientField<String>,
    cwd: LenientField<PathBuf>,
    client: LenientField<String>,
    input_messages: LenientField<Vec<String>>,
    last_assistant_message: LenientField<String>,
}

/// Parses the end of a turn; none for other notifications.
pub(super) fn parse_notification(notice: CodexNotification) -> Option<HookEvent> {
    let turn = notice.turn_id.0;
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
        // Our own name for the event.
        name: "notify".to_owned(),
        session: bound_name(notice.thread_id.as_deref()?),
        agent: None,
        cwd: notice.cwd.0.unwrap_or_default(),
        transcript: None,
        parent: None,
        format: WireFormat::Native,
        person: notice.client.as_deref().map(|client| client != "codex_exec"),
        // Nobody reads our output.
        heard: false,
        tool_input: None,
        permission_mode: None,
        output: None,
        what: HookEventKind::Stopped(AnswerEnd {
            answer: notice.last_assistant_message.0,
            prompts,
            turn,
            failed: None,
        }),
    })
}
