//! Sends a client's recorded events to this program, in a sandbox, and reads the answers.

use std::path::Path;
use std::time::Duration;

use recoup_core::base::clock::{Deadline, Stopwatch};
use serde_json::{Value, json};

use crate::clients::HookSpec;
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
    pub(super) fault: Option<(&'static str, HookProbeError)>,
    /// True if the sandbox's rule arrived.
    pub(super) has_rule: bool,
}

/// Failure of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HookProbeError {
    NotStarted(String),
    TooLate,
    Ended(Option<i32>),
    Reply(&'static str),
}

impl HookProbeError {
    /// Stable identifier of the failure.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not-started",
            Self::TooLate => "too-late",
            Self::Ended(_) => "wrong-exit",
            Self::Reply(_) => "wrong-answer",
        }
    }

    pub(super) fn describe(&self) -> String {
        match self {
            Self::NotStarted(why) => format!("it can't be started: {why}"),
            Self::TooLate => format!("it did not finish within {} s", LIMIT.as_secs()),
            Self::Ended(Some(code)) => format!("it exits with {code} instead of 0"),
            Self::Ended(None) => "it was killed by a signal".to_owned(),
            Self::Reply(why) => (*why).to_owned(),
        }
    }
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
        match fire_event(program, hooks.args, event, recorded, sandbox) {
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
    args: &[&str],
    event: &str,
    recorded: &str,
    sandbox: &ProbeSandbox,
) -> Result<bool, HookProbeError> {
    let failed = |error| match error {
        ProbeError::NotStarted(error) => HookProbeError::NotStarted(error.to_string()),
        ProbeError::TooLate => HookProbeError::TooLate,
    };
    let payload = move_payload(recorded, &sandbox.project).to_string();
    let mut process =
        ProbedProcess::start(sandboxed_command(program, args, sandbox)).map_err(failed)?;
    process.write(payload.as_bytes());
    let (code, stdout) = process.finish(Deadline::after(LIMIT)).map_err(failed)?;
    if code != Some(0) {
        return Err(HookProbeError::Ended(code));
    }
    read_reply(event, &stdout).map_err(HookProbeError::Reply)
}

/// Fields with a session's name: all events are of one session.
const SESSION_FIELDS: [&str; 3] = ["session_id", "sessionId", "session"];

/// Fields with a transcript: without one, no worker is started.
const TRANSCRIPT_FIELDS: [&str; 3] = ["transcript_path", "agent_transcript_path", "file"];

/// Moves a recorded payload into a project.
fn move_payload(recorded: &str, project: &Path) -> Value {
    let parse = |text: &str| {
        serde_json::from_str::<Value>(text).expect("a test reads every recorded payload")
    };
    let [there, here] = [parse(recorded)["cwd"].to_string(), json!(project).to_string()];
    // As in JSON, without the quotation marks.
    let within = |text: &str| text[1..text.len() - 1].to_owned();
    let mut payload = parse(&recorded.replace(&within(&there), &within(&here)));
    for name in TRANSCRIPT_FIELDS {
        payload.as_object_mut().and_then(|fields| fields.remove(name));
    }
    for name in SESSION_FIELDS {
        if let Some(session) = payload.get_mut(name) {
            *session = json!("recoup-doctor");
        }
    }
    payload
}

/// Reads an answer: true if it has the sandbox's rule. An error says what the client would not
/// understand.
fn read_reply(event: &str, stdout: &[u8]) -> Result<bool, &'static str> {
    let text = str::from_utf8(stdout).map_err(|_| "its output is not UTF-8")?.trim();
    if text.is_empty() {
        return Ok(false);
    }
    let answer: Value = serde_json::from_str(text).map_err(|_| "its output is not JSON")?;
    if !answer.is_object() {
        return Err("its output is not a JSON object");
    }
    let own = answer.get("hookSpecificOutput");
    if own.is_some_and(|own| own.get("hookEventName").is_none_or(|name| name != event)) {
        return Err("its output is for another event");
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
        let read = |text: &str| read_reply("Stop", text.as_bytes());
        assert_eq!(read("\n"), Ok(false));
        assert_eq!(read(&own("Stop", "x")), Ok(false));
        assert_eq!(read(&own("Stop", RULE)), Ok(true));
        assert_eq!(read(&json!({ "context": RULE }).to_string()), Ok(true));
        assert_eq!(read("welcome to recoup"), Err("its output is not JSON"));
        assert_eq!(read("[]"), Err("its output is not a JSON object"));
        assert_eq!(read(&own("SessionStart", "x")), Err("its output is for another event"));
        assert_eq!(read_reply("Stop", b"\xff"), Err("its output is not UTF-8"));
    }

    #[test]
    fn a_recorded_payload_leaves_its_machine_behind() {
        for hooks in AgentClient::ALL.iter().filter_map(|client| client.spec().hooks.as_ref()) {
            for (event, recorded) in hooks.recorded {
                let moved = move_payload(recorded, Path::new("/tmp/a \"b\""));
                assert_eq!(moved["cwd"], "/tmp/a \"b\"", "{event}");
                let text = moved.to_string();
                assert!(!text.contains("/home/") && text.contains("recoup-doctor"), "{text}");
            }
        }
    }
}
