//! `recoup cache delete`.

use clap::Args;
use recoup_core::key::Id;

use super::find;
use super::named::NamedArgs;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Forget one result; exit 1 if there is none.
#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    named: NamedArgs,
}

impl DeleteArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let cache = app.cache();
        let key = find::whole_key(app, &cache, self.named.resolve()?.key)?;
        let id = Id::new(app.scope(), key);
        let was_there = cache.remove(&id)?;
        let done = if was_there { "Deleted" } else { "No" };
        ui::say(format_args!("{done} entry for key: {}", id.key));
        Ok(if was_there { Answer::Yes } else { Answer::No })
    }
}
