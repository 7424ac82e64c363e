//! Read-only inspection of a database: is it sound? Nothing is set aside, migrated or waited for.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::DatabaseFileRole;
use super::connection::{
    SqlContext as _, busy_handler, find_damage, from_sqlite, sidecars, with_wait_limit,
};
use super::layout::{DatabaseLayout, SchemaState, schema_version};
use super::recover::ensure_ours;
use crate::base::fsx::{self, FileVersionStamp};
use crate::error::{Error, ErrorKind, Result};

/// Wait for a process that has the database to itself.
const EXCLUSIVE_WAIT: Duration = Duration::from_millis(500);

/// State of a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseInspection {
    /// The version of its tables.
    pub version: i64,
    /// The version that this program writes.
    pub newest: i64,
    /// Size on disk, with its log.
    pub bytes: u64,
    /// Result of the integrity check.
    pub soundness: DatabaseSoundness,
}

/// Result of an integrity check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DatabaseSoundness {
    /// No damage.
    Sound,
    /// No damage found before the time was up.
    Unfinished,
    /// Damaged, in SQLite's words.
    Damaged(String),
}

/// Inspects the database at `path`; `None` if there is none yet. `also` is a further query, for a
/// database that can be queried at all. The error's kind is [`ErrorKind::Corrupt`] if the database
/// is damaged, and ours to set aside.
pub(crate) fn inspect_database<T>(
    path: &Path,
    layout: &DatabaseLayout,
    limit: Duration,
    also: impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<(DatabaseInspection, T)>> {
    let Ok(found) = fs::metadata(path) else {
        // Missing, or not accessible.
        return match fs::symlink_metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            _ => Err(Error::new(ErrorKind::Io, "cannot access the file")),
        };
    };
    // Opening a pipe would block.
    if !found.is_file() {
        return Err(Error::new(ErrorKind::Io, "not a regular file"));
    }
    let bytes = found.len() + log_size(path);
    let found: Result<_> = with_wait_limit(EXCLUSIVE_WAIT, || {
        let state = || fs::metadata(path).ok().map(|found| FileVersionStamp::of(&found));
        let before = state();
        let has_no_log = log_size(path) == 0;
        let found = inspect_connection(&open_read_only(path, has_no_log)?, layout, limit, &also);
        // A reader of the file alone sees half of a concurrent write.
        let is_still = before == state();
        let found = if is_still {
            found
        } else {
            inspect_connection(&open_read_only(path, false)?, layout, limit, &also)
        }?;
        let inspected = |(version, more, soundness)| {
            (DatabaseInspection { version, newest: layout.version, bytes, soundness }, more)
        };
        Ok(found.map(inspected))
    });
    match &found {
        Err(error) if error.kind() == ErrorKind::Corrupt => ensure_ours(path, layout)?,
        _ => {}
    }
    found
}

fn inspect_connection<T>(
    connection: &Connection,
    layout: &DatabaseLayout,
    limit: Duration,
    also: &impl Fn(&Connection) -> rusqlite::Result<T>,
) -> Result<Option<(i64, T, DatabaseSoundness)>> {
    if layout.check_version(connection)? == SchemaState::Empty {
        return Ok(None);
    }
    let version = schema_version(connection)?;
    let more = also(connection).doing("cannot read the database")?;
    let soundness = match check_integrity(connection, limit, "quick_check")? {
        DatabaseSoundness::Sound => match layout.find_schema_fault(connection)? {
            Some(fault) => DatabaseSoundness::Damaged(fault),
            None => check_integrity(connection, limit, "integrity_check")?,
        },
        soundness => soundness,
    };
    Ok(Some((version, more, soundness)))
}

fn log_size(path: &Path) -> u64 {
    let [log, _] = sidecars(path);
    fs::metadata(log).map_or(0, |log| log.len())
}

/// Opens a database for reading; `alone` is for one without a log, and creates no files beside it.
fn open_read_only(path: &Path, alone: bool) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = match path.to_str().filter(|_| alone) {
        Some(path) => {
            let escaped = path.replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let uri = format!("file:{escaped}?immutable=1");
            Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_URI)
        }
        None => Connection::open_with_flags(path, flags),
    };
    let mut connection = opened.doing("cannot open the database")?;
    connection.busy_handler(Some(busy_handler)).doing("cannot configure the database")?;
    Ok(connection)
}

/// Runs [`find_damage`] and interrupts it when the time is up.
fn check_integrity(
    connection: &Connection,
    limit: Duration,
    pragma: &str,
) -> Result<DatabaseSoundness> {
    let handle = connection.get_interrupt_handle();
    let (done, waiting) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if waiting.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Timeout) {
            handle.interrupt();
        }
    });
    let damage = find_damage(connection, pragma);
    drop(done);
    let _ = watch.join();
    match damage {
        Ok(None) => Ok(DatabaseSoundness::Sound),
        Ok(Some(damage)) => Ok(DatabaseSoundness::Damaged(damage)),
        Err(error)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
        {
            Ok(DatabaseSoundness::Unfinished)
        }
        Err(error) => Err(from_sqlite(error, "cannot check the database")),
    }
}

/// Directories beside a database with damaged ones that were set aside, oldest first.
pub fn list_set_aside(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let entries = fs::read_dir(fsx::parent(path)).into_iter().flatten().flatten();
    let is_aside =
        |it: &str| matches!(DatabaseFileRole::of(it, name), Some(DatabaseFileRole::SetAside(_)));
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_aside))
        .map(|entry| entry.path())
        .collect();
    found.sort_unstable();
    found
}
