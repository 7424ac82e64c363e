//! `recoup early-exit register`, `write-result` and `cleanup`.

use clap::Args;
use recoup_core::Result;

use super::named::{self, SessionNameArgs};
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Note that an agent takes part.
#[derive(Debug, Args)]
pub(super) struct RegisterArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent that takes part
    #[arg(value_name = "AGENT")]
    agent: String,
}

impl RegisterArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let (session, agent) = (self.session.name()?, named::parse_agent(&self.agent)?);
        app()?.early_exit_for_writing()?.register(&session, &agent)?;
        ui::say(format_args!("Registered agent: {agent} in session: {session}"));
        Ok(CommandAnswer::Yes)
    }
}

/// Keep an agent's result, from a file or stdin.
#[derive(Debug, Args)]
pub(super) struct WriteResultArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent whose result it is
    #[arg(value_name = "AGENT")]
    agent: String,
    /// The file that holds it [default: stdin]
    #[arg(value_name = "FILE", default_value = "-", hide_default_value = true)]
    file: String,
}

impl WriteResultArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let (session, agent) = (self.session.name()?, named::parse_agent(&self.agent)?);
        let result = input::file_or_stdin("write-result", &self.file)?;
        let other = app()?.early_exit_for_writing()?.write_result(&session, &agent, &result)?;
        ui::say(format_args!("Result written for agent: {agent}"));
        if let Some(winner) = other {
            ui::say_dimmed(format_args!("the winner of this session is {winner}"));
        }
        Ok(CommandAnswer::Yes)
    }
}

/// Forget a session.
#[derive(Debug, Args)]
pub(super) struct SessionCleanupArgs {
    #[command(flatten)]
    session: SessionNameArgs,
}

impl SessionCleanupArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let session = self.session.name()?;
        if app()?.early_exit()?.remove(&session)? {
            ui::say(format_args!("Cleaned up session: {session}"));
        } else {
            ui::say(format_args!("Session not found (already clean): {session}"));
        }
        Ok(CommandAnswer::Yes)
    }
}
