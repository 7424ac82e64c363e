//! Lessons: failures and what fixed them. One failure is an event. It becomes a lesson if another
//! command succeeds instead, and it fails in two sessions or the fix works twice.
//!
//! Failures without a fix, failures of the work itself, and fixes that bypass a safeguard stay
//! events.

mod fix;
mod teach;
mod varying_values;
mod wording;

use rusqlite::{Connection, Row, params};
use varying_values::VaryingValues;
use wording::{FailureCause, is_shown_whole, quote_code, readable_command, shorten_to_line};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::transaction::storable_text;
use crate::memory::db::{
    CachedSql as _, EventDetails, EventTransaction, Memory, MemoryEventKind, SqlContext as _,
    note_rows,
};
use crate::memory::model::{Note, NoteId, NoteScope};
use crate::memory::shell::hides_exit_code;
use crate::secrets::RedactedCommand;

const LEARNING: &str = "cannot store a lesson";

/// Milliseconds within which a fix follows its failure.
const SOON: i64 = 15 * 60 * 1_000;
/// Maximum number of changed files that are named.
const FILES: i64 = 3;

/// A command that was run.
#[derive(Debug, Clone)]
pub struct CompletedCommand<'a> {
    /// Program and sub-command: what makes two commands the same kind.
    pub kind: &'a str,
    /// Whole command line, without credentials.
    pub command: RedactedCommand,
    /// Client's id of this call.
    pub call: &'a str,
}

/// Note that was learned from a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LearnedNote {
    /// A candidate, which agents are not given yet.
    Candidate(Note),
    /// A lesson with enough evidence: it counts from now on.
    Promoted(Note),
}

/// A failure, with the values of its last occurrence.
#[derive(Debug)]
struct FailureLesson {
    row: i64,
    kind: String,
    command: String,
    cause: FailureCause,
    fix: Option<String>,
    note: Option<NoteId>,
    /// Signature that all its sightings share; includes the values if it is only about those.
    signature: String,
}

/// Time and call of a failure.
struct FailedCall {
    at: i64,
    call: String,
}

/// Certainty that a change fixed a failed command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FixTrust {
    /// Another command for the same purpose.
    Certain,
    /// Another command, but something else was done in between: either may be the fix.
    Possible,
    /// A change that is not to be taught.
    Untaught,
}

impl FailureLesson {
    /// A failure that is not stored yet.
    fn new(kind: String, command: String, cause: FailureCause, signature: String) -> Self {
        Self { row: 0, kind, command, cause, fix: None, note: None, signature }
    }

    /// Returns the values of the last occurrence.
    fn last_values(&self) -> VaryingValues {
        VaryingValues::find_in(&self.kind, &self.command, &self.cause.error)
    }

    /// Returns the values that vary: none if it is only about its own values.
    fn varying_values(&self) -> VaryingValues {
        let values = self.last_values();
        let is_own = self.signature == values.own_signature(&self.cause.error);
        if is_own { VaryingValues::default() } else { values }
    }

    /// True if another command fixed it the last time, perhaps for other values.
    fn had_another_fix(&self, fix: &str) -> bool {
        let known = self.fix.as_deref().filter(|known| fix::fix_command(known).is_some());
        !self.varying_values().is_empty() && known.is_some_and(|known| known != fix)
    }

    /// Returns the failed command, with placeholders for values that vary.
    fn general_command(&self) -> String {
        self.varying_values().generalise(&self.kind, &self.command)
    }
}

impl Memory {
    /// Returns the lesson for a command that fails with `error`, if there is one.
    pub fn lesson_for(
        &self,
        ran: &CompletedCommand<'_>,
        error: &str,
        scope: &NoteScope,
    ) -> Result<Option<Note>> {
        const SQL: &str = "SELECT note FROM lessons
                           WHERE scope = ?1 AND kind = ?2 AND signature IN (?3, ?4)
                           AND note IS NOT NULL ORDER BY signature = ?3 DESC LIMIT 1";
        let error = shorten_to_line(&storable_text(&ran.command.hide_values_in(error)));
        let slots = VaryingValues::find_in(ran.kind, &readable_command(&ran.command), &error);
        let (own, general) = (slots.own_signature(&error), slots.general_signature(&error));
        let values = params![scope, ran.kind, own, general];
        let found = self.read(|connection| {
            let note: Option<NoteId> = connection.find_value(SQL, values, LEARNING)?;
            note.map_or(Ok(None), |note| note_rows::by_id(connection, &note))
        })?;
        Ok(found.map(|kept| kept.note))
    }
}

impl EventTransaction<'_> {
    /// Records that a command failed, with its exit code and error line.
    pub fn record_failure(
        &self,
        ran: &CompletedCommand<'_>,
        exit: Option<i32>,
        error: Option<&str>,
    ) -> Result<Option<LearnedNote>> {
        const OWN: &str = "SELECT 1 FROM lessons WHERE scope = ?1 AND kind = ?2 AND signature = ?3";
        let error = error.map(|error| ran.command.hide_values_in(error));
        let error = error.as_deref();
        let of = EventDetails { detail: error, ..EventDetails::call(ran.kind, ran.call) };
        if !self.record_event(MemoryEventKind::Failed, of)? {
            return Ok(None);
        }
        // Without an error line, it cannot be recognised again.
        let Some(error) =
            error.map(|error| shorten_to_line(&storable_text(error))).filter(|it| !it.is_empty())
        else {
            return Ok(None);
        };
        let (kind, command) = (ran.kind.to_owned(), readable_command(&ran.command));
        let values = VaryingValues::find_in(&kind, &command, &error);
        // The lesson for just these values, if that exists.
        let own = values.own_signature(&error);
        let known = params![self.occasion.scope, kind, own];
        let is_known = self.connection.has_row(OWN, known, LEARNING)?;
        let signature = if is_known { own } else { values.general_signature(&error) };
        let cause = FailureCause { exit, error };
        let lesson = self.upsert_lesson(FailureLesson::new(kind, command, cause, signature))?;
        self.record_sighting(&lesson, "failed", ran.call)?;
        self.apply_evidence(&lesson)
    }

    /// Records that a command succeeded. If one of its kind failed here shortly before, this may be
    /// the fix.
    pub fn record_success(&self, ran: &CompletedCommand<'_>) -> Result<Option<LearnedNote>> {
        if !self.record_event(MemoryEventKind::Succeeded, EventDetails::call(ran.kind, ran.call))? {
            return Ok(None);
        }
        if hides_exit_code(&ran.command) {
            return Ok(None);
        }
        let Some((lesson, failed)) = self.open_failure(ran.kind)? else { return Ok(None) };
        let lesson = self.narrow_to_values(lesson, ran)?;
        let evidence = self.evidence(&lesson)?;
        // A known fix stays.
        let is_better = |(_, trust): &(String, FixTrust)| match trust {
            FixTrust::Certain => true,
            FixTrust::Possible => evidence.fixes == 0,
            FixTrust::Untaught => !evidence.has_fix(),
        };
        let Some((fix, trust)) = self.find_fix(&lesson, ran, &failed)?.filter(is_better) else {
            return self.record_sighting(&lesson, "passed", ran.call).map(|()| None);
        };
        // Values share a lesson only if the same fix works for them, twice in a row.
        let is_another = trust == FixTrust::Certain && lesson.had_another_fix(&fix);
        self.store_fix(&lesson, &fix)?;
        if is_another {
            self.demote_if_doubtful(&lesson)?;
        }
        let what = match trust {
            FixTrust::Certain if !is_another => "fixed",
            FixTrust::Possible => "maybe",
            _ => "passed",
        };
        self.record_sighting(&lesson, what, ran.call)?;
        if what == "passed" {
            return Ok(None);
        }
        self.apply_evidence(&FailureLesson { fix: Some(fix), ..lesson })
    }

    /// Returns the lesson that a fix belongs to. If the fix repeats values that placeholders cannot
    /// express, that is one for these values alone, which takes over this session's failures.
    fn narrow_to_values(
        &self,
        lesson: FailureLesson,
        ran: &CompletedCommand<'_>,
    ) -> Result<FailureLesson> {
        const MOVE: &str = "UPDATE OR IGNORE sightings SET lesson = ?2
                            WHERE lesson = ?1 AND session = ?3 AND what = 'failed'";
        let fix =
            fix::alternative_command(&lesson.command, ran.kind, &readable_command(&ran.command));
        let slots = lesson.varying_values();
        if !fix.is_some_and(|fix| slots.still_appear_in(&lesson.kind, &fix)) {
            return Ok(lesson);
        }
        let (kind, command) = (lesson.kind.clone(), lesson.command.clone());
        let (cause, signature) = (lesson.cause.clone(), slots.own_signature(&lesson.cause.error));
        let own = self.upsert_lesson(FailureLesson::new(kind, command, cause, signature))?;
        let values = params![lesson.row, own.row, self.occasion.session];
        self.connection.write(MOVE, values, LEARNING)?;
        self.demote_if_doubtful(&lesson)?;
        Ok(own)
    }

    /// Inserts or updates the row of a failure that was seen now.
    fn upsert_lesson(&self, seen: FailureLesson) -> Result<FailureLesson> {
        const SQL: &str =
            "INSERT INTO lessons (scope, kind, signature, command, error, created, updated)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
                           ON CONFLICT (scope, kind, signature)
                           DO UPDATE SET error = ?5, updated = max(updated, ?6)
                           RETURNING row, kind, command, error, fix, note, signature";
        let (scope, cause) = (&self.occasion.scope, seen.cause.to_string());
        let values = params![scope, seen.kind, seen.signature, seen.command, cause, self.now];
        let known = self
            .connection
            .prepare_cached(SQL)
            .and_then(|mut insert| insert.query_row(values, lesson_from_row))
            .doing(LEARNING)?;
        if known.command == seen.command || known.general_command() != seen.general_command() {
            return Ok(known);
        }
        // The next success is compared with this failure.
        let sql = "UPDATE lessons SET command = ?2 WHERE row = ?1";
        self.connection.write(sql, params![known.row, seen.command], LEARNING)?;
        Ok(FailureLesson { command: seen.command, ..known })
    }

    /// Returns the latest failure of that kind in this session, if it is recent and none of its
    /// kind has succeeded since.
    fn open_failure(&self, kind: &str) -> Result<Option<(FailureLesson, FailedCall)>> {
        const SQL: &str =
            "SELECT lessons.row, kind, command, error, fix, note, signature, at, call FROM sightings
                           JOIN lessons ON lessons.row = sightings.lesson
                           WHERE session = ?1 AND what = 'failed' AND kind = ?2 AND scope = ?3
                           ORDER BY at DESC LIMIT 1";
        const WORKED: &str = "SELECT 1 FROM sightings WHERE lesson = ?1 AND session = ?2
                              AND what <> 'failed' AND at >= ?3";
        let it = self.occasion;
        let values = params![it.session, kind, it.scope];
        let read = |row: &Row<'_>| {
            Ok((lesson_from_row(row)?, FailedCall { at: row.get(7)?, call: row.get(8)? }))
        };
        let latest = self.connection.find_cached(SQL, values, read).doing(LEARNING)?;
        let Some((lesson, failed)) = latest else { return Ok(None) };
        let since = self.now.as_millis() - failed.at;
        if !(0..=SOON).contains(&since) {
            return Ok(None);
        }
        let values = params![lesson.row, it.session, failed.at];
        let has_worked = self.connection.has_row(WORKED, values, LEARNING)?;
        Ok((!has_worked).then_some((lesson, failed)))
    }

    /// Returns what made a command succeed, as far as that can be told.
    fn find_fix(
        &self,
        lesson: &FailureLesson,
        ran: &CompletedCommand<'_>,
        failed: &FailedCall,
    ) -> Result<Option<(String, FixTrust)>> {
        const EDITED: &str = "SELECT DISTINCT subject FROM events WHERE session = ?1
                              AND what = 'edited' AND subject IS NOT NULL AND at >= ?2
                              ORDER BY subject LIMIT ?3";
        let worked = readable_command(&ran.command);
        let values = params![self.occasion.session, failed.at, FILES];
        let files: Vec<String> = self.connection.list_values(EDITED, values, LEARNING)?;
        if let Some(command) = fix::alternative_command(&lesson.command, ran.kind, &worked) {
            let text = fix::format_fix(&lesson.varying_values().generalise(&lesson.kind, &command));
            let useful = is_shown_whole(&ran.command)
                && fix::is_worth_teaching(&lesson.cause.error, &lesson.command, &command)
                && !self.is_forbidden(&command)?;
            let trust = match useful {
                true if files.is_empty() && !self.ran_other_command_since(ran.kind, failed)? => {
                    FixTrust::Certain
                }
                true => FixTrust::Possible,
                false => FixTrust::Untaught,
            };
            return Ok(Some((text, trust)));
        }
        if files.is_empty() || !fix::is_same_command(&lesson.command, ran.kind, &worked) {
            return Ok(None);
        }
        let names: Vec<String> =
            files.iter().map(|file| quote_code(&shorten_to_line(file))).collect();
        let text = format!("it worked after a change to {}", names.join(", "));
        Ok(Some((text, FixTrust::Untaught)))
    }

    /// True if a command of another kind, that does more than inspect, has succeeded since.
    fn ran_other_command_since(&self, kind: &str, failed: &FailedCall) -> Result<bool> {
        // `events` has no index by session; the rows since the failure are few.
        const SQL: &str = "SELECT DISTINCT subject FROM events WHERE session = ?1
                           AND row > (SELECT max(row) FROM events WHERE call = ?4 AND what = 'failed')
                           AND what = 'succeeded' AND subject <> ?2 AND at >= ?3";
        let values = params![self.occasion.session, kind, failed.at, failed.call];
        let done: Vec<String> = self.connection.list_values(SQL, values, LEARNING)?;
        Ok(done.iter().any(|subject| fix::may_change_state(subject)))
    }

    /// Stores the fix. Another one than before has its own evidence to gather.
    fn store_fix(&self, lesson: &FailureLesson, fix: &str) -> Result<()> {
        if lesson.fix.as_deref() == Some(fix) {
            return Ok(());
        }
        let forget_fix = "DELETE FROM sightings WHERE lesson = ?1 AND what IN ('fixed', 'maybe')";
        self.connection.write(forget_fix, [lesson.row], LEARNING)?;
        let sql = "UPDATE lessons SET fix = ?2, updated = max(updated, ?3) WHERE row = ?1";
        self.connection.write(sql, params![lesson.row, fix, self.now], LEARNING).map(drop)
    }

    /// Records a sighting, once for each call.
    fn record_sighting(&self, lesson: &FailureLesson, what: &str, call: &str) -> Result<()> {
        const SQL: &str = "INSERT OR IGNORE INTO sightings (lesson, call, what, session, at)
                           VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![lesson.row, call, what, self.occasion.session, self.now];
        self.connection.write(SQL, values, LEARNING).map(drop)
    }
}

fn lesson_from_row(row: &Row<'_>) -> rusqlite::Result<FailureLesson> {
    Ok(FailureLesson {
        row: row.get(0)?,
        kind: row.get(1)?,
        command: row.get(2)?,
        cause: FailureCause::parse(&row.get::<_, String>(3)?),
        fix: row.get(4)?,
        note: row.get(5)?,
        signature: row.get(6)?,
    })
}

/// Deletes lessons that were not seen again for too long; their active notes stay.
pub(super) fn drop_lessons_older_than(connection: &Connection, then: Timestamp) -> Result<usize> {
    let sql = "DELETE FROM lessons WHERE updated < ?1 AND (note IS NULL
               OR note NOT IN (SELECT id FROM notes WHERE status = 'active'))";
    connection.write(sql, [then], LEARNING)
}
