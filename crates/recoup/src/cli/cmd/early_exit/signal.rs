//! `recoup early-exit signal`.

use clap::Args;
use recoup_core::base::ttl::Ttl;
use recoup_core::early_exit::{DEFAULT_LEASE, ElectionBid, ElectionOutcome, UNKNOWN_AGENT};
use recoup_core::{Error, Result};

use super::named::{self, SessionNameArgs};
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, input, ui};

/// Win, unless somebody has: exit 0 won, 1 lost.
#[derive(Debug, Args)]
pub(super) struct SignalArgs {
    #[command(flatten)]
    session: SessionNameArgs,
    /// The agent that signals
    #[arg(value_name = "AGENT", default_value = UNKNOWN_AGENT)]
    agent: String,
    /// The result, from a file or stdin: it is there from the moment on in which the winner is
    #[arg(long, value_name = "FILE|-")]
    result: Option<String>,
    /// How long the winner may take for its result, if that is not given; then another may win
    /// [default: 10m]
    #[arg(long, value_name = "DURATION", allow_hyphen_values = true)]
    lease: Option<String>,
}

impl SignalArgs {
    pub(super) fn run(self, app: impl FnOnce() -> Result<&'static AppContext>) -> CommandResult {
        let (session, agent) = (self.session.name()?, named::parse_agent(&self.agent)?);
        let lease = parse_lease(self.lease.as_deref())?;
        let result = self.result.as_deref().map(|given| input::file_or_stdin("--result", given));
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

/// Parses `--lease` into milliseconds; `None` means no limit.
fn parse_lease(given: Option<&str>) -> Result<Option<u64>> {
    let usual = u64::try_from(DEFAULT_LEASE.as_millis()).ok().and_then(Ttl::from_millis);
    let lease = named::parse_duration("--lease", given, usual.unwrap_or(Ttl::Forever))?;
    if lease.is_some_and(|lease| lease.is_zero()) {
        return Err(Error::usage(
            "--lease: nobody wins for no time at all; give a duration such as 10m, or forever",
        ));
    }
    Ok(lease.map(|lease| u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)))
}
