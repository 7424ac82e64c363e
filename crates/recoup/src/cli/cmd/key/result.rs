//! `recoup key result`, also available as `recoup cache generate-key`.

use clap::Args;
use recoup_core::key::KeyRecipe as _;
use recoup_core::key::result::ResultRecipe;

use crate::cli::{CommandAnswer, CommandResult, ui};

/// Print the key of a result: 64 hex digits.
#[derive(Debug, Args)]
pub(in crate::cli) struct ResultArgs {
    /// The paths to look at, separated by commas; order and repetition do not matter
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: String,
    /// The question; case and white space do not matter
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: String,
    /// The skill or operation that answers
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: String,
}

impl ResultArgs {
    pub(in crate::cli) fn run(&self) -> CommandResult {
        let key = ResultRecipe::new(&self.paths, &self.query, &self.operation).key()?;
        ui::line(key)?;
        Ok(CommandAnswer::Yes)
    }
}
