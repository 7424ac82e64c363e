//! `recoup early-exit read-winner`, and how a winner's result is shown.

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::SafeName;
use recoup_core::condense::indented;
use recoup_core::early_exit::WinnerAnswer as Found;
use serde::Serialize;
use serde_json::value::RawValue;

use super::named::SessionNameArgs;
use crate::cli::app::AppContext;
use crate::cli::failure::CommandError;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Print the winner's result; exit 1 while there is none.
#[derive(Debug, Args)]
pub(super) struct ReadWinnerArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// With the winner's name, as JSON; a result that is no JSON becomes a string
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
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
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

/// Prints the raw result with a final newline, or everything as JSON.
pub(super) fn print_result(
    session: &SafeName,
    found: Found,
    json: bool,
) -> Result<(), CommandError> {
    let Found { agent, result, .. } = found;
    if json {
        return ui::json(&WinnerReport {
            session_id: session.as_str(),
            winner_agent: agent.as_str(),
            result: embed_json(result.as_deref().unwrap_or(b"null")),
        });
    }
    let result = result.unwrap_or_default();
    let newline: &[u8] = if result.ends_with(b"\n") { b"" } else { b"\n" };
    ui::data(&[&result, newline])
}

/// Embeds a result as raw JSON: numbers and the order of fields are unchanged.
fn embed_json(result: &[u8]) -> Box<RawValue> {
    let text = String::from_utf8_lossy(result);
    let indented = indented(&text, 1).and_then(|json| RawValue::from_string(json).ok());
    indented.unwrap_or_else(|| {
        serde_json::value::to_raw_value(&text).expect("a string always serializes")
    })
}
