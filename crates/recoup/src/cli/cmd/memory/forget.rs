//! `recoup memory forget`.

use clap::Args;
use recoup_core::memory::NoteId;

use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};

/// Remove it for good.
#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    /// The ids of what is to be forgotten
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl ForgetArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let ids = self.ids.iter().map(|id| NoteId::parse(id)).collect::<Result<Vec<_>, _>>()?;
        let many = if ids.len() == 1 { "this memory" } else { "these memories" };
        if !self.yes && !ui::confirm(format_args!("Forget {many} for good?")) {
            return Ok(Answer::No);
        }
        let forgotten = app.memory_for_writing()?.forget(&ids)?;
        for note in &forgotten.notes {
            ui::say(format_args!("Forgotten: {}", note.id));
        }
        for copy in &forgotten.copies {
            ui::say(format_args!("Also in the copy {}", copy.display()));
        }
        for place in &forgotten.unreached {
            ui::warn(format_args!(
                "{} may still have it: it was set aside because it is damaged; delete it if you do not need it",
                place.display()
            ));
        }
        Ok(Answer::Yes)
    }
}
