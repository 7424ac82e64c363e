//! What is done from time to time: what nobody saw again goes, what nobody uses ranks
//! lower, and nothing is kept for longer than it may be.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::lessons;
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::{Memory, NoteId, Status, forget, givings, keep, privacy, rows, search};

const DAY: Duration = Duration::from_hours(24);
/// What clients told us is kept for so long.
const EVENTS: Duration = Duration::from_secs(90 * DAY.as_secs());
/// A candidate has so long to be seen again.
const CANDIDATES: Duration = Duration::from_secs(7 * DAY.as_secs());
/// A rule that so many contexts were given, and nobody ever used, is idle.
const OFTEN: u64 = 40;
/// What is written down of a lesson that retires by itself.
const EXPIRED: &str = "expired";

/// What came of it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    /// Events that were older than they may be.
    pub events: usize,
    /// Candidates that nobody saw again.
    pub dropped: usize,
    /// Lessons that nobody met for a long time, and no longer count.
    pub retired: usize,
    /// Rules that are given often and never used.
    pub idle: usize,
}

impl Memory {
    /// The same, if that was not done for a day. Where nothing is remembered, nothing is made.
    pub fn settle_daily(&self) -> Result<Option<Settled>> {
        let now = self.now();
        let is_due = self.read(|connection| privacy::is_due(connection, DAY, now))?;
        if is_due != Some(true) {
            return Ok(None);
        }
        // Of several who saw that, one does it.
        let is_ours =
            self.change("settling memory", |connection| privacy::take_due(connection, DAY, now))?;
        is_ours.then(|| self.settle()).transpose()
    }

    /// Brings everything up to date.
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

/// What was inferred, and what a script said in the user's place. What the user brought in
/// stays until the user says. What agents noted for the user waits until `long_ago`: where a client
/// has no hooks, it is all that is known of the user's words.
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

/// What was learned, and neither met nor used for as long as anything is known about.
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

/// Whether a note that does not count was retired by nobody.
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

/// Used means cited, or said more than once.
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
