//! One connection: opening, configuration, and the identity of its file.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::layout::{DatabaseLayout, SchemaState, schema_version};
use super::{busy, fault};
use crate::base::fsx;
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

/// Prevents databases from being moved within this process.
fn block_moves() -> RwLockReadGuard<'static, ()> {
    MOVE_LOCK.read().unwrap_or_else(PoisonError::into_inner)
}

/// Prevents databases from being opened within this process.
pub(super) fn block_openings() -> RwLockWriteGuard<'static, ()> {
    MOVE_LOCK.write().unwrap_or_else(PoisonError::into_inner)
}

/// Identity of the file that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileId {
    device: u64,
    inode: u64,
}

impl FileId {
    /// Identity of the file at `path`; `None` if it is missing.
    pub(super) fn of(path: &Path) -> Result<Option<Self>> {
        Ok(Self::with_length(path)?.map(|(file, _)| file))
    }

    /// Like [`Self::of`], with the length of the file.
    fn with_length(path: &Path) -> Result<Option<(Self, u64)>> {
        match fs::metadata(path) {
            Ok(meta) => {
                ensure_trusted_owner(&meta)?;
                Ok(Some((Self { device: meta.dev(), inode: meta.ino() }, meta.len())))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| "looking for it".to_owned()),
        }
    }
}

/// Rejects files of other users: in a directory that many may write to, they could be planted.
fn ensure_trusted_owner(meta: &fs::Metadata) -> Result<()> {
    let ours = meta.uid() == 0 || meta.uid() == rustix::process::geteuid().as_raw();
    if ours {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Io, "it belongs to another user, and is not believed"))
}

/// A connection to a database with our tables.
#[derive(Debug)]
pub(super) struct OpenDatabase {
    pub(super) connection: Connection,
    file: FileId,
}

impl OpenDatabase {
    /// True if the path still leads to this connection's file. If it was removed or set aside,
    /// writes would be lost.
    pub(super) fn is_current(&self, path: &Path) -> bool {
        matches!(FileId::of(path), Ok(Some(file)) if file == self.file)
    }
}

/// Opens an existing database; `None` if it is missing or still empty.
///
/// The result counts only if the path led to the same file all the time: a file that was set aside
/// meanwhile may have been opened with the log of its successor.
pub(super) fn open_existing(path: &Path, layout: &DatabaseLayout) -> Result<Option<OpenDatabase>> {
    loop {
        let file = match FileId::with_length(path)? {
            // SQLite would remove the log of an empty file, and that may be all that is left.
            None | Some((_, 0)) => return Ok(None),
            Some((file, _)) => file,
        };
        let opened = open_file(path, file, layout);
        if FileId::of(path)? == Some(file) {
            return opened;
        }
    }
}

fn open_file(path: &Path, file: FileId, layout: &DatabaseLayout) -> Result<Option<OpenDatabase>> {
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
    let mut connection = Connection::open_with_flags(path, flags)
        .map_err(|error| fault::from_sqlite(error, "opening it"))?;
    configure(&mut connection).map_err(|error| fault::from_sqlite(error, "configuring it"))?;
    Ok(connection)
}

fn configure(connection: &mut Connection) -> rusqlite::Result<()> {
    connection.busy_handler(Some(busy::busy_handler))?;
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
        .map_err(|error| fault::from_sqlite(error, "configuring it"))?;
    layout.migrate_if_needed(connection)
}

/// Makes each commit wait until the log is on disk, or no longer.
pub(super) fn sync_commits(connection: &Connection, is_synced: bool) -> Result<()> {
    let level = if is_synced { "FULL" } else { "NORMAL" };
    connection
        .pragma_update(None, "synchronous", level)
        .map_err(|error| fault::from_sqlite(error, "configuring it"))
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
        let _ = busy::with_wait_limit(Duration::ZERO, || {
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        });
    }
}

/// The files that SQLite keeps beside a database.
pub(super) fn sidecars(path: &Path) -> [PathBuf; 2] {
    ["-wal", "-shm"].map(|suffix| fsx::with_suffix(path, suffix))
}
