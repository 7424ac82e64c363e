//! `recoup memory dedup`.

use clap::Args;
use recoup_core::memory::db::dedup::{DuplicateGroup, duplicates};
use recoup_core::memory::{Note, NoteFilter};
use serde::Serialize;

use super::NoteReport;
use crate::cli::app::App;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Find memories that say the same in different words, and merge them.
///
/// The newest wording of the most trusted memory stays, and takes over the evidence of the others.
/// They are superseded: `recoup memory restore` brings one back.
#[derive(Debug, Args)]
pub(super) struct DedupArgs {
    /// Merge the duplicates; without this, they are only shown
    #[arg(long, short)]
    yes: bool,
    /// In all projects
    #[arg(long)]
    all: bool,
    /// As JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct DedupReport {
    merged: bool,
    duplicates: Vec<DuplicateGroupReport>,
}

#[derive(Serialize)]
struct DuplicateGroupReport {
    stays: NoteReport,
    others: Vec<NoteReport>,
}

impl DedupArgs {
    pub(super) fn run(self, app: &App) -> CommandResult {
        let here = NoteFilter::active_in(&app.note_scope(false));
        let wanted = if self.all { NoteFilter { scopes: Vec::new(), ..here } } else { here };
        let found = if self.yes {
            let found = app.memory().merge_duplicates(&wanted.scopes)?;
            let scopes: Vec<_> = found.iter().map(|it| it.stays.scope.clone()).collect();
            app.refresh_mirrors(&scopes);
            found
        } else {
            duplicates(&app.memory().notes(&wanted)?)
        };
        if self.json {
            let merged = self.yes && !found.is_empty();
            let report = |found: &DuplicateGroup| DuplicateGroupReport {
                stays: NoteReport::new(&found.stays),
                others: found.others.iter().map(NoteReport::new).collect(),
            };
            let duplicates = found.iter().map(report).collect();
            ui::json(&DedupReport { merged, duplicates })?;
            return Ok(CommandAnswer::Yes);
        }
        let named = |note: &Note| {
            let paths = note.paths.as_ref();
            let paths = paths.map_or_else(String::new, |glob| format!(" [only for {glob}]"));
            ui::printable(&format!("{}{paths} ({})", note.text, note.id)).into_owned()
        };
        for DuplicateGroup { stays, others } in &found {
            ui::line(format_args!("keep    {}", named(stays)))?;
            for other in others {
                ui::line(format_args!("remove  {}", named(other)))?;
            }
        }
        ui::say(match (found.is_empty(), self.yes) {
            (true, _) => "No duplicates found",
            (false, true) => "Merged; use `recoup memory restore ID` to bring one back",
            (false, false) => "Nothing was changed: use `recoup memory dedup --yes` to merge them",
        });
        Ok(CommandAnswer::Yes)
    }
}
