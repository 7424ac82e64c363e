//! Notes from failures and fixes: a candidate first, a lesson once there is enough evidence. Lessons
//! never contradict the user's rules.

use rusqlite::{Connection, Row, params};

use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::error::{ErrorKind, Result};
use crate::memory::db::facets::forbids;
use crate::memory::db::note_rows;
use crate::memory::db::note_rows::StoredNote;
use crate::memory::db::sql::SqlContext as _;
use crate::memory::db::store::NoteFilter;
use crate::memory::db::transaction::EventTransaction;
use crate::memory::db::{recording, store};
use crate::memory::learn::lessons::{FailureLesson, LEARNING, LearnedNote, wording};
use crate::memory::learn::maintenance;
use crate::memory::model::note::{Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus};
use crate::memory::model::statement::Statement;

/// Number of sessions with the failure, or of successful fixes, that are enough evidence.
const ENOUGH: i64 = 2;

/// Maximum number of rules per scope that are checked, the latest first.
const LOOKED_AT: usize = 500;

/// Sightings of a lesson: sessions in which it failed, certain fixes and possible fixes.
pub(super) struct LessonEvidence {
    sessions: i64,
    pub(super) fixes: i64,
    maybes: i64,
}

impl LessonEvidence {
    /// True if a lesson with this evidence counts.
    fn is_enough(&self) -> bool {
        self.fixes > 0 && (self.sessions >= ENOUGH || self.fixes >= ENOUGH)
    }

    /// True if there is a fix, certain or possible.
    pub(super) fn has_fix(&self) -> bool {
        self.fixes + self.maybes > 0
    }
}

impl EventTransaction<'_> {
    /// Writes or updates the note of a lesson, according to its evidence; none before there is a
    /// fix.
    pub(super) fn apply_evidence(&self, lesson: &FailureLesson) -> Result<Option<LearnedNote>> {
        let evidence = self.evidence(lesson)?;
        let Some(fix) = lesson.fix.as_deref().filter(|_| evidence.has_fix()) else {
            return Ok(None);
        };
        if self.is_forbidden(fix)? {
            return Ok(None);
        }
        let promoted = evidence.is_enough();
        let Some(before) = self.write_note(lesson, fix)? else { return Ok(None) };
        match (before.status, promoted) {
            (NoteStatus::Candidate, true) => {
                recording::promote(self.connection, &before.id, self.now)?;
                let note = recording::require_note(self.connection, &before.id)?.note;
                Ok((note.status == NoteStatus::Active).then_some(LearnedNote::Promoted(note)))
            }
            (NoteStatus::Candidate, false) => Ok(Some(LearnedNote::Candidate(before))),
            // Retired by maintenance, and met again.
            (NoteStatus::Retired, true)
                if maintenance::was_retired_by_maintenance(self.connection, &before.id)? =>
            {
                recording::promote(self.connection, &before.id, self.now)?;
                Ok(Some(LearnedNote::Promoted(
                    recording::require_note(self.connection, &before.id)?.note,
                )))
            }
            _ => Ok(None),
        }
    }

    /// Demotes a lesson to a candidate if its evidence is no longer enough.
    pub(super) fn demote_if_doubtful(&self, lesson: &FailureLesson) -> Result<()> {
        let Some(note) = lesson.note.as_deref().map(NoteId::parse).transpose()? else {
            return Ok(());
        };
        let is_taught = note_rows::by_id(self.connection, &note)?.is_some_and(|kept| {
            kept.note.source == NoteSource::Extraction && kept.note.status == NoteStatus::Active
        });
        if is_taught && !self.evidence(lesson)?.is_enough() {
            recording::set_status(
                self.connection,
                &note,
                NoteStatus::Candidate,
                "doubted",
                self.now,
            )?;
        }
        Ok(())
    }

    pub(super) fn evidence(&self, lesson: &FailureLesson) -> Result<LessonEvidence> {
        const SQL: &str = "SELECT
            count(DISTINCT CASE WHEN what = 'failed' THEN session END),
            count(CASE WHEN what = 'fixed' THEN 1 END),
            count(CASE WHEN what = 'maybe' THEN 1 END) FROM sightings WHERE lesson = ?1";
        let read = |row: &Row<'_>| {
            Ok(LessonEvidence { sessions: row.get(0)?, fixes: row.get(1)?, maybes: row.get(2)? })
        };
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut select| select.query_row([lesson.row], read))
            .doing(LEARNING)
    }

    /// Creates or updates the note of a lesson. `None` if its text must not be kept.
    fn write_note(&self, lesson: &FailureLesson, fix: &str) -> Result<Option<Note>> {
        let text = wording::lesson_text(lesson, fix);
        let known = lesson.note.as_deref().map(NoteId::parse).transpose()?;
        if let Some(known) = known
            && let Some(kept) = note_rows::by_id(self.connection, &known)?
        {
            if kept.note.source == NoteSource::Extraction && kept.note.text != text {
                reword_lesson_note(self.connection, &kept, text, self.now)?;
            }
            return Ok(Some(recording::require_note(self.connection, &known)?.note));
        }
        let topic = Some(lesson.topic());
        let statement = Statement { topic, ..failure_statement(text, &self.occasion.scope) };
        let Some(recorded) = self.try_record(&statement)? else { return Ok(None) };
        let note = recorded.note().clone();
        self.connection
            .execute(
                "UPDATE lessons SET note = ?2 WHERE row = ?1",
                params![lesson.row, note.id.as_str()],
            )
            .doing(LEARNING)?;
        Ok(Some(note))
    }

    /// True if a rule of the user, or a team rule that the user accepted, forbids a command.
    pub(super) fn is_forbidden(&self, command: &str) -> Result<bool> {
        let wanted = format!(
            "scope = ?1 AND status = 'active' AND source IN ('user', 'manual', 'team')
             ORDER BY updated DESC LIMIT {LOOKED_AT}"
        );
        for scope in NoteFilter::active_in(&self.occasion.scope).scopes {
            let rules = note_rows::find_many(self.connection, &wanted, params![scope.to_string()])?;
            if rules.iter().any(|kept| forbids(&kept.note.text, command)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Updates the text of a lesson's note, if the new text may be kept.
pub(super) fn reword_lesson_note(
    connection: &Connection,
    kept: &StoredNote,
    text: String,
    now: Timestamp,
) -> Result<()> {
    let topic = kept.note.topic.clone();
    let statement = Statement { topic, ..failure_statement(text, &kept.note.scope) };
    let reworded = statement
        .validated()
        .and_then(|statement| store::change_text(connection, kept, &statement, now));
    match reworded {
        // Another lesson has this text by now, or it must not be kept.
        Err(error) if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Invalid) => Ok(()),
        reworded => reworded,
    }
}

fn failure_statement(text: String, scope: &NoteScope) -> Statement {
    Statement::new(NoteKind::Failure, text, NoteSource::Extraction, scope.clone())
}

impl FailureLesson {
    /// Returns a topic that no other lesson has.
    fn topic(&self) -> String {
        let print =
            Sha256Digest::of(format!("{}\n{}", self.general_command(), self.signature).as_bytes());
        format!("failure {}", &print.to_hex()[..12])
    }
}
