//! `recoup key result`, which `recoup cache generate-key` is another name of.

use clap::Args;
use recoup_core::key::Recipe as _;
use recoup_core::key::result::ResultRecipe;

use crate::cli::{Answer, Ended, ui};

/// Print the key of a result: 64 hex digits.
#[derive(Debug, Args)]
pub(in crate::cli) struct ResultArgs {
    /// What is looked at, separated by commas; order and repetition do not matter
    #[arg(long, value_name = "CSV", allow_hyphen_values = true)]
    paths: String,
    /// What is asked; case and white space do not matter
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    query: String,
    /// The skill or operation that answers
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    operation: String,
}

impl ResultArgs {
    pub(in crate::cli) fn run(&self) -> Ended {
        let key = ResultRecipe::new(&self.paths, &self.query, &self.operation).key()?;
        ui::line(key)?;
        Ok(Answer::Yes)
    }
}
