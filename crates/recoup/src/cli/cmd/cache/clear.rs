//! `recoup cache clear`.

use clap::Args;

use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Forget everything in this scope.
#[derive(Debug, Args)]
pub(super) struct ClearArgs {
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl ClearArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let scope = app.scope();
        let question = format_args!("Forget everything in {scope}?");
        if !self.yes && !ui::confirm(question) {
            ui::say("Nothing was changed.");
            return Ok(Answer::No);
        }
        let removed = app.cache().clear(&scope)?;
        let entries = if removed == 1 { "entry" } else { "entries" };
        ui::say(format_args!("Removed {removed} {entries} from {scope}"));
        Ok(Answer::Yes)
    }
}
