//! What Codex sends: to a hook the same layout as Claude Code, and to `notify` one object
//! in an argument.

use std::path::PathBuf;

use recoup_core::memory::hooked::Client;
use recoup_core::memory::transcript::{Action, named};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::patch;
use crate::hooks::claude_code::wire::{Payload, common};
use crate::hooks::event::{Event, EventKind, Prompt, Stop, WireFormat};
use crate::hooks::typed::typed;
use crate::hooks::wire::{self, lenient};

/// The event that a payload tells of; none for those that mean nothing to us.
pub(in crate::hooks) fn event(payload: &Payload<'_>) -> Option<Event> {
    let name = payload.hook_event_name.clone()?;
    let what = match name.as_str() {
        "PreToolUse" => EventKind::Calling(payload.call(action)?),
        // How a command ended is not said; the transcript knows.
        "PostToolUse" => {
            let output = payload.tool_response.map(wire::text_of).unwrap_or_default();
            EventKind::CalledSomehow(payload.call(action)?, output)
        }
        _ => common(Client::Codex, &name, payload)?,
    };
    Some(payload.event(Client::Codex, name, what))
}

fn action(tool: &str, input: &RawValue) -> Action {
    let field = |name| wire::field(input, name);
    let known = match tool {
        "Bash" | "shell" | "exec_command" => field("command").map(Action::shell),
        "apply_patch" | "Edit" | "Write" => {
            field("command").or_else(|| field("input")).map(|text| patch(&text))
        }
        _ => None,
    };
    known.unwrap_or(Action::Other)
}

/// What `notify` is given.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::hooks) struct Notice {
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

/// The name that we give to it.
const NAME: &str = "notify";

/// The end of a turn; none for other notices.
pub(in crate::hooks) fn notice(notice: Notice) -> Option<Event> {
    let turn = notice.turn_id;
    // As a hook hears it: else the same prompt would be another.
    let prompt = |text: &String| {
        let text = typed(Client::Codex, text)?;
        Some(Prompt { text, turn: turn.clone() })
    };
    let prompts = notice.input_messages.iter().flatten().filter_map(prompt).collect();
    if notice.kind.as_deref() != Some("agent-turn-complete") {
        return None;
    }
    Some(Event {
        client: Client::Codex,
        name: NAME.to_owned(),
        session: named(&notice.thread_id?),
        agent: None,
        cwd: notice.cwd.unwrap_or_default(),
        transcript: None,
        parent: None,
        format: WireFormat::Native,
        person: notice.client.map(|client| client != "codex_exec"),
        // What we print is nobody's input.
        heard: false,
        what: EventKind::Stopped(Stop {
            answer: notice.last_assistant_message,
            prompts,
            turn,
            failed: None,
        }),
    })
}
