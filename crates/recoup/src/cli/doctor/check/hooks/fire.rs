//! Fires events through each command exactly as its client would, in a sandbox.

use std::time::Duration;

use recoup_core::memory::hooked::{Call, Client};

use super::payload::{self, payload};
use super::reply::{self, Reply};
use crate::cli::doctor::Around;
use crate::cli::doctor::probe::{self, Failed};
use crate::cli::doctor::sandbox::Sandbox;
use crate::cli::doctor::whom::callable;
use crate::cli::doctor::withheld::Withheld;
use crate::install::{HookCommand, Installation};

/// A client's timeout, in seconds, for a hook that sets none, and our own upper limit.
const UNTOLD: u64 = 60;
const MOST: Duration = Duration::from_secs(30);

/// Result of firing all events of an installation.
#[derive(Debug, Default)]
pub(super) struct Fired {
    /// Number of events with a correct answer.
    pub(super) sound: usize,
    /// Time of the slowest of them.
    pub(super) slowest: Duration,
    /// Failures, with their events.
    pub(super) faults: Vec<(String, Fault)>,
    /// True if the sandbox's rule arrived; none if no event was to deliver it.
    pub(super) rule: Option<bool>,
    /// Reasons for the commands that were not fired.
    pub(super) withheld: Vec<Withheld>,
}

/// Failure of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fault {
    NotStarted(String),
    TooLate(Duration),
    Ended(Option<i32>),
    Reply(&'static str),
}

impl Fault {
    /// Stable identifier of the failure.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::NotStarted(_) => "not-started",
            Self::TooLate(_) => "too-late",
            Self::Ended(_) => "wrong-exit",
            Self::Reply(_) => "wrong-answer",
        }
    }

    pub(super) fn in_words(&self) -> String {
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
pub(super) fn fire(client: Client, of: &Installation, sandbox: &Sandbox, around: &Around) -> Fired {
    let mut fired = Fired::default();
    let mut hanging: Vec<&Call> = Vec::new();
    for hook in &of.hooks {
        // A command that hangs would hang at each event.
        if hanging.contains(&&hook.call) {
            continue;
        }
        let call = match callable(&hook.call, of, around) {
            Ok(call) => call,
            Err(why) => {
                fired.withheld.push(why);
                continue;
            }
        };
        for event in events(hook) {
            let Some(told) = payload(client, &event, sandbox) else { continue };
            let limit = Duration::from_secs(hook.timeout.unwrap_or(UNTOLD).max(1)).min(MOST);
            match one(client, &event, &call, told.to_string().as_bytes(), limit, sandbox, around) {
                Ok((reply, took)) => {
                    fired.sound += 1;
                    fired.slowest = fired.slowest.max(took);
                    if event == reply::gives_rules(client) {
                        fired.rule = Some(reply == Reply::Said { rule: true });
                    }
                }
                Err(fault) => {
                    let stops = matches!(fault, Fault::TooLate(_) | Fault::NotStarted(_));
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

fn events(hook: &HookCommand) -> Vec<String> {
    match &hook.event {
        Some(event) => vec![event.clone()],
        None => payload::OF_PI.map(str::to_owned).to_vec(),
    }
}

fn one(
    client: Client,
    event: &str,
    call: &Call,
    told: &[u8],
    limit: Duration,
    sandbox: &Sandbox,
    around: &Around,
) -> Result<(Reply, Duration), Fault> {
    let mut command = probe::command(call, sandbox, around);
    if client == Client::ClaudeCode {
        command.env("CLAUDE_PROJECT_DIR", &sandbox.project);
    }
    let ran = probe::run(command, told, limit).map_err(|failed| match failed {
        Failed::NotStarted(error) => Fault::NotStarted(error.to_string()),
        Failed::TooLate => Fault::TooLate(limit),
    })?;
    if ran.code != Some(0) {
        return Err(Fault::Ended(ran.code));
    }
    let reply = reply::read(client, event, &ran.stdout).map_err(Fault::Reply)?;
    Ok((reply, ran.took))
}
