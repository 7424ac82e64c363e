//! Parsers for session names, agent names and durations on the command line.

use std::time::Duration;

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::SafeName;
use recoup_core::base::ttl::Ttl;

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

pub(super) fn parse_session(text: &str) -> Result<SafeName> {
    SafeName::parse("session", text)
}

pub(super) fn parse_agent(text: &str) -> Result<SafeName> {
    SafeName::parse("agent", text)
}

/// Parses a duration; `None` means no limit.
pub(super) fn parse_duration(
    flag: &str,
    given: Option<&str>,
    else_: Ttl,
) -> Result<Option<Duration>> {
    let time = given.map_or(Ok(else_), |given| Ttl::parse_with_unit(flag, given))?;
    Ok(time.as_millis().map(Duration::from_millis))
}
