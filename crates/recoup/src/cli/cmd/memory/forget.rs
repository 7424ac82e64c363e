//! `recoup memory forget`.

use std::path::PathBuf;

use clap::Args;
use recoup_core::Result;
use recoup_core::memory::team::{self, Rule};
use recoup_core::memory::{Forgotten, Note, NoteId};
use serde::Serialize;

use crate::cli::app::App;
use crate::cli::{Answer, Ended, ui};
use crate::config::trust::{self, Ledger};
use crate::hooks::worker::queue;

/// Remove it for good.
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
struct Gone {
    forgotten: Vec<String>,
    copies: Vec<PathBuf>,
    unreached: Vec<PathBuf>,
}

impl ForgetArgs {
    pub(super) fn run(self, app: &App) -> Ended {
        let ids = self.ids.iter().map(|id| NoteId::parse(id)).collect::<Result<Vec<_>, _>>()?;
        if !self.is_meant(app, &ids)? {
            return Ok(Answer::No);
        }
        let mut forgotten = app.memory_for_writing()?.forget(&ids)?;
        forgotten.unreached.extend(shared(app, &forgotten.notes));
        forget_jobs(app, &forgotten.notes)?;
        if self.json {
            let ids = forgotten.notes.iter().map(|note| note.id.to_string()).collect();
            let Forgotten { copies, unreached, .. } = forgotten;
            ui::json(&Gone { forgotten: ids, copies, unreached })?;
        } else {
            tell(&forgotten);
        }
        Ok(Answer::Yes)
    }

    /// Whoever is asked sees what it is about.
    fn is_meant(&self, app: &App, ids: &[NoteId]) -> Result<bool> {
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

/// What waits for the worker may have the same words.
fn forget_jobs(app: &App, notes: &[Note]) -> Result<()> {
    let words = notes.iter().flat_map(|note| std::iter::once(&note.text).chain(&note.quote));
    let words: Vec<&str> = words.map(String::as_str).collect();
    queue::forget(&app.settings.home, &words).map(drop)
}

/// The repository's file where it, or what was accepted of it, has one of them: what is
/// shared is not ours to change here.
fn shared(app: &App, notes: &[Note]) -> Option<PathBuf> {
    let (home, project) = (&app.settings.home, &app.settings.project);
    let file = team::read(project.root()).ok().flatten();
    let ledger = Ledger::read(home).ok();
    let accepted = ledger.and_then(|ledger| trust::accepted_text(home, &ledger, project.id()));
    let texts = [file, accepted.map(String::into_bytes)].into_iter().flatten();
    let rules: Vec<Rule> =
        texts.filter_map(|text| team::parse(&text).ok()).flat_map(|team| team.rules).collect();
    let has = |note: &Note| rules.iter().any(|rule| rule.says_same(&Rule::of(note)));
    notes.iter().any(has).then(|| team::path(project.root()))
}

fn tell(forgotten: &Forgotten) {
    for note in &forgotten.notes {
        ui::say(format_args!("Forgotten: {}", note.id));
    }
    for copy in &forgotten.copies {
        ui::say(format_args!("Also in the copy {}", copy.display()));
    }
    for place in &forgotten.unreached {
        let why = if place.ends_with(team::FILE) {
            "the team shares it there; take it out, then `recoup trust` drops the copy that you accepted"
        } else {
            "it was set aside because it is damaged; delete it if you do not need it"
        };
        ui::warn(format_args!("{} may still have it: {why}", place.display()));
    }
}
