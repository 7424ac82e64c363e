//! `recoup cache delete`.

use clap::Args;
use recoup_core::key::Id;

use super::named::NamedArgs;
use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Forget one result; that it was not there is no failure.
#[derive(Debug, Args)]
pub(super) struct DeleteArgs {
    #[command(flatten)]
    named: NamedArgs,
}

impl DeleteArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let id = Id::new(app.scope(), self.named.resolve()?.key);
        let done = if app.cache().remove(&id)? { "Deleted" } else { "No" };
        ui::say(format_args!("{done} entry for key: {}", id.key));
        Ok(Answer::Yes)
    }
}
