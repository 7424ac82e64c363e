//! `recoup cache clear`.

use clap::Args;
use recoup_core::Error;
use recoup_core::key::Scope;

use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Forget everything in this scope.
#[derive(Debug, Args)]
pub(super) struct ClearArgs {
    /// Do not ask; needed where there is no terminal to ask on
    #[arg(long, short)]
    yes: bool,
}

impl ClearArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let scope = app.scope();
        if !self.yes && !ui::can_ask() {
            let remedy = if scope == Scope::project(app.settings.project.id()) {
                "`recoup cache clear --yes` deletes everything of this project".to_owned()
            } else {
                format!("`recoup cache clear --scope {scope} --yes` deletes everything in {scope}")
            };
            let message = "nothing was deleted: there is no terminal to ask on";
            return Err(Error::usage(format!("{message}; {remedy}")).into());
        }
        if !self.yes && !ui::confirm(format_args!("Forget everything in {scope}?")) {
            ui::say("Nothing was changed.");
            return Ok(CommandAnswer::No);
        }
        let removed = app.cache().clear(&scope)?;
        let entries = if removed == 1 { "entry" } else { "entries" };
        ui::say(format_args!("Removed {removed} {entries} from {scope}"));
        Ok(CommandAnswer::Yes)
    }
}
