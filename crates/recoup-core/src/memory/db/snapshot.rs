//! Snapshots of memory: a consistent copy a day, the newest three, for the day on which the
//! file itself is damaged.
//!
//! ```text
//! memory.db
//! snapshots/memory-2026-11-15.db        a whole memory, readable by its owner alone
//! snapshots/memory-2026-11-15.db.part   one that is being made
//! ```
//! A snapshot has the notes and what belongs to them. Reports of clients are left out: they may be
//! kept for a limited time only.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;

use crate::base::clock::{Timestamp, date_to_day};
use crate::base::fsx;
use crate::database::{connection, lock_database};
use crate::error::Result;
use crate::memory::db::schema::{APPLICATION_ID, VERSION};
use crate::memory::db::{CachedSql as _, Memory, SqlContext as _};

const COPYING: &str = "cannot write a snapshot of memory";
const DIRECTORY: &str = "snapshots";
const PART: &str = ".part";
/// Number of snapshots that are kept.
const KEPT: usize = 3;
/// How long to wait for a process that copies or repairs the database.
pub(crate) const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Removes from a snapshot the clients' reports, and rows that matter only during a session.
const LEFT_OUT: &str = "DELETE FROM events; DELETE FROM givings; DELETE FROM sweeps;
                        DELETE FROM episodes; DELETE FROM notices;";

/// A snapshot, by the date in its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemorySnapshot {
    /// The day on which it was made, in UTC: `2026-11-15`.
    pub date: String,
    /// The file.
    pub path: PathBuf,
}

impl MemorySnapshot {
    /// Beginning of its day.
    pub fn day(&self) -> Timestamp {
        Timestamp::from_seconds(date_to_day(&self.date).unwrap_or(0) * 86_400)
    }
}

/// Date in the name of a snapshot, of an unfinished one, or of SQLite's journal of either; none for
/// other names.
pub fn date_of_snapshot(name: &str) -> Option<&str> {
    let name = name.strip_suffix("-journal").unwrap_or(name);
    let name = name.strip_suffix(PART).unwrap_or(name);
    let date = name.strip_prefix("memory-")?.strip_suffix(".db")?;
    date_to_day(date).filter(|_| date.len() == 10).map(|_| date)
}

/// The snapshots of the memory at `path`, the newest first.
pub fn snapshots_of(path: &Path) -> Vec<MemorySnapshot> {
    let mut found: Vec<MemorySnapshot> = files_beside(path)
        .into_iter()
        .filter(|file| file.extension().is_some_and(|it| it == "db"))
        .filter_map(|path| {
            let date = date_of_snapshot(path.file_name()?.to_str()?)?.to_owned();
            Some(MemorySnapshot { date, path })
        })
        .collect();
    found.sort_unstable_by(|one, other| other.cmp(one));
    found
}

/// All files of snapshots of the memory at `path`, unfinished ones too.
pub(crate) fn files_beside(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(fsx::parent(path).join(DIRECTORY)).into_iter().flatten().flatten();
    let is_ours = |it: &fs::DirEntry| it.file_name().to_str().and_then(date_of_snapshot).is_some();
    entries.filter(is_ours).map(|entry| entry.path()).collect()
}

impl Memory {
    /// Makes today's snapshot if there is none yet, and removes all but the newest three. Does
    /// nothing for an empty memory.
    pub fn snapshot_daily(&self) -> Result<Option<PathBuf>> {
        let date = self.now().date();
        let dir = fsx::parent(self.path()).join(DIRECTORY);
        let snapshot = dir.join(format!("memory-{date}.db"));
        if snapshot.exists() || !self.has_notes()? {
            return Ok(None);
        }
        let _alone = lock_database(self.path(), LOCK_WAIT)?;
        if snapshot.exists() {
            return Ok(None);
        }
        fsx::ensure_private_dir(&dir)?;
        let part = fsx::with_suffix(&snapshot, PART);
        // Left by earlier attempts that were interrupted, on any day.
        let is_left = |file: &PathBuf| file.extension().is_none_or(|it| it != "db");
        for left in files_beside(self.path()).iter().filter(|file| is_left(file)) {
            fsx::remove(left)?;
        }
        fsx::create_private(&part)?;
        let copy = part.to_string_lossy();
        self.read(|connection| connection.write("VACUUM INTO ?1", [&copy], COPYING))?;
        let copy = connection::open_unchecked(&part)?;
        copy.execute_batch(&format!("PRAGMA secure_delete = ON; BEGIN; {LEFT_OUT} COMMIT"))
            .doing(COPYING)?;
        drop(copy);
        fsx::sync_file(&part)?;
        fsx::rename(&part, &snapshot)?;
        for old in snapshots_of(self.path()).iter().skip(KEPT) {
            fsx::remove(&old.path)?;
        }
        Ok(Some(snapshot))
    }
}

/// Date of a snapshot, and the number of notes restored from it.
#[derive(Debug)]
pub(crate) struct SnapshotRestore {
    pub(crate) date: String,
    pub(crate) notes: usize,
}

/// Adds to `fresh` the notes that only the newest sound snapshot of the memory at `path` has.
///
/// Forgotten notes are in no snapshot. A note that was retired or replaced since is recognized by
/// its history, as far as that can still be read. Tables of which anything could be read are left
/// as they are: a missing row may have been removed on purpose.
pub(crate) fn fill_from_newest(path: &Path, fresh: &Connection) -> Option<SnapshotRestore> {
    snapshots_of(path).into_iter().find_map(|MemorySnapshot { date, path }| {
        let snapshot = connection::open_unchecked(&path).ok()?;
        let number = |name| connection::pragma_number(&snapshot, name).ok();
        let is_ours = number("application_id") == Some(i64::from(APPLICATION_ID))
            && number("user_version") == Some(VERSION);
        if !is_ours || !matches!(connection::find_damage(&snapshot, "integrity_check"), Ok(None)) {
            return None;
        }
        drop(snapshot);
        let notes = fill_from(path.to_str()?, fresh).ok()?;
        Some(SnapshotRestore { date, notes })
    })
}

fn fill_from(snapshot: &str, fresh: &Connection) -> rusqlite::Result<usize> {
    fresh.execute("ATTACH ?1 AS snapshot", [snapshot])?;
    let added: Vec<i64> = fresh.list_cached(
        "INSERT OR IGNORE INTO notes SELECT * FROM snapshot.notes RETURNING row",
        [],
        |row| row.get(0),
    )?;
    for row in &added {
        for sql in [
            "INSERT OR IGNORE INTO note_ends SELECT * FROM snapshot.note_ends WHERE note = ?1",
            // The history, except for events that the damaged file still had.
            "INSERT OR IGNORE INTO evidence SELECT * FROM snapshot.evidence AS old
             WHERE note = ?1 AND NOT EXISTS (SELECT 1 FROM main.evidence AS ours
             WHERE ours.note = ?1 AND ours.at = old.at AND ours.what = old.what)",
            "UPDATE notes SET status = 'retired' WHERE row = ?1
             AND (SELECT what FROM evidence WHERE note = ?1 ORDER BY at DESC, rowid DESC LIMIT 1)
                 IN ('retired', 'taken back', 'expired')",
            "UPDATE notes SET status = 'superseded', superseded_by = newer.id
             FROM notes AS newer
             WHERE notes.row = ?1 AND notes.status = 'active' AND newer.status = 'active'
             AND newer.scope = notes.scope AND newer.paths = notes.paths
             AND newer.topic = notes.topic AND newer.updated > notes.updated",
        ] {
            fresh.execute_cached(sql, [row])?;
        }
    }
    for table in ["lessons", "sightings", "checkpoints", "pauses", "settings"] {
        let sql = format!(
            "INSERT OR IGNORE INTO {table} SELECT * FROM snapshot.{table}
             WHERE NOT EXISTS (SELECT 1 FROM main.{table})"
        );
        fresh.execute(&sql, [])?;
    }
    Ok(added.len())
}
