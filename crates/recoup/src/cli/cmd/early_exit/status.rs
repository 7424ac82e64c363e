//! `recoup early-exit status`.

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::SafeName;
use recoup_core::early_exit::SessionStatus;
use serde::Serialize;

use super::named;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Tell who takes part, who has won and who has a result; or list the sessions.
#[derive(Debug, Args)]
pub(super) struct SessionStatusArgs {
    /// The session [default: a list of all]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct SessionStatusReport<'a> {
    session_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    exists: Option<bool>,
    signaled: bool,
    /// Empty while nobody has won.
    winner_agent: &'a str,
    registered_agents: Vec<&'a str>,
    results: Vec<&'a str>,
}

#[derive(Serialize)]
struct SessionListReport<'a> {
    sessions: Vec<&'a str>,
}

impl SessionStatusArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let session = self.session.as_deref().map(named::parse_session).transpose()?;
        let sessions = app()?.early_exit()?;
        match &session {
            Some(session) => self.show_session(session, sessions.status(session)?.as_ref()),
            None => self.list_sessions(&sessions.list()?),
        }
    }

    fn show_session(&self, session: &SafeName, status: Option<&SessionStatus>) -> CommandResult {
        let winner = status.and_then(|status| status.winner.as_ref());
        let agents = status.map_or(Vec::new(), |status| name_strs(&status.agents));
        let results = status.map_or(Vec::new(), |status| name_strs(&status.results));
        if self.json {
            ui::json(&SessionStatusReport {
                session_id: session.as_str(),
                exists: status.is_none().then_some(false),
                signaled: winner.is_some(),
                winner_agent: winner.map_or("", SafeName::as_str),
                registered_agents: agents,
                results,
            })?;
        } else if status.is_none() {
            ui::say(format_args!("Session not found: {session}"));
        } else {
            let state =
                winner.map_or("active".to_owned(), |winner| format!("signaled by {winner}"));
            ui::fields(&[
                ("session", session.to_string()),
                ("status", state),
                ("agents", join_or_none(&agents)),
                ("results", join_or_none(&results)),
            ])?;
        }
        Ok(CommandAnswer::Yes)
    }

    fn list_sessions(&self, sessions: &[SafeName]) -> CommandResult {
        if self.json {
            ui::json(&SessionListReport { sessions: name_strs(sessions) })?;
        } else if sessions.is_empty() {
            ui::say("No sessions");
        } else {
            sessions.iter().try_for_each(ui::line)?;
        }
        Ok(CommandAnswer::Yes)
    }
}

fn name_strs(names: &[SafeName]) -> Vec<&str> {
    names.iter().map(SafeName::as_str).collect()
}

fn join_or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
