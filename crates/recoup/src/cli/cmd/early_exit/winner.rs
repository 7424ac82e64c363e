//! `recoup early-exit read-winner`, `poll` and `status`: who has won a session, and with which result.

use std::time::Duration;

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::SafeName;
use recoup_core::base::ttl::Ttl;
use recoup_core::condense::indented;
use recoup_core::early_exit::WinnerAnswer;
use serde::Serialize;
use serde_json::value::RawValue;

use super::sessions::{SessionNameArgs, parse_session};
use crate::cli::app::App;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct ReadWinnerArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// As JSON, with the winner's name; a result that is not JSON becomes a string
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct WinnerReport<'a> {
    session_id: &'a str,
    winner_agent: &'a str,
    result: Box<RawValue>,
}

impl ReadWinnerArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let session = self.session.name()?;
        let Some(found) = app()?.early_exit()?.answer(&session)? else {
            ui::say(format_args!("No winner in session: {session}"));
            return Ok(CommandAnswer::No);
        };
        if found.result.is_some() {
            print_result(&session, found, self.json)?;
            return Ok(CommandAnswer::Yes);
        }
        ui::say(format_args!("Winner ({}) has no result yet", found.agent));
        if self.json {
            print_result(&session, found, true)?;
        }
        Ok(CommandAnswer::No)
    }
}

#[derive(Debug, Args)]
pub(super) struct PollArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// How long to wait: 90s, 10m, forever, or a number of milliseconds
    #[arg(long, value_name = "DURATION", default_value = "30s", allow_hyphen_values = true)]
    timeout: String,
    /// As JSON, with the winner's name
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
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let session = self.session.name()?;
        let timeout_ms = Ttl::parse("--timeout", &self.timeout)?.as_millis().unwrap_or(u64::MAX);
        let within = Duration::from_millis(timeout_ms);
        if let Some(found) = app()?.early_exit()?.poll(&session, within)? {
            print_result(&session, found, self.json)?;
            return Ok(CommandAnswer::Yes);
        }
        ui::say("Timeout waiting for winner");
        if self.json {
            let (error, session_id) = ("timeout", session.as_str());
            ui::json(&PollTimeoutReport { error, session_id, timeout_ms })?;
        }
        Ok(CommandAnswer::No)
    }
}

/// Prints the raw result with a final newline, or everything as JSON.
fn print_result(session: &SafeName, found: WinnerAnswer, json: bool) -> Result<(), CommandError> {
    let WinnerAnswer { agent, result, .. } = found;
    if json {
        // Embedded as raw JSON: numbers and the order of fields are unchanged.
        let text = String::from_utf8_lossy(result.as_deref().unwrap_or(b"null"));
        let result = indented(&text, 1).and_then(|json| RawValue::from_string(json).ok());
        let result = result.unwrap_or_else(|| {
            serde_json::value::to_raw_value(&text).expect("a string always serializes")
        });
        return ui::json(&WinnerReport {
            session_id: session.as_str(),
            winner_agent: agent.as_str(),
            result,
        });
    }
    let result = result.unwrap_or_default();
    let newline: &[u8] = if result.ends_with(b"\n") { b"" } else { b"\n" };
    ui::data(&[&result, newline])
}

#[derive(Debug, Args)]
pub(super) struct SessionStatusArgs {
    /// The session [default: list all sessions]
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// As JSON
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
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static App>) -> CommandResult {
        let session = self.session.as_deref().map(parse_session).transpose()?;
        let sessions = app()?.early_exit()?;
        let Some(session) = session else {
            let sessions = sessions.list()?;
            if self.json {
                ui::json(&SessionListReport { sessions: name_strs(&sessions) })?;
            } else if sessions.is_empty() {
                ui::say("No sessions");
            } else {
                sessions.iter().try_for_each(ui::line)?;
            }
            return Ok(CommandAnswer::Yes);
        };
        let status = sessions.status(&session)?;
        let status = status.as_ref();
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
}

fn name_strs(names: &[SafeName]) -> Vec<&str> {
    names.iter().map(SafeName::as_str).collect()
}

fn join_or_none(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
