//! One connection: opening, configuration, waiting, errors, and the identity of its file.
//!
//! SQLite's own time-out sleeps in ever longer steps, which starves the unlucky; short random steps
//! until a deadline are fairer.

use std::cell::Cell;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rusqlite::config::DbConfig;
use rusqlite::ffi::{SQLITE_ERROR, SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_WRITE};
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::layout::{DatabaseLayout, SchemaState, schema_version};
use crate::base::clock::Deadline;
use crate::base::fsx::{self, FileIdentity};
use crate::error::{Error, ErrorKind, IoContext, Result};

/// Size at which the log is folded back into the database. Small, because the first process to open
/// the file reads the whole log, page by page.
const LOG_MAX: u64 = 64 * 4096;

/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 32;

/// Held shared while a database is opened, and exclusively while one is moved.
///
/// SQLite finds a database's log by its path, some time after it opened the
/// database itself. If another took the path in between, two files have one log.
/// Processes are kept apart there by locks on the log's index, but those locks
/// belong to a process as a whole: within one, the late opener would take the
/// index for abandoned and cut it off under its owner's feet.
static MOVE_LOCK: RwLock<()> = RwLock::new(());

thread_local! {
    /// SQLite calls the handler on the thread that waits, without a context.
    static WAIT_DEADLINE: Cell<Option<Deadline>> = const { Cell::new(None) };
}

/// Prevents databases from being moved within this process.
fn block_moves() -> RwLockReadGuard<'static, ()> {
    MOVE_LOCK.read()
}

/// Prevents databases from being opened within this process.
pub(super) fn block_openings() -> RwLockWriteGuard<'static, ()> {
    MOVE_LOCK.write()
}

/// Metadata of the file that a path leads to; `None` if it is missing. Rejects files of other users:
/// in a directory that many may write to, they could be planted.
fn trusted_metadata(path: &Path) -> Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(meta) if meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw() => {
            Ok(Some(meta))
        }
        Ok(_) => Err(Error::new(ErrorKind::Io, "refusing to use it: owned by another user")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| "cannot access the file".to_owned()),
    }
}

/// Identity of the file that a path leads to; `None` if it is missing.
pub(super) fn identify_file(path: &Path) -> Result<Option<FileIdentity>> {
    Ok(trusted_metadata(path)?.map(|meta| FileIdentity::of(&meta)))
}

/// A connection to a database with our tables.
#[derive(Debug)]
pub(super) struct OpenDatabase {
    pub(super) connection: Connection,
    file: FileIdentity,
}

impl OpenDatabase {
    /// True if the path still leads to this connection's file. If it was removed or set aside,
    /// writes would be lost.
    pub(super) fn is_current(&self, path: &Path) -> bool {
        matches!(identify_file(path), Ok(Some(file)) if file == self.file)
    }
}

/// Opens an existing database; `None` if it is missing or still empty.
///
/// The result counts only if the path led to the same file all the time: a file that was set aside
/// meanwhile may have been opened with the log of its successor.
pub(super) fn open_existing(path: &Path, layout: &DatabaseLayout) -> Result<Option<OpenDatabase>> {
    loop {
        // SQLite would remove the log of an empty file, and that may be all that is left.
        let found = trusted_metadata(path)?.filter(|meta| meta.len() > 0);
        let Some(file) = found.map(|meta| FileIdentity::of(&meta)) else { return Ok(None) };
        let opened = open_file(path, file, layout);
        if identify_file(path)? == Some(file) {
            return opened;
        }
    }
}

fn open_file(
    path: &Path,
    file: FileIdentity,
    layout: &DatabaseLayout,
) -> Result<Option<OpenDatabase>> {
    let _still = block_moves();
    let mut connection = connect(path)?;
    layout.run_pragmas(&connection)?;
    let found = layout.check_version(&connection)?;
    if found == SchemaState::Older {
        layout.migrate_if_needed(&mut connection)?;
    }
    Ok((found != SchemaState::Empty).then_some(OpenDatabase { connection, file }))
}

/// Opens an existing database with any content, together with its log.
pub(crate) fn open_unchecked(path: &Path) -> Result<Connection> {
    let _still = block_moves();
    let connection = connect(path)?;
    schema_version(&connection)?;
    Ok(connection)
}

/// Opens without creating, and without touching the file yet.
pub(super) fn connect(path: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(|error| {
        let doing = "cannot open the database";
        // SQLite repeats the path, and does not say why.
        match rustix::fs::access(path, rustix::fs::Access::READ_OK) {
            Err(cause) => Error::new(ErrorKind::Io, doing).with_source(io::Error::from(cause)),
            Ok(()) => from_sqlite(error, doing),
        }
    })?;
    configure(&mut connection).doing("cannot configure the database")?;
    Ok(connection)
}

fn configure(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(busy_handler))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // A plan never depends on values: else a statement is prepared anew for each of them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(())
}

/// Configures a connection for writing, and migrates the tables. With `NORMAL` an entry survives a
/// crash of the process at once, and of the machine from the next checkpoint on; [`sync_commits`]
/// is for what can't wait.
///
/// SQLite's own checkpoints are off: they leave the log's length as it is, and a process that lives
/// for one write never gets to start it over.
pub(super) fn configure_writer(connection: &mut Connection, layout: &DatabaseLayout) -> Result<()> {
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = NORMAL;
             PRAGMA secure_delete = ON;
             PRAGMA wal_autocheckpoint = 0;
             PRAGMA cache_size = -{};",
            layout.cache
        ))
        .doing("cannot configure the database")?;
    layout.migrate_if_needed(connection)
}

/// Makes each commit wait until the log is on disk, or no longer.
pub(super) fn sync_commits(connection: &Connection, is_synced: bool) -> Result<()> {
    let level = if is_synced { "FULL" } else { "NORMAL" };
    connection.pragma_update(None, "synchronous", level).doing("cannot configure the database")
}

/// Gives back up to `most` unused pages of a file that is vacuumed in steps; all of them for 0.
/// SQLite does one page at each step of the statement, which must be gone through to its end.
pub(crate) fn vacuum_pages(connection: &Connection, most: u32) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA incremental_vacuum({most})"))?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}

/// Returns the value of a PRAGMA that is a number, such as `user_version`.
pub(crate) fn pragma_number(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.prepare_cached(&format!("PRAGMA {name}"))?.query_row([], |row| row.get(0))
}

/// Returns the first problem that SQLite finds in the whole database; `None` if it is sound.
///
/// `quick_check` reads every page. `integrity_check` also compares every index with its table,
/// which takes many times as long.
pub(crate) fn find_damage(
    connection: &Connection,
    check: &str,
) -> rusqlite::Result<Option<String>> {
    let sql = format!("PRAGMA {check}(1)");
    let verdict: String = connection.query_row(&sql, [], |row| row.get(0))?;
    Ok((verdict != "ok").then_some(verdict))
}

/// Folds the log back into the database and empties it, if it is due and nobody reads from it; else
/// the next writer will. Best effort: what was written is in the log.
pub(super) fn checkpoint_if_due(connection: &Connection) {
    // SQLite's path, not ours: a log is not beside a link to its database.
    let Some(path) = connection.path() else { return };
    let [log, _] = sidecars(Path::new(path));
    if fs::metadata(log).is_ok_and(|log| log.len() > LOG_MAX) {
        let _ = with_wait_limit(Duration::ZERO, || {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
    }
}

/// The files that SQLite keeps beside a database.
pub(super) fn sidecars(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|suffix| fsx::with_suffix(path, suffix))
}

/// Runs `act`, in which SQLite may wait for at most `wait`.
pub(crate) fn with_wait_limit<T>(wait: Duration, act: impl FnOnce() -> T) -> T {
    let before = WAIT_DEADLINE.replace(Some(Deadline::after(wait)));
    let done = act();
    WAIT_DEADLINE.set(before);
    done
}

/// Busy handler of SQLite: sleeps a little, and returns true to try again.
pub(super) fn busy_handler(tries: i32) -> bool {
    let remaining = WAIT_DEADLINE.get().map_or(Duration::ZERO, Deadline::remaining);
    if remaining.is_zero() {
        return false;
    }
    let longest = 200 * u64::from(tries.clamp(1, 50).unsigned_abs());
    thread::sleep(Duration::from_micros(fastrand::u64(50..=longest)).min(remaining));
    true
}

/// Turns an error of SQLite into one of ours.
pub(crate) trait SqlContext<T> {
    /// Names what was being done: "reading memories".
    fn doing(self, what: &str) -> Result<T>;
}

impl<T> SqlContext<T> for rusqlite::Result<T> {
    fn doing(self, what: &str) -> Result<T> {
        self.map_err(|error| from_sqlite(error, what))
    }
}

/// Converts SQLite's error into ours: the action that failed, and a kind that callers react to.
#[expect(clippy::needless_pass_by_value, reason = "as `map_err` gives it")]
pub(crate) fn from_sqlite(error: rusqlite::Error, doing: &str) -> Error {
    let kind = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ErrorKind::Locked,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => ErrorKind::Corrupt,
        Some(ErrorCode::ReadOnly) => ErrorKind::ReadOnly,
        Some(ErrorCode::DiskFull) => ErrorKind::Full,
        // How SQLite reports a quota, or a limit on the size of files.
        _ if matches!(
            error.sqlite_extended_error_code(),
            Some(SQLITE_IOERR_WRITE | SQLITE_IOERR_SHMSIZE)
        ) =>
        {
            ErrorKind::Full
        }
        // Our own statements fit our own tables: a table or trigger is not as we made it.
        _ if error.sqlite_extended_error_code() == Some(SQLITE_ERROR) => ErrorKind::Corrupt,
        _ => ErrorKind::Io,
    };
    // As text: the cause that SQLite's error carries says the same again.
    Error::new(kind, doing).with_source(error.to_string())
}
