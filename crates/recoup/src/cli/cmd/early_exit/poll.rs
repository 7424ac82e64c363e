//! `recoup early-exit poll`.

use std::time::Duration;

use clap::Args;
use recoup_core::Result;
use serde::Serialize;

use super::named::SessionNameArgs;
use super::read_winner;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Wait for the winner's result, and print it.
#[derive(Debug, Args)]
pub(super) struct PollArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// How long to wait, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    timeout: u64,
    /// With the winner's name, as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct PollTimeoutReport<'a> {
    error: &'a str,
    session_id: &'a str,
    timeout_ms: u64,
}

impl PollArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let session = self.session.name()?;
        let within = Duration::from_millis(self.timeout);
        if let Some(found) = app()?.early_exit()?.poll(&session, within)? {
            read_winner::print_result(&session, found, self.json)?;
            return Ok(CommandAnswer::Yes);
        }
        ui::say("Timeout waiting for winner");
        if self.json {
            let (error, session_id) = ("timeout", session.as_str());
            ui::json(&PollTimeoutReport { error, session_id, timeout_ms: self.timeout })?;
        }
        Ok(CommandAnswer::No)
    }
}
