//! `recoup memory forget`.

use std::path::PathBuf;

use crate::mirror::INDEX;
use clap::Args;
use recoup_core::Result;
use recoup_core::memory::{ForgetReport, NoteId, team};
use serde::Serialize;

use super::parse_id;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    /// The ids of the memories to forget
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask for confirmation; without a terminal nothing is asked
    #[arg(long, short)]
    yes: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct MemoryForgetReport {
    forgotten: Vec<String>,
    #[serde(serialize_with = "ui::shown_paths")]
    copies: Vec<PathBuf>,
    #[serde(serialize_with = "ui::shown_paths")]
    unreached: Vec<PathBuf>,
}

impl ForgetArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let ids = self.ids.iter().map(|id| parse_id(id)).collect::<Result<Vec<_>, _>>()?;
        if !self.confirm(app, &ids)? {
            return Ok(CommandAnswer::No);
        }
        let forgotten = app.forget(&ids)?;
        if self.json {
            let ids = forgotten.notes.iter().map(|note| note.id.to_string()).collect();
            let ForgetReport { copies, unreached, .. } = forgotten;
            ui::json(&MemoryForgetReport { forgotten: ids, copies, unreached })?;
        } else {
            for note in &forgotten.notes {
                ui::say(format_args!("Forgotten: {}", note.id));
            }
            for copy in &forgotten.copies {
                ui::say(format_args!("Also removed from the copy {}", copy.display()));
            }
            let queue = app.settings.home.join("queue");
            for place in &forgotten.unreached {
                let why = if place.starts_with(&queue) {
                    "a job for the worker could not be read or is in progress; forget the memory again if it comes back"
                } else if place.ends_with(team::FILE) {
                    "the team shares it there; remove it from the file, then run `recoup trust` to drop the copy that you accepted"
                } else if place.to_string_lossy().contains(".damaged-") {
                    "this database was set aside because it is damaged; delete it if you do not need it"
                } else if place.ends_with("projects")
                    || place.parent().is_some_and(|above| above.ends_with("projects"))
                {
                    "it has Claude Code's own transcripts, which recoup does not change; delete them, or wait until Claude Code does (cleanupPeriodDays)"
                } else if place.ends_with(INDEX) {
                    "it is in lines that recoup did not write or cannot change; remove those lines by hand"
                } else {
                    "it was synced there, but the file was changed since, is in git, or could not be written; run `recoup memory sync` to try again, or remove it by hand"
                };
                ui::warn(format_args!("{} may still contain it: {why}", place.display()));
            }
        }
        Ok(CommandAnswer::Yes)
    }

    /// Shows the notes and asks for confirmation, if there is a terminal.
    fn confirm(&self, app: &App, ids: &[NoteId]) -> Result<bool> {
        if self.yes || !ui::can_ask() {
            return Ok(true);
        }
        let memory = app.memory();
        for id in ids {
            if let Some(note) = memory.note(id)? {
                ui::say(format_args!("  {} ({id})", note.text));
            }
        }
        let many = if ids.len() == 1 { "this memory" } else { "these memories" };
        Ok(ui::confirm(format_args!("Delete {many} permanently?")))
    }
}
