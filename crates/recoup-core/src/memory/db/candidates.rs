//! Candidates that wait for the user: statements that were neither clearly rules nor clearly none.

use std::time::Duration;

use crate::error::Result;
use crate::memory::db::{EventTransaction, Memory, NoteFilter, note_rows, pauses, recording};
use crate::memory::model::{Note, NoteKind, NoteScope, NoteSource, NoteStatus, Statement};

/// Time for which nothing is said about candidates again.
const QUIET: Duration = Duration::from_hours(24);

impl Memory {
    /// Candidates of a scope and of everywhere that the user may decide about, the latest first.
    /// Failures are learned by evidence, and a tool's output never becomes a rule.
    pub fn candidates(&self, scope: &NoteScope) -> Result<Vec<Note>> {
        let wanted =
            NoteFilter { statuses: vec![NoteStatus::Candidate], ..NoteFilter::active_in(scope) };
        let mut notes = self.notes(&wanted)?;
        notes.retain(|note| note.kind != NoteKind::Failure && note.source != NoteSource::Tool);
        Ok(notes)
    }
}

impl EventTransaction<'_> {
    /// Number of the user's own statements that wait as candidates in this project; none if there
    /// are none, or if that was told less than a day ago.
    pub fn take_candidate_count(&self) -> Result<Option<u64>> {
        let scope = self.occasion.scope.to_string();
        // What only scripts said is not worth a notice.
        let wanted = "scope IN (?1, 'universal') AND status = 'candidate' AND source = 'user'
                      AND EXISTS (SELECT 1 FROM evidence WHERE note = notes.row AND what = 'said')";
        let waiting = note_rows::count(self.connection, wanted, std::slice::from_ref(&scope))?;
        let told = format!("candidates told {scope}");
        let is_news = waiting > 0 && pauses::take_due(self.connection, &told, QUIET, self.now)?;
        Ok(is_news.then_some(waiting))
    }

    /// Drops the candidate of a statement that turned out to be none.
    pub fn drop_candidate(&self, statement: &Statement) -> Result<()> {
        let Statement { scope, paths, text, .. } = statement;
        let known = note_rows::find_same(self.connection, scope, paths.as_deref(), text)?;
        if let Some(known) = known.filter(|it| it.note.status == NoteStatus::Candidate) {
            let (id, retired) = (&known.note.id, NoteStatus::Retired);
            recording::set_status(self.connection, id, retired, "taken back", self.now)?;
        }
        Ok(())
    }
}
