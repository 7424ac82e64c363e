//! `recoup config env`: the table of environment variables.

use clap::Args;
use serde::Serialize;

use crate::cli::{CommandAnswer, CommandResult, ui};
use crate::config::VARIABLES;

/// List every environment variable that is read, and what it means.
#[derive(Debug, Args)]
pub(super) struct EnvArgs {
    /// As a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DescribedVariable {
    variable: &'static str,
    meaning: &'static str,
}

impl EnvArgs {
    pub(super) fn run(self) -> CommandResult {
        if self.json {
            let described =
                VARIABLES.map(|var| DescribedVariable { variable: var.name, meaning: var.meaning });
            ui::json(&described.as_slice())?;
        } else {
            let rows = VARIABLES.map(|var| vec![var.name.to_owned(), var.meaning.to_owned()]);
            ui::table(&["VARIABLE", "MEANING"], &rows)?;
        }
        Ok(CommandAnswer::Yes)
    }
}
