//! Calls that the user denies: a second denial of one kind may be a preference.

use rusqlite::params;

use super::lessons::{Learned, Ran};
use crate::database::fault;
use crate::error::Result;
use crate::memory::turn::{About, Happened, Turn};
use crate::memory::{NoteKind, Recorded, Source, Statement};

/// Number of denials that make a candidate.
const ENOUGH: i64 = 2;

impl Turn<'_> {
    /// Records that the user denied a call. A second denial of its kind becomes a candidate.
    pub fn denied(&self, ran: &Ran<'_>) -> Result<Option<Learned>> {
        if !self.happened(Happened::Denied, About::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if self.times_denied(ran.kind)? < ENOUGH {
            return Ok(None);
        }
        let text = format!("don't run `{}` without asking", ran.kind.replace('`', "'"));
        let scope = self.occasion.scope.clone();
        let statement = Statement::new(NoteKind::Preference, text, Source::Extraction, scope);
        Ok(match self.try_record(&statement)? {
            Some(Recorded::Stored { note, .. }) => Some(Learned::Candidate(note)),
            Some(Recorded::Confirmed { .. }) | None => None,
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
            .map_err(|error| fault::explain(error, "counting what was denied"))
    }
}
