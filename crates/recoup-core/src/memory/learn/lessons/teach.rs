//! Notes from failures and fixes: a candidate first, a lesson once there is enough evidence.

use rusqlite::{Connection, Row, params};

use super::{Learned, Lesson, learning, wording};
use crate::base::clock::Timestamp;
use crate::base::digest::Digest;
use crate::error::{ErrorKind, Result};
use crate::memory::learn::settle;
use crate::memory::rows::Kept;
use crate::memory::turn::Turn;
use crate::memory::{
    Note, NoteId, NoteKind, NoteScope, Source, Statement, Status, keep, rows, store,
};

/// Number of sessions with the failure, or of successful fixes, that are enough evidence.
const ENOUGH: i64 = 2;

/// Sightings of a lesson: sessions in which it failed, certain fixes and possible fixes.
pub(super) struct Evidence {
    sessions: i64,
    pub(super) fixes: i64,
    maybes: i64,
}

impl Evidence {
    /// True if a lesson with this evidence counts.
    fn is_enough(&self) -> bool {
        self.fixes > 0 && (self.sessions >= ENOUGH || self.fixes >= ENOUGH)
    }

    /// True if there is a fix, certain or possible.
    pub(super) fn has_fix(&self) -> bool {
        self.fixes + self.maybes > 0
    }
}

impl Turn<'_> {
    /// Writes or updates the note of a lesson, according to its evidence; none before there is a
    /// fix.
    pub(super) fn weigh(&self, lesson: &Lesson) -> Result<Option<Learned>> {
        let evidence = self.evidence(lesson)?;
        let Some(fix) = lesson.fix.as_deref().filter(|_| evidence.has_fix()) else {
            return Ok(None);
        };
        if self.is_forbidden(fix)? {
            return Ok(None);
        }
        let promoted = evidence.is_enough();
        let Some(before) = self.write_down(lesson, fix)? else { return Ok(None) };
        match (before.status, promoted) {
            (Status::Candidate, true) => {
                keep::promote(self.connection, &before.id, self.now)?;
                let note = keep::demand(self.connection, &before.id)?.note;
                Ok((note.status == Status::Active).then_some(Learned::Promoted(note)))
            }
            (Status::Candidate, false) => Ok(Some(Learned::Candidate(before))),
            // Retired by maintenance, and met again.
            (Status::Retired, true) if settle::has_expired(self.connection, &before.id)? => {
                keep::promote(self.connection, &before.id, self.now)?;
                Ok(Some(Learned::Promoted(keep::demand(self.connection, &before.id)?.note)))
            }
            _ => Ok(None),
        }
    }

    /// Demotes a lesson to a candidate if its evidence is no longer enough.
    pub(super) fn doubt(&self, lesson: &Lesson) -> Result<()> {
        let Some(note) = lesson.note.as_deref().map(NoteId::parse).transpose()? else {
            return Ok(());
        };
        let is_taught = rows::by_id(self.connection, &note)?.is_some_and(|kept| {
            kept.note.source == Source::Extraction && kept.note.status == Status::Active
        });
        if is_taught && !self.evidence(lesson)?.is_enough() {
            keep::set_status(self.connection, &note, Status::Candidate, "doubted", self.now)?;
        }
        Ok(())
    }

    pub(super) fn evidence(&self, lesson: &Lesson) -> Result<Evidence> {
        const SQL: &str = "SELECT
            count(DISTINCT CASE WHEN what = 'failed' THEN session END),
            count(CASE WHEN what = 'fixed' THEN 1 END),
            count(CASE WHEN what = 'maybe' THEN 1 END) FROM sightings WHERE lesson = ?1";
        let read = |row: &Row<'_>| {
            Ok(Evidence { sessions: row.get(0)?, fixes: row.get(1)?, maybes: row.get(2)? })
        };
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| select.query_row([lesson.row], read))
            .map_err(learning)
    }

    /// Creates or updates the note of a lesson. `None` if its text must not be kept.
    fn write_down(&self, lesson: &Lesson, fix: &str) -> Result<Option<Note>> {
        let text = wording::text(lesson, fix);
        let known = lesson.note.as_deref().map(NoteId::parse).transpose()?;
        if let Some(known) = known
            && let Some(kept) = rows::by_id(self.connection, &known)?
        {
            if kept.note.source == Source::Extraction && kept.note.text != text {
                reword(self.connection, &kept, text, self.now)?;
            }
            return Ok(Some(keep::demand(self.connection, &known)?.note));
        }
        let topic = Some(lesson.topic());
        let statement = Statement { topic, ..statement(text, &self.occasion.scope) };
        let Some(recorded) = self.try_record(&statement)? else { return Ok(None) };
        let note = recorded.note().clone();
        self.connection
            .execute(
                "UPDATE lessons SET note = ?2 WHERE row = ?1",
                params![lesson.row, note.id.as_str()],
            )
            .map_err(learning)?;
        Ok(Some(note))
    }
}

/// Updates the text of a lesson's note, if the new text may be kept.
pub(super) fn reword(
    connection: &Connection,
    kept: &Kept,
    text: String,
    now: Timestamp,
) -> Result<()> {
    let topic = kept.note.topic.clone();
    let statement = Statement { topic, ..statement(text, &kept.note.scope) };
    let reworded = store::checked(&statement)
        .and_then(|statement| store::reword(connection, kept, &statement, now));
    match reworded {
        // Another lesson has this text by now, or it must not be kept.
        Err(error) if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Invalid) => Ok(()),
        reworded => reworded,
    }
}

fn statement(text: String, scope: &NoteScope) -> Statement {
    Statement::new(NoteKind::Failure, text, Source::Extraction, scope.clone())
}

impl Lesson {
    /// Returns a topic that no other lesson has.
    fn topic(&self) -> String {
        let print =
            Digest::of(format!("{}\n{}", self.general_command(), self.signature).as_bytes());
        format!("failure {}", &print.to_hex()[..12])
    }
}
