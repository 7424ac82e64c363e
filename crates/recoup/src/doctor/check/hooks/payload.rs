//! Payloads as they were recorded from clients. They name no transcript, so that no worker is
//! started.

use recoup_core::memory::hooked::HookClient;
use serde_json::{Value, json};

use crate::doctor::sandbox::ProbeSandbox;

const SESSION: &str = "recoup-doctor";

/// Events that Pi's extension sends, including those with an answer.
pub(super) const PI_EVENTS: [&str; 4] =
    ["session_start", "input", "before_agent_start", "session_shutdown"];

/// A prompt with nothing to remember.
const PROMPT: &str = "thanks";

/// The payload of an event; none for an unknown event.
pub(super) fn payload(client: HookClient, event: &str, sandbox: &ProbeSandbox) -> Option<Value> {
    match client {
        HookClient::Pi => pi_payload(event, sandbox),
        HookClient::Codex => {
            let mut payload = claude_code_payload(event, sandbox)?;
            payload["turn_id"] = json!("1");
            payload["model"] = json!("none");
            Some(payload)
        }
        HookClient::ClaudeCode => claude_code_payload(event, sandbox),
    }
}

fn claude_code_payload(event: &str, sandbox: &ProbeSandbox) -> Option<Value> {
    let call = json!({
        "tool_name": "Read", "tool_use_id": "doctor-1",
        "tool_input": {"file_path": "recoup.toml"},
    });
    let own = match event {
        "SessionStart" => json!({"source": "startup"}),
        "UserPromptSubmit" => json!({"prompt": PROMPT, "permission_mode": "default"}),
        "PreToolUse" => call,
        "PostToolUse" => {
            merge_objects(call, json!({"tool_response": {"file": {}}, "duration_ms": 1}))
        }
        "PostToolUseFailure" => {
            merge_objects(call, json!({"error": "", "is_interrupt": true, "duration_ms": 1}))
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
    Some(merge_objects(common, own))
}

fn pi_payload(event: &str, sandbox: &ProbeSandbox) -> Option<Value> {
    let inner = match event {
        "session_start" => json!({"type": event, "reason": "startup"}),
        "input" => json!({"type": event, "text": PROMPT, "source": "interactive"}),
        "before_agent_start" => json!({"type": event, "prompt": PROMPT}),
        "session_shutdown" => json!({"type": event, "reason": "quit"}),
        _ => return None,
    };
    Some(json!({"event": inner, "session": SESSION, "cwd": sandbox.project, "ui": false}))
}

fn merge_objects(mut all: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}
