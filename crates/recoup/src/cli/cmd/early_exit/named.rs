//! Names on the command line, checked before anything is looked for.

use clap::Args;
use recoup_core::Result;
use recoup_core::base::name::Name;

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
