//! Names and times on the command line, checked before anything is looked for.

use std::time::Duration;

use clap::Args;
use recoup_core::base::name::Name;
use recoup_core::base::ttl::Ttl;
use recoup_core::{Error, Result};

/// `SESSION`
#[derive(Debug, Args)]
pub(super) struct SessionArg {
    /// The session
    #[arg(value_name = "SESSION")]
    session: String,
}

impl SessionArg {
    pub(super) fn name(&self) -> Result<Name> {
        session(&self.session)
    }
}

pub(super) fn session(text: &str) -> Result<Name> {
    Name::parse("session", text)
}

pub(super) fn agent(text: &str) -> Result<Name> {
    Name::parse("agent", text)
}

/// How long something may take; none is for ever. A number without a unit could be
/// seconds or milliseconds, so it is refused.
pub(super) fn duration(flag: &str, given: Option<&str>, else_: Ttl) -> Result<Option<Duration>> {
    let time = given.map_or(Ok(else_), |given| {
        let is_number = given.trim().parse::<f64>().is_ok_and(|number| number != 0.0);
        let parsed = if is_number { None } else { Ttl::parse(flag, given).ok() };
        parsed.ok_or_else(|| {
            let given = serde_json::Value::from(given);
            Error::usage(format!(
                "{flag}: expected a number with a unit, such as 500ms, 90s or 10m, or forever \
                 (got {given})"
            ))
        })
    })?;
    Ok(time.as_millis().map(Duration::from_millis))
}
