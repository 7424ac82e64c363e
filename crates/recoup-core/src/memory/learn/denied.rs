//! Calls that the user denies: a second denial of one kind may be a preference.

use rusqlite::params;

use super::lessons::{CompletedCommand, LearnedNote};
use crate::database::fault;
use crate::error::Result;
use crate::memory::transaction::{EventDetails, EventTransaction, MemoryEventKind};
use crate::memory::{NoteKind, NoteSource, NoteStatement, RecordOutcome};

/// Number of denials that make a candidate.
const ENOUGH: i64 = 2;

impl EventTransaction<'_> {
    /// Records that the user denied a call. A second denial of its kind becomes a candidate.
    pub fn record_denial(&self, ran: &CompletedCommand<'_>) -> Result<Option<LearnedNote>> {
        if !self.record_event(MemoryEventKind::Denied, EventDetails::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if self.times_denied(ran.kind)? < ENOUGH {
            return Ok(None);
        }
        let text = format!("don't run `{}` without asking", ran.kind.replace('`', "'"));
        let scope = self.occasion.scope.clone();
        let statement =
            NoteStatement::new(NoteKind::Preference, text, NoteSource::Extraction, scope);
        Ok(match self.try_record(&statement)? {
            Some(RecordOutcome::Stored { note, .. }) => Some(LearnedNote::Candidate(note)),
            Some(RecordOutcome::Confirmed { .. }) | None => None,
        })
    }

    fn times_denied(&self, kind: &str) -> Result<i64> {
        const SQL: &str = "SELECT count(*) FROM events
                           WHERE scope = ?1 AND what = 'denied' AND subject = ?2";
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| {
                select.query_row(params![self.occasion.scope.to_string(), kind], |row| row.get(0))
            })
            .map_err(|error| fault::from_sqlite(error, "counting what was denied"))
    }
}
