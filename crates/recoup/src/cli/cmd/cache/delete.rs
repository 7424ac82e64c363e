//! `recoup cache delete`.

use clap::Args;
use recoup_core::key::EntryId;

use super::find;
use super::named::ResultSelectorArgs;
use crate::cli::app::AppContext;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Forget one result; exit 1 if there is none.
#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    named: ResultSelectorArgs,
}

impl DeleteArgs {
    pub(super) fn run(self, app: &AppContext) -> CommandResult {
        let cache = app.cache();
        let key = find::expand_key(app, &cache, self.named.resolve()?.key)?;
        let id = EntryId::new(app.scope(), key);
        let was_there = cache.remove(&id)?;
        let done = if was_there { "Deleted" } else { "No" };
        ui::say(format_args!("{done} entry for key: {}", id.key));
        Ok(if was_there { CommandAnswer::Yes } else { CommandAnswer::No })
    }
}
