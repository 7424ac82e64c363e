//! `recoup early-exit check`: called between any two steps of work, so it must cost no more than
//! starting a process.

use clap::Args;
use recoup_core::{ErrorKind, Result};
use serde::Serialize;

use super::named::SessionArg;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, failure, ui};

/// Ask whether to go on: exit 0 go on, 1 somebody has won.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    signaled: bool,
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner_agent: Option<&'a str>,
}

impl CheckArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> Ended {
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
            ui::json(&Report {
                signaled: winner.is_some(),
                session_id: session.as_str(),
                winner_agent: winner.as_ref().map(|winner| winner.agent.as_str()),
            })?;
        }
        Ok(if winner.is_some() { Answer::No } else { Answer::Yes })
    }
}
