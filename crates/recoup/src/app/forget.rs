//! Removes notes for good, wherever there are copies.

use std::path::PathBuf;

use recoup_core::Result;
use recoup_core::memory::team::{self, TeamRule};
use recoup_core::memory::{ForgetReport, Note, NoteId};

use super::App;
use crate::config::trust::{self, TrustStore};
use crate::config::{ClientDirs, ResolvedSettings};
use crate::jobs;
use crate::mirror::find_transcripts_with;

impl App {
    /// Removes notes; first from queued jobs, which would record them again, and from the mirrors.
    pub(crate) fn forget(&self, ids: &[NoteId]) -> Result<ForgetReport> {
        let memory = self.memory_for_writing()?;
        let found: Vec<Option<Note>> =
            ids.iter().map(|id| memory.note(id)).collect::<Result<_>>()?;
        // If a note is missing, nothing is done here: `memory.forget` reports it.
        let notes: Vec<Note> = found.into_iter().collect::<Option<_>>().unwrap_or_default();
        let texts = notes.iter().flat_map(|note| std::iter::once(&note.text).chain(&note.quote));
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        let waiting = jobs::forget_texts(&self.settings.home, &texts);
        let (mut forgotten, mirrored) =
            self.with_mirror(|mirror| mirror.forget(&notes, || memory.forget(ids)))?;
        forgotten.unreached.extend(shared_team_file(self, &forgotten.notes));
        forgotten.unreached.extend(waiting);
        forgotten.unreached.extend(mirrored);
        let ResolvedSettings { cwd, project, .. } = &self.settings;
        let claude = ClientDirs::find(cwd).claude_code();
        forgotten.unreached.extend(find_transcripts_with(
            &claude,
            project.root(),
            &forgotten.notes,
        ));
        Ok(forgotten)
    }
}

/// The team's rules file, if it or its accepted version has one of the notes: it is not ours to
/// change here.
fn shared_team_file(app: &App, notes: &[Note]) -> Option<PathBuf> {
    let (home, project) = (&app.settings.home, &app.settings.project);
    let file = team::read_rule_file(project.root()).ok().flatten();
    let ledger = TrustStore::read(home).ok();
    let accepted = ledger.and_then(|ledger| trust::accepted_text(home, &ledger, project.id()));
    let texts = [file, accepted.map(String::into_bytes)].into_iter().flatten();
    let rules: Vec<TeamRule> = texts
        .filter_map(|text| team::parse_rules(&text).ok())
        .flat_map(|team| team.rules)
        .collect();
    let has = |note: &Note| rules.iter().any(|rule| rule.says_same(&TeamRule::from_note(note)));
    notes.iter().any(has).then(|| team::rule_file_path(project.root()))
}
