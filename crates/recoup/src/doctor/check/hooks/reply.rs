//! Parses the output of a hook as its client would.

use recoup_core::memory::hooked::HookClient;
use serde_json::Value;

use crate::doctor::sandbox::RULE;

/// Content of a valid answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbedReply {
    /// Nothing, the usual case.
    Nothing,
    /// Some output, with or without the sandbox's rule.
    Said { rule: bool },
}

/// Parses an answer; an error says what the client would not understand.
pub(super) fn parse_reply(
    client: HookClient,
    event: &str,
    stdout: &[u8],
) -> Result<ProbedReply, &'static str> {
    let text = str::from_utf8(stdout).map_err(|_| "its answer is not UTF-8")?.trim();
    if text.is_empty() {
        return Ok(ProbedReply::Nothing);
    }
    let answer: Value = serde_json::from_str(text).map_err(|_| "its answer is no JSON")?;
    if !answer.is_object() {
        return Err("its answer is no JSON object");
    }
    let context = match client {
        HookClient::Pi => answer.get("context"),
        HookClient::ClaudeCode | HookClient::Codex => {
            let own = answer.get("hookSpecificOutput");
            if own.is_some_and(|own| own.get("hookEventName").is_none_or(|name| name != event)) {
                return Err("its answer is for another event");
            }
            own.and_then(|own| own.get("additionalContext"))
        }
    };
    let rule = context.and_then(Value::as_str).is_some_and(|text| text.contains(RULE));
    Ok(ProbedReply::Said { rule })
}

/// The event at which a client's agents are given their rules.
pub(super) fn rules_event(client: HookClient) -> &'static str {
    match client {
        HookClient::Pi => "before_agent_start",
        HookClient::ClaudeCode | HookClient::Codex => "SessionStart",
    }
}
