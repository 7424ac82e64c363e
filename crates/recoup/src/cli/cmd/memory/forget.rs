//! `recoup memory forget`.

use std::path::{Path, PathBuf};

use clap::Args;
use recoup_core::Result;
use recoup_core::memory::mirror::INDEX;
use recoup_core::memory::{ForgetReport, NoteId, team};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

#[derive(Debug, Args)]
pub(super) struct ForgetArgs {
    /// The ids of what is to be forgotten
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
    /// Do not ask
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
        let ids = self.ids.iter().map(|id| NoteId::parse(id)).collect::<Result<Vec<_>, _>>()?;
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
                ui::say(format_args!("Also in the copy {}", copy.display()));
            }
            let queue = app.settings.home.join("queue");
            for place in &forgotten.unreached {
                let why = unreached_reason(place, &queue);
                ui::warn(format_args!("{} may still have it: {why}", place.display()));
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
        Ok(ui::confirm(format_args!("Forget {many} for good?")))
    }
}

/// Reason why a file may still have the note, and a remedy.
fn unreached_reason(place: &Path, queue: &Path) -> &'static str {
    if place.starts_with(queue) {
        "it waits there for the worker, and could not be read or is being worked on; forget it again if it comes back"
    } else if place.ends_with(team::FILE) {
        "the team shares it there; take it out, then `recoup trust` drops the copy that you accepted"
    } else if place.to_string_lossy().contains(".damaged-") {
        "it was set aside because it is damaged; delete it if you do not need it"
    } else if place.ends_with("projects")
        || place.parent().is_some_and(|above| above.ends_with("projects"))
    {
        "Claude Code's own transcripts are there, which recoup does not change; delete them, or wait until Claude Code does (cleanupPeriodDays)"
    } else if place.ends_with(INDEX) {
        "lines there say it that recoup did not write, or can't change; take those lines out by hand"
    } else {
        "it was synced there, and was changed since, is in git, or could not be written; `recoup memory sync` tries again, else take it out by hand"
    }
}
