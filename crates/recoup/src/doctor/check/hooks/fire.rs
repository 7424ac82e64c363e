//! Fires events through each command exactly as its client would, in a sandbox.

use std::time::Duration;

use recoup_core::memory::hooked::{HookClient, RecoupCall};

use super::payload::{self, payload};
use super::reply::{self, ProbedReply};
use crate::doctor::DoctorContext;
use crate::doctor::client_program::permitted_call;
use crate::doctor::probe::{self, ProbeError};
use crate::doctor::sandbox::ProbeSandbox;
use crate::doctor::skip_reason::ProbeSkipReason;
use crate::install::{ClientInstallation, HookCommand};

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

    pub(super) fn describe(&self) -> String {
        match self {
            Self::NotStarted(why) => format!("it can't be started: {why}"),
            Self::TooLate(limit) => format!("no end within {} s", limit.as_secs()),
            Self::Ended(Some(code)) => format!("it exits with {code}, not with 0"),
            Self::Ended(None) => "it is ended by a signal".to_owned(),
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
        for event in events_of_hook(hook) {
            let Some(told) = payload(client, &event, sandbox) else { continue };
            let limit =
                Duration::from_secs(hook.timeout.unwrap_or(DEFAULT_TIMEOUT_SECS).max(1)).min(MOST);
            match fire_event(
                client,
                &event,
                &call,
                told.to_string().as_bytes(),
                limit,
                sandbox,
                context,
            ) {
                Ok((reply, took)) => {
                    fired.sound += 1;
                    fired.slowest = fired.slowest.max(took);
                    if event == reply::rules_event(client) {
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

fn events_of_hook(hook: &HookCommand) -> Vec<String> {
    match &hook.event {
        Some(event) => vec![event.clone()],
        None => payload::PI_EVENTS.map(str::to_owned).to_vec(),
    }
}

fn fire_event(
    client: HookClient,
    event: &str,
    call: &RecoupCall,
    told: &[u8],
    limit: Duration,
    sandbox: &ProbeSandbox,
    context: &DoctorContext,
) -> Result<(ProbedReply, Duration), HookProbeError> {
    let mut command = probe::sandboxed_command(call, sandbox, context);
    if client == HookClient::ClaudeCode {
        command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    }
    let ran = probe::run_to_end(command, told, limit).map_err(|failed| match failed {
        ProbeError::NotStarted(error) => HookProbeError::NotStarted(error.to_string()),
        ProbeError::TooLate => HookProbeError::TooLate(limit),
    })?;
    if ran.code != Some(0) {
        return Err(HookProbeError::Ended(ran.code));
    }
    let reply = reply::parse_reply(client, event, &ran.stdout).map_err(HookProbeError::Reply)?;
    Ok((reply, ran.took))
}
