//! Fires events through each command exactly as its client would, in a sandbox. Payloads are as they
//! were recorded from clients; they name no transcript, so that no worker is started.

use std::time::Duration;

use crate::clients::{RecoupCall, hooks_of};
use recoup_core::memory::HookClient;
use serde_json::{Value, json};

use crate::doctor::DoctorContext;
use crate::doctor::client_program::ProbeSkipReason;
use crate::doctor::client_program::permitted_call;
use crate::doctor::probe::{self, ProbeError};
use crate::doctor::sandbox::{ProbeSandbox, RULE};
use crate::install::ClientInstallation;

/// A client's timeout, in seconds, for a hook that sets none, and our own upper limit.
const DEFAULT_TIMEOUT_SECS: u64 = 60;
const MOST: Duration = Duration::from_secs(30);

/// Result of firing all events of an installation.
#[derive(Debug, Default)]
pub(super) struct HookProbeResult {
    /// Number of events with a correct answer.
    pub(super) sound: usize,
    /// Time of the slowest of them.
    pub(super) slowest: Duration,
    /// Failures, with their events.
    pub(super) faults: Vec<(String, HookProbeError)>,
    /// True if the sandbox's rule arrived; none if no event was to deliver it.
    pub(super) rule: Option<bool>,
    /// Reasons for the commands that were not fired.
    pub(super) withheld: Vec<ProbeSkipReason>,
}

/// Failure of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookProbeError {
    NotStarted(String),
    TooLate(Duration),
    Ended(Option<i32>),
    Reply(&'static str),
}

impl HookProbeError {
    /// Stable identifier of the failure.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not-started",
            Self::TooLate(_) => "too-late",
            Self::Ended(_) => "wrong-exit",
            Self::Reply(_) => "wrong-answer",
        }
    }

    /// Instruction for the user.
    pub(super) fn remedy(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "`recoup init` sets a program that can be started",
            Self::TooLate(_) => {
                "the client kills the hook after that time, and nothing is remembered: find out \
                 what the command waits for"
            }
            Self::Ended(_) => {
                "a hook must exit with 0, or the client may stop its work: check the command"
            }
            Self::Reply(_) => {
                "the client ignores invalid output: check what else the command prints"
            }
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::NotStarted(why) => format!("it can't be started: {why}"),
            Self::TooLate(limit) => format!("it did not finish within {} s", limit.as_secs()),
            Self::Ended(Some(code)) => format!("it exits with {code} instead of 0"),
            Self::Ended(None) => "it was killed by a signal".to_owned(),
            Self::Reply(why) => (*why).to_owned(),
        }
    }
}

/// Fires all events of an installation.
pub(super) fn fire_events(
    client: HookClient,
    of: &ClientInstallation,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> HookProbeResult {
    // The event at which a client's agents are given their rules.
    let rules_event = hooks_of(client).answer.context_events[0];
    let mut fired = HookProbeResult::default();
    let mut hanging: Vec<&RecoupCall> = Vec::new();
    for hook in &of.hooks {
        // A command that hangs would hang at each event.
        if hanging.contains(&&hook.call) {
            continue;
        }
        let call = match permitted_call(&hook.call, of, context) {
            Ok(call) => call,
            Err(why) => {
                fired.withheld.push(why);
                continue;
            }
        };
        let events = match &hook.event {
            Some(event) => vec![event.clone()],
            None => PI_EVENTS.map(str::to_owned).to_vec(),
        };
        for event in events {
            let Some(told) = payload(client, &event, sandbox) else { continue };
            let limit =
                Duration::from_secs(hook.timeout.unwrap_or(DEFAULT_TIMEOUT_SECS).max(1)).min(MOST);
            match fire_event(client, &event, &call, &told, limit, sandbox, context) {
                Ok((reply, took)) => {
                    fired.sound += 1;
                    fired.slowest = fired.slowest.max(took);
                    if event == rules_event {
                        fired.rule = Some(reply == ProbedReply::Said { rule: true });
                    }
                }
                Err(fault) => {
                    let stops =
                        matches!(fault, HookProbeError::TooLate(_) | HookProbeError::NotStarted(_));
                    fired.faults.push((event, fault));
                    if stops {
                        hanging.push(&hook.call);
                        break;
                    }
                }
            }
        }
    }
    fired
}

fn fire_event(
    client: HookClient,
    event: &str,
    call: &RecoupCall,
    told: &Value,
    limit: Duration,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Result<(ProbedReply, Duration), HookProbeError> {
    let mut command = probe::sandboxed_command(call, sandbox, context);
    if client == HookClient::ClaudeCode {
        command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    }
    let told = told.to_string();
    let ran =
        probe::run_to_end(command, told.as_bytes(), limit).map_err(|failed| match failed {
            ProbeError::NotStarted(error) => HookProbeError::NotStarted(error.to_string()),
            ProbeError::TooLate => HookProbeError::TooLate(limit),
        })?;
    if ran.code != Some(0) {
        return Err(HookProbeError::Ended(ran.code));
    }
    let reply = parse_reply(client, event, &ran.stdout).map_err(HookProbeError::Reply)?;
    Ok((reply, ran.took))
}

const SESSION: &str = "recoup-doctor";

/// Events that Pi's extension sends, including those with an answer.
const PI_EVENTS: [&str; 4] = ["session_start", "input", "before_agent_start", "session_shutdown"];

/// A prompt with nothing to remember.
const PROMPT: &str = "thanks";

/// The payload of an event; none for an unknown event.
fn payload(client: HookClient, event: &str, sandbox: &ProbeSandbox) -> Option<Value> {
    match client {
        HookClient::Pi => {
            let inner = match event {
                "session_start" => json!({"type": event, "reason": "startup"}),
                "input" => json!({"type": event, "text": PROMPT, "source": "interactive"}),
                "before_agent_start" => json!({"type": event, "prompt": PROMPT}),
                "session_shutdown" => json!({"type": event, "reason": "quit"}),
                _ => return None,
            };
            Some(json!({"event": inner, "session": SESSION, "cwd": sandbox.project, "ui": false}))
        }
        HookClient::Codex => {
            let mut payload = claude_code_payload(event, sandbox)?;
            payload["turn_id"] = json!("1");
            payload["model"] = json!("none");
            Some(payload)
        }
        HookClient::ClaudeCode => claude_code_payload(event, sandbox),
        _ => None,
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

fn merge_objects(mut all: Value, more: Value) -> Value {
    if let (Value::Object(all), Value::Object(more)) = (&mut all, more) {
        all.extend(more);
    }
    all
}

/// Content of a valid answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbedReply {
    /// Nothing, the usual case.
    Nothing,
    /// Some output, with or without the sandbox's rule.
    Said { rule: bool },
}

/// Parses an answer; an error says what the client would not understand.
fn parse_reply(
    client: HookClient,
    event: &str,
    stdout: &[u8],
) -> Result<ProbedReply, &'static str> {
    let text = str::from_utf8(stdout).map_err(|_| "its output is not UTF-8")?.trim();
    if text.is_empty() {
        return Ok(ProbedReply::Nothing);
    }
    let answer: Value = serde_json::from_str(text).map_err(|_| "its output is not JSON")?;
    if !answer.is_object() {
        return Err("its output is not a JSON object");
    }
    let context = match client {
        HookClient::Pi => answer.get("context"),
        _ => {
            let own = answer.get("hookSpecificOutput");
            if own.is_some_and(|own| own.get("hookEventName").is_none_or(|name| name != event)) {
                return Err("its output is for another event");
            }
            own.and_then(|own| own.get("additionalContext"))
        }
    };
    let rule = context.and_then(Value::as_str).is_some_and(|text| text.contains(RULE));
    Ok(ProbedReply::Said { rule })
}
