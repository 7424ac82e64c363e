//! `recoup early-exit check`: called between any two steps of work, so it must cost no more than
//! starting a process.

use clap::Args;
use recoup_core::{ErrorKind, Result};
use serde::Serialize;

use super::named::SessionNameArgs;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, failure, ui};

/// Ask whether to go on: exit 0 go on, 1 somebody has won.
#[derive(Debug, Args)]
pub(super) struct SessionCheckArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// Say it as JSON
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
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
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
