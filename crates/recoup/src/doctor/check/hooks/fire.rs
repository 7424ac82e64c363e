//! Sends a client's recorded events to this program, in a sandbox, and reads the answers.

use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use serde_json::{Value, json};

use crate::clients::{AnswerLayout, HookSpec};
use crate::doctor::probe::{ProbeError, ProbedProcess, sandboxed_command};
use crate::doctor::sandbox::{ProbeSandbox, RULE};

/// Time limit of an event, as `recoup init` sets it. A hook gives up by itself before that.
const LIMIT: Duration = Duration::from_secs(10);

/// Result of sending all events of a client.
#[derive(Debug, Default)]
pub(super) struct HookProbeResult {
    /// Number of events with a correct answer.
    pub(super) sound: usize,
    /// Time of the slowest of them.
    pub(super) slowest: Duration,
    /// The first failure, with its event.
    pub(super) fault: Option<(&'static str, ProbeError)>,
    /// True if the sandbox's rule arrived.
    pub(super) has_rule: bool,
}

/// Sends the events, until one fails.
pub(super) fn fire_events(
    program: &Path,
    hooks: &HookSpec,
    sandbox: &ProbeSandbox,
) -> HookProbeResult {
    let mut fired = HookProbeResult::default();
    for (event, recorded) in hooks.recorded {
        let watch = Stopwatch::start();
        match fire_event(program, hooks, event, recorded, sandbox) {
            Ok(has_rule) => {
                fired.sound += 1;
                fired.slowest = fired.slowest.max(watch.elapsed());
                fired.has_rule |= has_rule;
            }
            Err(fault) => {
                fired.fault = Some((event, fault));
                break;
            }
        }
    }
    fired
}

/// Sends one event; returns true if the answer has the sandbox's rule.
fn fire_event(
    program: &Path,
    hooks: &HookSpec,
    event: &str,
    recorded: &str,
    sandbox: &ProbeSandbox,
) -> Result<bool, ProbeError> {
    let payload = move_payload(recorded, &sandbox.project, hooks).to_string();
    let mut process = ProbedProcess::start(sandboxed_command(program, hooks.args, sandbox))?;
    process.write(payload.as_bytes());
    let stdout = process.finish(Deadline::after(LIMIT))?;
    read_reply(hooks.answer.layout, event, &stdout).map_err(ProbeError::wrong_answer)
}

/// Fields with a session's name: all events are of one session.
const SESSION_FIELDS: [&str; 3] = ["session_id", "sessionId", "session"];

/// Fields with files of that machine: without a transcript, no worker is started.
const FILE_FIELDS: [&str; 4] =
    ["transcript_path", "agent_transcript_path", "file", "CLAUDE_ENV_FILE"];

/// Moves a recorded payload into a project, and into a session of that client's own.
fn move_payload(recorded: &str, project: &Path, hooks: &HookSpec) -> Value {
    let parse = |text: &str| {
        serde_json::from_str::<Value>(text).expect("a test reads every recorded payload")
    };
    let [there, here] = [parse(recorded)["cwd"].to_string(), json!(project).to_string()];
    // As in JSON, without the quotation marks.
    let within = |text: &str| text[1..text.len() - 1].to_owned();
    let mut payload = parse(&recorded.replace(&within(&there), &within(&here)));
    for name in FILE_FIELDS {
        payload.as_object_mut().and_then(|fields| fields.remove(name));
    }
    for name in SESSION_FIELDS {
        if let Some(session) = payload.get_mut(name) {
            *session = format!("recoup-doctor {}", hooks.args.join(" ")).into();
        }
    }
    payload
}

/// Reads an answer: true if it has the sandbox's rule. An error says what the client would not
/// understand.
fn read_reply(layout: AnswerLayout, event: &str, stdout: &[u8]) -> Result<bool, &'static str> {
    let text = str::from_utf8(stdout).map_err(|_| "prints something that is not UTF-8")?.trim();
    if text.is_empty() {
        return Ok(false);
    }
    if layout == AnswerLayout::Text {
        return Ok(text.contains(RULE));
    }
    let answer: Value =
        serde_json::from_str(text).map_err(|_| "prints something that is not JSON")?;
    if !answer.is_object() {
        return Err("prints JSON that is not an object");
    }
    let own = answer.get("hookSpecificOutput");
    if own.is_some_and(|own| own.get("hookEventName").is_none_or(|name| name != event)) {
        return Err("answers another event");
    }
    Ok(text.contains(RULE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::AgentClient;

    #[test]
    fn an_answer_is_nothing_or_an_object_for_that_event() {
        let own = |event: &str, text: &str| {
            let own = json!({"hookEventName": event, "additionalContext": text});
            json!({ "hookSpecificOutput": own }).to_string()
        };
        let nested = AnswerLayout::Nested;
        let read = |text: &str| read_reply(nested, "Stop", text.as_bytes());
        assert_eq!(read("\n"), Ok(false));
        assert_eq!(read(&own("Stop", "x")), Ok(false));
        assert_eq!(read(&own("Stop", RULE)), Ok(true));
        assert_eq!(read(&json!({ "context": RULE }).to_string()), Ok(true));
        assert_eq!(read("welcome to recoup"), Err("prints something that is not JSON"));
        assert_eq!(read_reply(AnswerLayout::Text, "Stop", RULE.as_bytes()), Ok(true));
        assert_eq!(read("[]"), Err("prints JSON that is not an object"));
        assert_eq!(read(&own("SessionStart", "x")), Err("answers another event"));
        assert_eq!(read_reply(nested, "Stop", b"\xff"), Err("prints something that is not UTF-8"));
    }

    #[test]
    fn a_recorded_payload_leaves_its_machine_behind() {
        for hooks in AgentClient::ALL.iter().filter_map(|client| client.spec().hooks.as_ref()) {
            for (event, recorded) in hooks.recorded {
                let moved = move_payload(recorded, Path::new("/tmp/a \"b\""), hooks);
                assert_eq!(moved["cwd"], "/tmp/a \"b\"", "{event}");
                let text = moved.to_string();
                assert!(!text.contains("/home/") && text.contains("recoup-doctor"), "{text}");
            }
        }
    }
}
