//! Daily maintenance: deletes old events and unconfirmed candidates, retires unused lessons and
//! ranks idle rules lower.

use std::time::Duration;

use rusqlite::Connection;

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{
    CachedSql as _, Memory, checks, deliveries, forget, index, note_rows, pauses, recording,
};
use crate::memory::learn::lessons;
use crate::memory::model::{NoteId, NoteStatus};

const SETTLING: &str = "cannot run memory maintenance";
/// Setting with the time of the last maintenance.
const SETTLED: &str = "settled";

const DAY: Duration = Duration::from_hours(24);
/// Age at which events are deleted.
const EVENTS: Duration = Duration::from_secs(90 * DAY.as_secs());
/// Age at which an unconfirmed candidate is dropped.
const CANDIDATES: Duration = Duration::from_secs(7 * DAY.as_secs());
/// Number of deliveries after which a rule that was never used is idle.
const OFTEN: u64 = 40;
/// Evidence recorded for a lesson that maintenance retires.
const EXPIRED: &str = "expired";

/// Result of a maintenance run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MaintenanceReport {
    /// Deleted events.
    pub events: usize,
    /// Candidates that were dropped unconfirmed.
    pub dropped: usize,
    /// Lessons that were retired, because they were not met for a long time.
    pub retired: usize,
    /// Rules that are delivered often and never used.
    pub idle: usize,
}

impl Memory {
    /// Runs maintenance if that was not done for a day. Creates no memory where there is none.
    pub(crate) fn maintain_daily(&self) -> Result<Option<MaintenanceReport>> {
        let now = self.now();
        let is_due = self.read(|connection| pauses::is_due(connection, SETTLED, DAY, now))?;
        // Of several processes that see that it is due, one runs it.
        let is_ours =
            is_due && self.change(SETTLING, |it| pauses::take_due(it, SETTLED, DAY, now))?;
        is_ours.then(|| self.maintain()).transpose()
    }

    /// Runs maintenance now.
    pub fn maintain(&self) -> Result<MaintenanceReport> {
        let now = self.now();
        self.change(SETTLING, |connection| {
            let old = now.before(EVENTS);
            let mut events = 0;
            for sql in [
                "DELETE FROM events WHERE at < ?1",
                "DELETE FROM givings WHERE at < ?1",
                "DELETE FROM sightings WHERE at < ?1",
                "DELETE FROM sweeps WHERE at < ?1",
                "DELETE FROM notices WHERE at < ?1",
                "DELETE FROM episodes WHERE coalesce(ended, began) < ?1",
            ] {
                events += connection.write(sql, [old.as_millis()], SETTLING)?;
            }
            checks::store_missing_checks(connection)?;
            let dropped = drop_candidates(connection, now.before(CANDIDATES), old)?;
            let retired = retire_lessons(connection, old, now)?;
            // Rules that were delivered often, but never cited or stated again.
            let sql = "UPDATE notes SET idle = 1
                       WHERE id = ?1 AND idle = 0 AND status = 'active' AND evidence = 1
                       AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.note = notes.row
                                       AND evidence.what IN ('cited', 'repeated'))";
            let mut idle = 0;
            for (note, times) in deliveries::counts(connection)? {
                if times >= OFTEN {
                    idle += connection.write(sql, [note], SETTLING)?;
                }
            }
            index::merge_segments(connection)?;
            Ok(MaintenanceReport { events, dropped, retired, idle })
        })
    }
}

/// Drops candidates that were inferred, or that a script stated in the user's place. Imported ones
/// stay until the user decides. Those that agents noted for the user wait until `long_ago`: where a
/// client has no hooks, they are all that is known of the user's words.
fn drop_candidates(connection: &Connection, then: Timestamp, long_ago: Timestamp) -> Result<usize> {
    let old = note_rows::find_many(
        connection,
        "status = 'candidate' AND source <> 'import'
         AND updated < CASE source WHEN 'agent' THEN ?2 ELSE ?1 END",
        [then, long_ago],
    )?;
    for kept in &old {
        forget::remove_stored_note(connection, kept)?;
    }
    lessons::drop_lessons_older_than(connection, then)?;
    Ok(old.len())
}

/// Retires lessons that were neither met nor used as far back as events reach.
fn retire_lessons(connection: &Connection, then: Timestamp, now: Timestamp) -> Result<usize> {
    let old = note_rows::find_many(
        connection,
        "status = 'active' AND source = 'extraction' AND updated < ?1
         AND NOT EXISTS (SELECT 1 FROM lessons
                         WHERE lessons.note = notes.id AND lessons.updated >= ?1)
         AND NOT EXISTS (SELECT 1 FROM evidence
                         WHERE evidence.note = notes.row AND evidence.at >= ?1)",
        [then],
    )?;
    for kept in &old {
        recording::set_status(connection, &kept.note.id, NoteStatus::Retired, EXPIRED, now)?;
    }
    Ok(old.len())
}

/// True if a note was retired by maintenance, not by a person.
pub(super) fn was_retired_by_maintenance(connection: &Connection, id: &NoteId) -> Result<bool> {
    const SQL: &str = "SELECT evidence.what FROM evidence JOIN notes ON notes.row = evidence.note
                       WHERE notes.id = ?1 AND evidence.what IN ('retired', 'taken back', ?2)
                       ORDER BY evidence.at DESC, evidence.rowid DESC LIMIT 1";
    let last: Option<String> = connection.find_value(SQL, [id.as_str(), EXPIRED], SETTLING)?;
    Ok(last.as_deref() == Some(EXPIRED))
}
