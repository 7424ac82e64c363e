//! Forgetting for good, wherever the words may be.

use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::base::fsx;
use recoup_core::memory::team::{self, Rule};
use recoup_core::memory::{Forgotten, Note, NoteId};

use super::app::App;
use super::mirror::refreshed;
use crate::config::trust::{self, Ledger};
use crate::hooks::worker::queue;

/// No file of ours is larger.
const LARGEST: u64 = 1 << 20;

impl App {
    /// Removes these memories, and what waits for the worker with the same words.
    pub(super) fn forget(&self, ids: &[NoteId]) -> Result<Forgotten> {
        let mut forgotten = self.memory_for_writing()?.forget(ids)?;
        forgotten.unreached.extend(shared(self, &forgotten.notes));
        forget_jobs(self, &forgotten.notes)?;
        forgotten.unreached.extend(mirrored(self, &forgotten.notes)?);
        Ok(forgotten)
    }
}

fn forget_jobs(app: &App, notes: &[Note]) -> Result<()> {
    let words = notes.iter().flat_map(|note| std::iter::once(&note.text).chain(&note.quote));
    let words: Vec<&str> = words.map(String::as_str).collect();
    queue::forget(&app.settings.home, &words).map(drop)
}

/// Takes them out of what Claude Code reads by itself; says what still has one of them,
/// because somebody has changed it, or it could not be written.
fn mirrored(app: &App, notes: &[Note]) -> Result<Vec<PathBuf>> {
    let scopes: Vec<_> = notes.iter().map(|note| note.scope.clone()).collect();
    let report = refreshed(&app.settings.home, &app.settings.cwd, &scopes)?;
    let has_one = |path: &PathBuf| {
        let text = fsx::read_limited(path, LARGEST).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        notes.iter().any(|note| text.contains(&note.text) || text.contains(note.id.as_str()))
    };
    let faults = report.faults.into_iter().map(|fault| fault.dir);
    Ok(report.left.into_iter().filter(has_one).chain(faults).collect())
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
