//! `recoup early-exit check`, `signal`, `register`, `write-result` and `cleanup`: the steps of an
//! agent in a session. `check` is called between any two steps of work, so it must cost no more than
//! starting a process.

use clap::Args;
use recoup_core::base::name::SafeName;
use recoup_core::base::ttl::Ttl;
use recoup_core::early_exit::{DEFAULT_LEASE, ElectionBid, ElectionOutcome, UNKNOWN_AGENT};
use recoup_core::{Error, ErrorKind, Result};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, failure, input, ui};

/// `SESSION`
#[derive(Debug, Args)]
pub(super) struct SessionNameArgs {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionNameArgs {
    pub(super) fn name(&self) -> Result<SafeName> {
        parse_session(&self.session)
    }
}

#[derive(Debug, Args)]
pub(super) struct SessionCheckArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct SessionCheckReport<'a> {
    signaled: bool,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner_agent: Option<&'a str>,
}

impl SessionCheckArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let session = self.session.name()?;
        let found = app()?.early_exit().and_then(|sessions| sessions.winner(&session));
        let winner = match found {
            Ok(winner) => winner,
            Err(error) if error.kind() == ErrorKind::Usage => return Err(error.into()),
            // Exit 1 would stop every agent: an unreachable store counts as no signal.
            Err(error) => {
                failure::warn(&error);
                None
            }
        };
        if self.json {
            ui::json(&SessionCheckReport {
                signaled: winner.is_some(),
                session_id: session.as_str(),
                winner_agent: winner.as_ref().map(|winner| winner.agent.as_str()),
            })?;
        }
        Ok(if winner.is_some() { CommandAnswer::No } else { CommandAnswer::Yes })
    }
}

#[derive(Debug, Args)]
pub(super) struct SignalArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent that signals
    #[arg(value_name = "AGENT", default_value = UNKNOWN_AGENT)]
    agent: String,
    /// The result, from a file or stdin: it is available as soon as the agent wins
    #[arg(long, value_name = "FILE|-")]
    result: Option<String>,
    /// Without --result: how long the winner may take to deliver it before another agent can win
    /// [default: 10m]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    lease: Option<String>,
}

impl SignalArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let (session, agent) = (self.session.name()?, parse_agent(&self.agent)?);
        let usual = u64::try_from(DEFAULT_LEASE.as_millis()).ok().and_then(Ttl::from_millis);
        let lease = input::duration("--lease", self.lease.as_deref())?.or(usual);
        let lease = lease.and_then(Ttl::as_millis);
        if lease == Some(0) {
            return Err(Error::usage(
                "invalid --lease: expected a duration such as 10m, or forever",
            )
            .into());
        }
        let result = self.result.as_deref().map(input::file_or_stdin);
        let result = result.transpose()?;
        let bid = ElectionBid { agent: &agent, lease, result: result.as_deref() };
        match app()?.early_exit_for_writing()?.signal(&session, bid)? {
            ElectionOutcome::Won => {
                ui::say(format_args!("Early-exit signaled by {agent}"));
                Ok(CommandAnswer::Yes)
            }
            ElectionOutcome::Lost(winner) => {
                ui::say(format_args!("Early-exit already signaled by {winner}"));
                Ok(CommandAnswer::No)
            }
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct RegisterArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent to register
    #[arg(value_name = "AGENT")]
    agent: String,
}

impl RegisterArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let (session, agent) = (self.session.name()?, parse_agent(&self.agent)?);
        app()?.early_exit_for_writing()?.register(&session, &agent)?;
        ui::say(format_args!("Registered agent: {agent} in session: {session}"));
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
pub(super) struct WriteResultArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent whose result it is
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The file with the result [default: stdin]
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: String,
}

impl WriteResultArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let (session, agent) = (self.session.name()?, parse_agent(&self.agent)?);
        let result = input::file_or_stdin(&self.file)?;
        let other = app()?.early_exit_for_writing()?.write_result(&session, &agent, &result)?;
        ui::say(format_args!("Result written for agent: {agent}"));
        if let Some(winner) = other {
            ui::say_dimmed(format_args!("the winner of this session is {winner}"));
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Debug, Args)]
pub(super) struct SessionCleanupArgs {
    #[command(flatten)]
    session: SessionNameArgs,
}

impl SessionCleanupArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let session = self.session.name()?;
        if app()?.early_exit()?.remove(&session)? {
            ui::say(format_args!("Cleaned up session: {session}"));
        } else {
            ui::say(format_args!("Session not found (already clean): {session}"));
        }
        Ok(CommandAnswer::Yes)
    }
}

pub(super) fn parse_session(text: &str) -> Result<SafeName> {
    SafeName::parse("session", text)
}

fn parse_agent(text: &str) -> Result<SafeName> {
    SafeName::parse("agent", text)
}
