//! Notes from failures and fixes: a candidate first, a lesson once there is enough evidence. Lessons
//! never contradict the user's rules.

use rusqlite::params;

use crate::base::digest::Sha256Digest;
use crate::error::{ErrorKind, Result};
use crate::memory::db::facets::forbids;
use crate::memory::db::{
    CachedSql as _, EventTransaction, NoteFilter, SqlContext as _, StoredNote, note_rows,
    recording, store,
};
use crate::memory::learn::lessons::{FailureLesson, LEARNING, LearnedNote, wording};
use crate::memory::learn::maintenance;
use crate::memory::model::{Note, NoteKind, NoteSource, NoteStatus, Statement};

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
        let Some(before) = self.write_note(lesson, fix)? else { return Ok(None) };
        let is_waiting = match before.status {
            NoteStatus::Candidate => true,
            // Retired by maintenance, and met again.
            NoteStatus::Retired => {
                maintenance::was_retired_by_maintenance(self.connection, &before.id)?
            }
            _ => false,
        };
        if is_waiting && evidence.is_enough() {
            recording::promote(self.connection, &before.id, self.now)?;
            let note = recording::require_note(self.connection, &before.id)?.note;
            return Ok((note.status == NoteStatus::Active).then_some(LearnedNote::Promoted(note)));
        }
        let is_candidate = before.status == NoteStatus::Candidate;
        Ok(is_candidate.then_some(LearnedNote::Candidate(before)))
    }

    /// Demotes a lesson to a candidate if its evidence is no longer enough.
    pub(super) fn demote_if_doubtful(&self, lesson: &FailureLesson) -> Result<()> {
        let Some(kept) = self.find_note(lesson)? else { return Ok(()) };
        let Note { id, source, status, .. } = &kept.note;
        let is_taught = *source == NoteSource::Extraction && *status == NoteStatus::Active;
        if is_taught && !self.evidence(lesson)?.is_enough() {
            let doubted = NoteStatus::Candidate;
            recording::set_status(self.connection, id, doubted, "doubted", self.now)?;
        }
        Ok(())
    }

    pub(super) fn evidence(&self, lesson: &FailureLesson) -> Result<LessonEvidence> {
        const SQL: &str = "SELECT
            count(DISTINCT CASE WHEN what = 'failed' THEN session END),
            count(CASE WHEN what = 'fixed' THEN 1 END),
            count(CASE WHEN what = 'maybe' THEN 1 END) FROM sightings WHERE lesson = ?1";
        self.connection
            .query_row(SQL, [lesson.row], |row| {
                let (sessions, fixes, maybes) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(LessonEvidence { sessions, fixes, maybes })
            })
            .doing(LEARNING)
    }

    /// Creates or updates the note of a lesson. `None` if its text must not be kept.
    fn write_note(&self, lesson: &FailureLesson, fix: &str) -> Result<Option<Note>> {
        let (text, scope) = (wording::lesson_text(lesson, fix), self.occasion.scope.clone());
        let statement = Statement::new(NoteKind::Failure, text, NoteSource::Extraction, scope);
        let Some(kept) = self.find_note(lesson)? else {
            let statement = Statement { topic: Some(lesson.topic()), ..statement };
            let Some(recorded) = self.try_record(&statement)? else { return Ok(None) };
            let note = recorded.note().clone();
            let sql = "UPDATE lessons SET note = ?2 WHERE row = ?1";
            self.connection.write(sql, params![lesson.row, note.id], LEARNING)?;
            return Ok(Some(note));
        };
        if kept.note.source == NoteSource::Extraction && kept.note.text != statement.text {
            let Note { scope, topic, .. } = kept.note.clone();
            let reworded = Statement { scope, topic, ..statement }
                .validated()
                .and_then(|it| store::change_text(self.connection, &kept, &it, self.now));
            match reworded {
                // Another lesson has this text by now, or it must not be kept.
                Err(error) if matches!(error.kind(), ErrorKind::Usage | ErrorKind::Invalid) => {}
                reworded => reworded?,
            }
        }
        Ok(Some(recording::require_note(self.connection, &kept.note.id)?.note))
    }

    fn find_note(&self, lesson: &FailureLesson) -> Result<Option<StoredNote>> {
        lesson.note.as_ref().map_or(Ok(None), |id| note_rows::by_id(self.connection, id))
    }

    /// True if a rule of the user, or a team rule that the user accepted, forbids a command.
    pub(super) fn is_forbidden(&self, command: &str) -> Result<bool> {
        let wanted = format!(
            "scope = ?1 AND status = 'active' AND source IN ('user', 'manual', 'team')
             ORDER BY updated DESC LIMIT {LOOKED_AT}"
        );
        for scope in NoteFilter::active_in(&self.occasion.scope).scopes {
            let rules = note_rows::find_many(self.connection, &wanted, [scope])?;
            if rules.iter().any(|kept| forbids(&kept.note.text, command)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl FailureLesson {
    /// Returns a topic that no other lesson has.
    fn topic(&self) -> String {
        let print =
            Sha256Digest::of(format!("{}\n{}", self.general_command(), self.signature).as_bytes());
        format!("failure {}", &print.to_hex()[..12])
    }
}
