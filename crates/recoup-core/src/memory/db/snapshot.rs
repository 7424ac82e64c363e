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

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use crate::base::clock::{Timestamp, date_to_day};
use crate::base::fsx;
use crate::database::{connection, lock_database};
use crate::error::Result;
use crate::memory::db::schema::{APPLICATION_ID, VERSION};
use crate::memory::db::sql::SqlContext as _;
use crate::memory::db::store::Memory;

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
        self.read(|connection| {
            let copy = part.to_string_lossy();
            connection
                .execute("VACUUM INTO ?1", [copy])
                .map(drop)
                .doing("cannot write a snapshot of memory")
        })?;
        let copy = connection::open_unchecked(&part)?;
        copy.execute_batch(&format!("PRAGMA secure_delete = ON; BEGIN; {LEFT_OUT} COMMIT"))
            .doing("cannot write a snapshot of memory")?;
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
        let added = fill_from(&snapshot, fresh).ok()?;
        Some(SnapshotRestore { date, notes: added })
    })
}

fn fill_from(snapshot: &Connection, fresh: &Connection) -> rusqlite::Result<usize> {
    let is_empty = |table: &str| {
        let sql = format!("SELECT NOT EXISTS (SELECT 1 FROM {table})");
        fresh.query_row(&sql, [], |row| row.get::<_, bool>(0))
    };
    let mut added = Vec::new();
    copy_table(snapshot, fresh, "notes", |row| added.push(row))?;
    copy_evidence(snapshot, fresh, &added)?;
    for table in ["lessons", "sightings", "checkpoints", "pauses", "settings"] {
        if is_empty(table)? {
            copy_table(snapshot, fresh, table, |_| ())?;
        }
    }
    for row in &added {
        fresh.execute(
            "UPDATE notes SET status = 'retired' WHERE row = ?1
             AND (SELECT what FROM evidence WHERE note = ?1 ORDER BY at DESC, rowid DESC LIMIT 1)
                 IN ('retired', 'taken back', 'expired')",
            [row],
        )?;
        fresh.execute(
            "UPDATE notes SET status = 'superseded', superseded_by = newer.id
             FROM notes AS newer
             WHERE notes.row = ?1 AND notes.status = 'active' AND newer.status = 'active'
             AND newer.scope = notes.scope AND newer.paths = notes.paths
             AND newer.topic = notes.topic AND newer.updated > notes.updated",
            [row],
        )?;
    }
    Ok(added.len())
}

/// Copies the rows that are missing; calls `added` with the first value of each.
fn copy_table(
    from: &Connection,
    to: &Connection,
    table: &str,
    mut added: impl FnMut(i64),
) -> rusqlite::Result<()> {
    let mut select = from.prepare(&format!("SELECT * FROM {table}"))?;
    let width = select.column_count();
    let places = vec!["?"; width].join(", ");
    let mut insert = to.prepare(&format!("INSERT OR IGNORE INTO {table} VALUES ({places})"))?;
    let mut rows = select.query([])?;
    while let Some(row) = rows.next()? {
        let values = (0..width).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>()?;
        let first = values.first().cloned();
        if insert.execute(params_from_iter(values))? > 0
            && let Some(Value::Integer(number)) = first
        {
            added(number);
        }
    }
    Ok(())
}

/// Copies the history of these notes, except for events that the damaged file still had.
fn copy_evidence(from: &Connection, to: &Connection, notes: &[i64]) -> rusqlite::Result<()> {
    let sql = "SELECT note, at, session, what, detail FROM evidence WHERE note = ?1";
    let mut select = from.prepare(sql)?;
    let mut insert = to.prepare(
        "INSERT OR IGNORE INTO evidence (note, at, session, what, detail)
         SELECT ?1, ?2, ?3, ?4, ?5 WHERE NOT EXISTS
         (SELECT 1 FROM evidence WHERE note = ?1 AND at = ?2 AND what = ?4)",
    )?;
    for note in notes {
        let mut rows = select.query([note])?;
        while let Some(row) = rows.next()? {
            let values = (0..5).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>()?;
            insert.execute(params_from_iter(values))?;
        }
    }
    Ok(())
}
