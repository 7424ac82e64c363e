//! `recoup early-exit status`.

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::Name;
use recoup_core::coord::Status;
use serde::Serialize;

use super::named;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Tell who takes part, who has won and who has a result; or list the sessions.
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// The session [default: a list of all]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Say it as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
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
struct List<'a> {
    sessions: Vec<&'a str>,
}

impl StatusArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> Ended {
        let session = self.session.as_deref().map(named::session).transpose()?;
        let sessions = app()?.early_exit()?;
        match &session {
            Some(session) => self.one(session, sessions.status(session)?.as_ref()),
            None => self.all(&sessions.list()?),
        }
    }

    fn one(&self, session: &Name, status: Option<&Status>) -> Ended {
        let winner = status.and_then(|status| status.winner.as_ref());
        let agents = status.map_or(Vec::new(), |status| texts(&status.agents));
        let results = status.map_or(Vec::new(), |status| texts(&status.results));
        if self.json {
            ui::json(&Report {
                session_id: session.as_str(),
                exists: status.is_none().then_some(false),
                signaled: winner.is_some(),
                winner_agent: winner.map_or("", Name::as_str),
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
                ("agents", listed(&agents)),
                ("results", listed(&results)),
            ])?;
        }
        Ok(Answer::Yes)
    }

    fn all(&self, sessions: &[Name]) -> Ended {
        if self.json {
            ui::json(&List { sessions: texts(sessions) })?;
        } else if sessions.is_empty() {
            ui::say("No sessions");
        } else {
            sessions.iter().try_for_each(ui::line)?;
        }
        Ok(Answer::Yes)
    }
}

fn texts(names: &[Name]) -> Vec<&str> {
    names.iter().map(Name::as_str).collect()
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
