//! Daily maintenance: deletes old events and unconfirmed candidates, retires unused lessons and
//! ranks idle rules lower.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::lessons;
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::{Memory, NoteId, Status, forget, givings, keep, privacy, rows, search};

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
pub struct Settled {
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
    pub fn settle_daily(&self) -> Result<Option<Settled>> {
        let now = self.now();
        let is_due = self.read(|connection| privacy::is_due(connection, DAY, now))?;
        if is_due != Some(true) {
            return Ok(None);
        }
        // Of several processes that saw it is due, one runs it.
        let is_ours =
            self.change("settling memory", |connection| privacy::take_due(connection, DAY, now))?;
        is_ours.then(|| self.settle()).transpose()
    }

    /// Runs maintenance now.
    pub fn settle(&self) -> Result<Settled> {
        let now = self.now();
        self.change("settling memory", |connection| {
            let old = before(now, EVENTS);
            lessons::fold_lessons(connection, now)?;
            let settled = Settled {
                events: forget_old(connection, old)?,
                dropped: drop_candidates(connection, before(now, CANDIDATES), old)?,
                retired: retire_lessons(connection, old, now)?,
                idle: mark_idle(connection)?,
            };
            search::tidy(connection)?;
            Ok(settled)
        })
    }
}

fn before(now: Timestamp, age: Duration) -> Timestamp {
    let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millis(now.as_millis().saturating_sub(age))
}

fn forget_old(connection: &Connection, then: Timestamp) -> Result<usize> {
    let then = then.as_millis();
    let mut gone = 0;
    for sql in [
        "DELETE FROM events WHERE at < ?1",
        "DELETE FROM givings WHERE at < ?1",
        "DELETE FROM sightings WHERE at < ?1",
        "DELETE FROM sweeps WHERE at < ?1",
        "DELETE FROM notices WHERE at < ?1",
        "DELETE FROM episodes WHERE coalesce(ended, began) < ?1",
    ] {
        gone += connection.execute(sql, [then]).map_err(settling)?;
    }
    Ok(gone)
}

/// Drops candidates that were inferred, or that a script stated in the user's place. Imported ones
/// stay until the user decides. Those that agents noted for the user wait until `long_ago`: where a
/// client has no hooks, they are all that is known of the user's words.
fn drop_candidates(connection: &Connection, then: Timestamp, long_ago: Timestamp) -> Result<usize> {
    let old = rows::many(
        connection,
        "status = 'candidate' AND source <> 'import'
         AND updated < CASE source WHEN 'agent' THEN ?2 ELSE ?1 END",
        [then.as_millis(), long_ago.as_millis()],
    )?;
    for kept in &old {
        forget::remove_kept(connection, kept)?;
    }
    lessons::drop_older_than(connection, then)?;
    Ok(old.len())
}

/// Retires lessons that were neither met nor used as far back as events reach.
fn retire_lessons(connection: &Connection, then: Timestamp, now: Timestamp) -> Result<usize> {
    let old = rows::many(
        connection,
        "status = 'active' AND source = 'extraction' AND updated < ?1
         AND NOT EXISTS (SELECT 1 FROM lessons
                         WHERE lessons.note = notes.id AND lessons.updated >= ?1)
         AND NOT EXISTS (SELECT 1 FROM evidence
                         WHERE evidence.note = notes.row AND evidence.at >= ?1)",
        params![then.as_millis()],
    )?;
    for kept in &old {
        keep::set_status(connection, &kept.note.id, Status::Retired, EXPIRED, now)?;
    }
    Ok(old.len())
}

/// True if a note was retired by maintenance, not by a person.
pub(super) fn has_expired(connection: &Connection, id: &NoteId) -> Result<bool> {
    const SQL: &str = "SELECT evidence.what FROM evidence JOIN notes ON notes.row = evidence.note
                       WHERE notes.id = ?1 AND evidence.what IN ('retired', 'taken back', ?2)
                       ORDER BY evidence.at DESC, evidence.rowid DESC LIMIT 1";
    let last: Option<String> = connection
        .prepare_cached(SQL)
        .and_then(|mut select| {
            select.query_row([id.as_str(), EXPIRED], |row| row.get(0)).optional()
        })
        .map_err(settling)?;
    Ok(last.as_deref() == Some(EXPIRED))
}

/// Marks rules as idle that were delivered often, but never cited or stated again.
fn mark_idle(connection: &Connection) -> Result<usize> {
    const SQL: &str = "UPDATE notes SET idle = 1
                       WHERE id = ?1 AND idle = 0 AND status = 'active' AND evidence = 1
                       AND NOT EXISTS (SELECT 1 FROM evidence WHERE evidence.note = notes.row
                                       AND evidence.what IN ('cited', 'repeated'))";
    let mut update = connection.prepare_cached(SQL).map_err(settling)?;
    let mut idle = 0;
    let counts = givings::counts(connection)?;
    for (note, _) in counts.iter().filter(|(_, times)| **times >= OFTEN) {
        idle += update.execute([note.as_str()]).map_err(settling)?;
    }
    Ok(idle)
}

fn settling(error: rusqlite::Error) -> Error {
    fault::explain(error, "settling memory")
}
