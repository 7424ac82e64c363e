//! Creating a database, replacing a damaged one, and removal on a full disk: all under a lock of
//! their own, so that of many processes that find the same damage one acts.
//!
//! The lock's file stays beside the database. It also shows that the database
//! is ours: a file that somebody else put at the path is never moved.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::connection::{self, OpenDatabase, SqlContext as _, identify_file, sidecars};
use super::layout::{DatabaseLayout, FRESH, lock_path, schema_version, set_aside_path};
use super::pages::{LARGEST_FILE, LogReading, PAGE_SIZE, committed_pages};
use crate::base::clock::{Deadline, SystemClock};
use crate::base::fsx::{self, FileLock};
use crate::base::name::fresh_id;
use crate::error::{Error, ErrorKind, IoContext, Result};

/// Limit for a `VACUUM` in memory, in pages in use: 64 MiB.
const MOST_COPIED: i64 = 16_384;

/// Outcome of recovering a damaged database.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecoveryOutcome {
    /// Another process was faster, or there was no damage.
    AlreadySound,
    /// Only the indexes were damaged, and have been rebuilt.
    Reindexed,
    /// The database was moved away.
    SetAside {
        /// The directory that it is in, with its log.
        place: PathBuf,
        /// Number of rows that were copied to the fresh one, where that was tried.
        rescued: Option<u64>,
    },
}

/// Creates an empty database with our tables, unless another process did meanwhile. A database that
/// has lost all its contents is set aside, which is then the result.
///
/// Made beside its place and then moved there: readers never find one that is half made, and never
/// wait for one that is being made.
pub(super) fn create_database(
    path: &Path,
    layout: &DatabaseLayout,
    wait: Duration,
) -> Result<Option<RecoveryOutcome>> {
    let path = &follow_links(path)?;
    fsx::ensure_dir(fsx::parent(path))?;
    let began_before = identify_file(&lock_path(path))?.is_some();
    let _lock = lock_database(path, wait)?;
    if connection::open_existing(path, layout)?.is_some() {
        return Ok(None);
    }
    // Only an empty file is replaced, or the stump of a database: never a device, or a file of the
    // user's that SQLite takes for empty.
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Ok(there) if there.is_file() && (there.len() == 0 || began_before) => {}
        Ok(_) => {
            let DatabaseLayout { name, elsewhere, .. } = layout;
            let message = format!("not a file that can hold a {name} database; {elsewhere}");
            return Err(Error::new(ErrorKind::Io, message));
        }
        Err(error) => return Err(error).with_context(|| "cannot access the file".to_owned()),
    }
    // We never leave an empty file: it had contents once.
    let emptied = began_before && layout.rescue.is_some() && identify_file(path)?.is_some();
    if emptied {
        return replace_damaged(path, layout).map(Some);
    }
    build_and_move(path, layout, |_| Ok(()), || Ok(())).map(|()| None)
}

/// Creates a database beside its place, fills it, clears the place and moves it there. The caller
/// holds the lock.
fn build_and_move<T>(
    path: &Path,
    layout: &DatabaseLayout,
    fill: impl FnOnce(&Connection) -> Result<T>,
    clear: impl FnOnce() -> Result<()>,
) -> Result<T> {
    let fresh = fsx::with_suffix(path, FRESH);
    // Leftovers of a process that was killed in the middle of this.
    for old in std::iter::once(fresh.clone()).chain(sidecars(&fresh)) {
        fsx::remove(&old)?;
    }
    if !fsx::create_private(&fresh)? {
        let message = format!("cannot create {}: it already exists", fresh.display());
        return Err(Error::new(ErrorKind::Io, message));
    }
    let connection = connection::connect(&fresh)?;
    layout.run_pragmas(&connection)?;
    layout.create_tables(&connection)?;
    let done = fill(&connection)?;
    // What was written so far is in the log: fold it in, so that all of it is moved.
    let explained = "cannot create the database";
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).doing(explained)?;
    drop(connection);
    let _alone = connection::block_openings();
    clear()?;
    // A log without its database belongs to one that is gone.
    for sidecar in sidecars(&fresh).into_iter().chain(sidecars(path)) {
        fsx::remove(&sidecar)?;
    }
    fsx::rename(&fresh, path)?;
    Ok(done)
}

/// Follows the links of a path, which may not exist yet.
fn follow_links(path: &Path) -> Result<PathBuf> {
    const MOST: usize = 16;
    let mut path = path.to_owned();
    for _ in 0..MOST {
        let Ok(target) = fs::read_link(&path) else { return Ok(path) };
        path = fsx::parent(&path).join(target);
    }
    Err(Error::new(ErrorKind::Io, "too many symbolic links in its path"))
}

/// Recovers a damaged database: rebuilds its indexes, or moves it away together with its log.
pub(super) fn recover_database(
    path: &Path,
    layout: &DatabaseLayout,
    wait: Duration,
) -> Result<RecoveryOutcome> {
    let path = &follow_links(path)?;
    ensure_ours(path, layout)?;
    let _lock = lock_database(path, wait)?;
    if identify_file(path)?.is_none() {
        return Ok(RecoveryOutcome::AlreadySound);
    }
    // Checks all of it: slow, and done only after SQLite complained.
    let is_sound = connection::open_existing(path, layout).and_then(|opened| match opened {
        None => Ok(true),
        Some(OpenDatabase { connection, .. }) => Ok(passes_check(&connection, "integrity_check")?
            && layout.find_schema_fault(&connection)?.is_none()),
    });
    match is_sound {
        Ok(true) => return Ok(RecoveryOutcome::AlreadySound),
        Ok(false) => {}
        Err(error) if error.kind() == ErrorKind::Corrupt => {}
        Err(error) => return Err(error),
    }
    if try_reindex(path, layout) {
        return Ok(RecoveryOutcome::Reindexed);
    }
    replace_damaged(path, layout)
}

/// Rebuilds the indexes if the tables are sound; false if that is not enough.
fn try_reindex(path: &Path, layout: &DatabaseLayout) -> bool {
    let reindex = || {
        let Some(OpenDatabase { connection, .. }) = connection::open_existing(path, layout)? else {
            return Ok(false);
        };
        if !passes_check(&connection, "quick_check")?
            || layout.find_schema_fault(&connection)?.is_some()
        {
            return Ok(false);
        }
        let made = connection.execute_batch("REINDEX");
        made.doing("cannot rebuild the indexes")?;
        passes_check(&connection, "integrity_check")
    };
    let reindexed: Result<bool> = reindex();
    reindexed.unwrap_or(false)
}

/// Fails if a damaged database is not known to be ours: such a file is never moved.
pub(super) fn ensure_ours(path: &Path, layout: &DatabaseLayout) -> Result<()> {
    let path = follow_links(path)?;
    // Our lock file is made before the database.
    if identify_file(&lock_path(&path))?.is_some() {
        return Ok(());
    }
    let mut start = Vec::new();
    match File::open(&path).and_then(|file| file.take(72).read_to_end(&mut start)) {
        // One of us set it aside.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        read => read.with_context(|| "cannot read the file header".to_owned())?,
    };
    if start.starts_with(b"SQLite format 3\0")
        && start.get(68..72) == Some(&layout.application_id.to_be_bytes())
    {
        return Ok(());
    }
    let DatabaseLayout { name, elsewhere, .. } = layout;
    let message = format!("not a {name} database of recoup; move the file away, or {elsewhere}");
    Err(Error::new(ErrorKind::Io, message))
}

/// Copies what can be read of a database to a fresh one, and sets it aside. It is moved last, so
/// that a process that is killed before leaves it to the next.
fn replace_damaged(path: &Path, layout: &DatabaseLayout) -> Result<RecoveryOutcome> {
    let place = set_aside_path(path, fresh_id(&SystemClock).as_str());
    let aside = || {
        fsx::ensure_dir(&place)?;
        // The database goes first: from then on nobody opens it and makes a new log while the old
        // one is moved. Openings within this process are prevented.
        for file in std::iter::once(path.to_owned()).chain(sidecars(path)) {
            if identify_file(&file)?.is_some()
                && let Some(name) = file.file_name()
            {
                fsx::rename(&file, &place.join(name))?;
            }
        }
        Ok(())
    };
    let Some(rescue) = layout.rescue else {
        let _alone = connection::block_openings();
        aside()?;
        return Ok(RecoveryOutcome::SetAside { place, rescued: None });
    };
    let fill = |fresh: &Connection| {
        // SQLite would remove the log of an empty one.
        let is_empty = fs::metadata(path).is_ok_and(|file| file.len() == 0);
        let damaged = if is_empty { None } else { connection::open_unchecked(path).ok() };
        if let Some(damaged) = &damaged {
            // Processes that can still write to it wait, and then find that it is gone.
            let _ = damaged.execute_batch("BEGIN IMMEDIATE");
        }
        Ok((rescue(path, fresh, &place)?, damaged))
    };
    let (rows, _still_held) = build_and_move(path, layout, fill, aside)?;
    Ok(RecoveryOutcome::SetAside { place, rescued: Some(rows) })
}

/// Locks a database against being created, copied or replaced by others.
pub(crate) fn lock_database(path: &Path, wait: Duration) -> Result<FileLock> {
    FileLock::acquire(&lock_path(path), Deadline::after(wait))
}

fn passes_check(connection: &Connection, check: &str) -> Result<bool> {
    connection::find_damage(connection, check)
        .map(|damage| damage.is_none())
        .doing("cannot check the database")
}

/// Runs `act` on a full disk. A transaction needs room for its log before it frees any, so rows are
/// removed without one, in the pages that the database has, and free pages are given back.
///
/// An error if another process uses the database. A crash in the middle leaves a damaged database,
/// so this is for caches only.
pub(super) fn write_in_place<T>(
    path: &Path,
    layout: &DatabaseLayout,
    wait: Duration,
    act: &mut impl FnMut(&mut Connection) -> Result<T>,
) -> Result<T> {
    let path = &follow_links(path)?;
    let _lock = lock_database(path, wait)?;
    let _alone = connection::block_openings();
    let mut connection = match open_without_log(path, layout) {
        Err(error) if error.kind() == ErrorKind::Full => {
            // The log is folded in where its pages have no room beside it: it is read, emptied, and
            // only then written to its place, where it takes no more than before.
            let held = open_exclusively(path, layout)?;
            let [log, _] = sidecars(path);
            let bytes = fsx::read_regular(&log, LARGEST_FILE)?.unwrap_or_default();
            let mut pages: Vec<(u32, usize)> =
                committed_pages(&bytes, LogReading::Strict).into_iter().collect();
            pages.sort_unstable();
            fsx::truncate_file(&log)?;
            let page = |(number, at): &(u32, usize)| {
                (u64::from(number - 1) * PAGE_SIZE as u64, &bytes[*at..at + PAGE_SIZE])
            };
            fsx::overwrite_ranges(path, pages.iter().map(page))?;
            // Until here, it keeps the exclusive lock.
            drop(held);
            open_without_log(path, layout)?
        }
        opened => opened?,
    };
    let done = act(&mut connection);
    // Best effort: otherwise free pages stay in the file, and are reused.
    let _ = release_free_pages(&connection);
    set_journal(&connection, "WAL")?;
    done
}

/// Opens the database exclusively and without a log, which SQLite folds in if it has the room.
fn open_without_log(path: &Path, layout: &DatabaseLayout) -> Result<Connection> {
    let connection = open_exclusively(path, layout)?;
    set_journal(&connection, "MEMORY")?;
    Ok(connection)
}

fn open_exclusively(path: &Path, layout: &DatabaseLayout) -> Result<Connection> {
    let connection = connection::connect(path)?;
    layout.run_pragmas(&connection)?;
    let explained = "cannot lock the database";
    // Defensive mode would not let us switch the journal off.
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false);
    set.doing(explained)?;
    let alone = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
                 BEGIN EXCLUSIVE; COMMIT;";
    connection.execute_batch(alone).doing(explained)?;
    if schema_version(&connection)? != layout.version {
        return Err(Error::new(ErrorKind::Full, "the database must be migrated first"));
    }
    Ok(connection)
}

fn set_journal(connection: &Connection, mode: &str) -> Result<()> {
    let set: String = connection
        .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))
        .doing("cannot change the journal mode")?;
    if set.eq_ignore_ascii_case(mode) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Locked, format!("the journal mode stays {set}")))
}

/// Shrinks the file to its contents.
fn release_free_pages(connection: &Connection) -> Result<()> {
    let explained = "cannot release free pages";
    let number = |name| connection::pragma_number(connection, name).doing(explained);
    let free = number("freelist_count")?;
    let used = number("page_count")? - free;
    let is_stepwise = number("auto_vacuum")? > 0;
    if free == 0 || !is_stepwise && used > MOST_COPIED {
        return Ok(());
    }
    set_journal(connection, "OFF")?;
    let given = if is_stepwise {
        connection::vacuum_pages(connection, 0)
    } else {
        connection.execute_batch("VACUUM")
    };
    given.doing(explained)
}
