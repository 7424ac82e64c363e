//! Removal on a full disk. A transaction needs room for its log before it frees any, so rows are
//! removed without one, in the pages that the database has, and free pages are given back.
//!
//! Nobody else may have the database open meanwhile. A crash in the middle leaves a damaged
//! database, so this is for caches only.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::connection::{self, sidecars};
use super::log::{LogReading, committed_pages};
use super::pages::{LARGEST_FILE, PAGE_SIZE};
use super::{DatabaseLayout, fault, recover};
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// Limit for a `VACUUM` in memory, in pages in use: 64 MiB.
const MOST_COPIED: i64 = 16_384;

/// Runs `act` in place. An error if another process uses the database.
pub(super) fn write_in_place<T>(
    path: &Path,
    layout: &DatabaseLayout,
    wait: Duration,
    act: &mut impl FnMut(&mut Connection) -> Result<T>,
) -> Result<T> {
    let path = &recover::follow_links(path)?;
    let _lock = recover::lock_database(path, wait)?;
    let _alone = connection::block_openings();
    let mut connection = match open_without_log(path, layout) {
        Err(error) if error.kind() == ErrorKind::Full => {
            fold_log(path, layout)?;
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
    let explained = |error| fault::from_sqlite(error, "taking it for ourselves");
    // Defensive mode would not let us switch the journal off.
    let set = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false);
    set.map_err(explained)?;
    let alone = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA temp_store = MEMORY;
                 BEGIN EXCLUSIVE; COMMIT;";
    connection.execute_batch(alone).map_err(explained)?;
    if super::schema_version(&connection)? != layout.version {
        return Err(Error::new(ErrorKind::Full, "it has to be brought to this version first"));
    }
    Ok(connection)
}

fn set_journal(connection: &Connection, mode: &str) -> Result<()> {
    let set: String = connection
        .query_row(&format!("PRAGMA journal_mode = {mode}"), [], |row| row.get(0))
        .map_err(|error| fault::from_sqlite(error, "changing its journal"))?;
    if set.eq_ignore_ascii_case(mode) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Locked, format!("its journal stays {set}")))
}

/// Folds the log in where its pages have no room beside it: it is read, emptied, and only then
/// written to its place, where it takes no more than before.
fn fold_log(path: &Path, layout: &DatabaseLayout) -> Result<()> {
    // Keeps the exclusive lock until the end.
    let _held = open_exclusively(path, layout)?;
    let [log, _] = sidecars(path);
    let bytes = fsx::read_regular(&log, LARGEST_FILE)?.unwrap_or_default();
    let mut pages: Vec<(u32, usize)> =
        committed_pages(&bytes, LogReading::Strict).into_iter().collect();
    pages.sort_unstable();
    fsx::truncate_file(&log)?;
    let page = |(number, at): &(u32, usize)| {
        (u64::from(number - 1) * PAGE_SIZE as u64, &bytes[*at..at + PAGE_SIZE])
    };
    fsx::overwrite_ranges(path, pages.iter().map(page))
}

/// Shrinks the file to its contents.
fn release_free_pages(connection: &Connection) -> Result<()> {
    let explained = |error| fault::from_sqlite(error, "giving back what is free");
    let number = |name| connection::pragma_number(connection, name).map_err(explained);
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
    given.map_err(explained)
}
