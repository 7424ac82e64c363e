//! Payloads as they were recorded from clients. They name no transcript, so that no worker is
//! started.

use recoup_core::memory::hooked::Client;
use serde_json::{Value, json};

use crate::cli::doctor::sandbox::Sandbox;

const SESSION: &str = "recoup-doctor";

/// Events that Pi's extension sends, including those with an answer.
pub(super) const OF_PI: [&str; 4] =
    ["session_start", "input", "before_agent_start", "session_shutdown"];

/// A prompt with nothing to remember.
const PROMPT: &str = "thanks";

/// The payload of an event; none for an unknown event.
pub(super) fn payload(client: Client, event: &str, sandbox: &Sandbox) -> Option<Value> {
    match client {
        Client::Pi => of_pi(event, sandbox),
        Client::Codex => {
            let mut payload = of_claude_code(event, sandbox)?;
            payload["turn_id"] = json!("1");
            payload["model"] = json!("none");
            Some(payload)
        }
        Client::ClaudeCode => of_claude_code(event, sandbox),
    }
}

fn of_claude_code(event: &str, sandbox: &Sandbox) -> Option<Value> {
    let call = json!({
        "tool_name": "Read", "tool_use_id": "doctor-1",
        "tool_input": {"file_path": "recoup.toml"},
    });
    let own = match event {
        "SessionStart" => json!({"source": "startup"}),
        "UserPromptSubmit" => json!({"prompt": PROMPT, "permission_mode": "default"}),
        "PreToolUse" => call,
        "PostToolUse" => with(call, json!({"tool_response": {"file": {}}, "duration_ms": 1})),
        "PostToolUseFailure" => {
            with(call, json!({"error": "", "is_interrupt": true, "duration_ms": 1}))
        }
        "PostToolBatch" => json!({"tool_calls": []}),
        "SubagentStart" => json!({"agent_id": "doctor", "agent_type": "general-purpose"}),
        "SubagentStop" => json!({
            "agent_id": "doctor", "agent_type": "general-purpose",
            "stop_hook_active": false, "last_assistant_message": "",
        }),
        "PreCompact" | "PostCompact" => json!({"trigger": "manual", "custom_instructions": ""}),
        "Stop" | "StopFailure" => {
            json!({"stop_hook_active": false, "last_assistant_message": ""})
        }
        "SessionEnd" => json!({"reason": "other"}),
        _ => return None,
    };
    let common = json!({
        "session_id": SESSION, "cwd": sandbox.project, "hook_event_name": event,
    });
    Some(with(common, own))
}

fn of_pi(event: &str, sandbox: &Sandbox) -> Option<Value> {
    let inner = match event {
        "session_start" => json!({"type": event, "reason": "startup"}),
        "input" => json!({"type": event, "text": PROMPT, "source": "interactive"}),
        "before_agent_start" => json!({"type": event, "prompt": PROMPT}),
        "session_shutdown" => json!({"type": event, "reason": "quit"}),
        _ => return None,
    };
    Some(json!({"event": inner, "session": SESSION, "cwd": sandbox.project, "ui": false}))
}

fn with(mut all: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}
