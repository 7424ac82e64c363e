//! Removes notes for good, wherever there are copies.

use recoup_core::Result;
use recoup_core::memory::team;
use recoup_core::memory::team::TeamRule;
use recoup_core::memory::{ForgetReport, Note, NoteId};

use super::App;
use crate::clients::AgentClient;
use crate::config::trust::{self, TrustStore};
use crate::config::{ResolvedSettings, find_client_dirs};
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
        // The team's rules file and its accepted version are not ours to change here.
        let ResolvedSettings { cwd, home, project, .. } = &self.settings;
        let file = team::read_rule_file(project.root()).ok().flatten();
        let ledger = TrustStore::read(home).ok();
        let accepted = ledger.and_then(|ledger| trust::accepted_text(home, &ledger, project.id()));
        let teams = [file, accepted.map(String::into_bytes)].into_iter().flatten();
        let teams = teams.filter_map(|text| team::parse_rules(&text).ok());
        let rules: Vec<TeamRule> = teams.flat_map(|team| team.rules).collect();
        let has = |note: &Note| rules.iter().any(|rule| rule.says_same(&TeamRule::from_note(note)));
        if forgotten.notes.iter().any(has) {
            forgotten.unreached.push(team::rule_file_path(project.root()));
        }
        forgotten.unreached.extend(waiting);
        forgotten.unreached.extend(mirrored);
        let claude = find_client_dirs(cwd).of(AgentClient::ClaudeCode);
        forgotten.unreached.extend(find_transcripts_with(
            &claude,
            project.root(),
            &forgotten.notes,
        ));
        Ok(forgotten)
    }
}
