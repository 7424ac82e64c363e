//! An SQLite database of another program. It is copied with its log and read there: neither its
//! files nor its locks are touched, whatever the program does meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use recoup_core::base::fsx;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rusqlite::config::DbConfig;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use tempfile::TempDir;

/// First bytes of every SQLite file.
pub(super) const MAGIC: &[u8] = b"SQLite format 3\0";

/// Endings of the files that make up a database; the journal undoes a transaction that was cut off.
const PARTS: [&str; 3] = ["", "-wal", "-journal"];
const COPY: &str = "source.db";

/// How often a copy is repeated while the program writes, and the pause in between.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// Most rows that are read of a table.
const MOST_ROWS: usize = 200_000;

/// A copy of another program's database, as it was at one moment. Removed when it is dropped.
#[derive(Debug)]
pub(crate) struct ForeignDatabase {
    connection: Connection,
    path: PathBuf,
    _dir: TempDir,
}

/// Size, times and number of a file; none if it is missing.
type FileState = Option<(u64, i64, i64, i64, i64, u64)>;

impl ForeignDatabase {
    pub(super) fn open(path: &Path) -> Result<Self> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                thread::sleep(PAUSE);
            }
            let dir = TempDir::new().with_context(|| "cannot create a directory".to_owned())?;
            let before = states(path)?;
            for part in PARTS {
                copy_if_present(&fsx::with_suffix(path, part), dir.path(), part)?;
            }
            if states(path)? == before {
                let connection = connect(&dir.path().join(COPY));
                let connection = connection.map_err(|error| explain(path, &error))?;
                return Ok(Self { connection, path: path.to_owned(), _dir: dir });
            }
        }
        let message = format!("{} changes all the time: end its program first", path.display());
        Err(Error::new(ErrorKind::Locked, message))
    }

    /// True if there is a table with these columns.
    pub(super) fn has_columns(&self, table: &str, wanted: &[&str]) -> Result<bool> {
        // A view is a program of its own, which is not run.
        let sql =
            "SELECT info.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS info
                   WHERE tables.type = 'table' AND tables.name = ?1";
        let columns = self.words(sql, &[table])?;
        Ok(wanted.iter().all(|name| columns.iter().any(|column| column == name)))
    }

    /// Names of all tables.
    pub(super) fn tables(&self) -> Result<Vec<String>> {
        self.words("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name", &[])
    }

    fn words(&self, sql: &str, values: &[&str]) -> Result<Vec<String>> {
        let read = || {
            let mut statement = self.connection.prepare(sql)?;
            let names =
                statement.query_map(rusqlite::params_from_iter(values), |row| row.get(0))?;
            names.collect::<rusqlite::Result<Vec<String>>>()
        };
        read().map_err(|error| explain(&self.path, &error))
    }

    /// Visits the rows of a table, with all columns that it has, in the order of one of them.
    pub(super) fn each_row(
        &self,
        table: &str,
        order: &str,
        visit: &mut dyn FnMut(&ForeignRow<'_>) -> Result<()>,
    ) -> Result<()> {
        let failed = |error: rusqlite::Error| explain(&self.path, &error);
        let quoted = |name: &str| format!("\"{}\"", name.replace('"', "\"\""));
        let (table, order) = (quoted(table), quoted(order));
        let sql = format!("SELECT * FROM {table} ORDER BY {order} LIMIT {MOST_ROWS}");
        let mut statement = self.connection.prepare(&sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            visit(&ForeignRow(row))?;
        }
        Ok(())
    }
}

/// A row, whose columns may be missing in older versions of the program.
pub(super) struct ForeignRow<'a>(&'a Row<'a>);

impl ForeignRow<'_> {
    fn value(&self, column: &str) -> Option<ValueRef<'_>> {
        self.0.get_ref(column).ok()
    }

    pub(super) fn text(&self, column: &str) -> Option<String> {
        match self.value(column)? {
            ValueRef::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
            ValueRef::Integer(number) => Some(number.to_string()),
            _ => None,
        }
    }

    #[expect(clippy::cast_possible_truncation, reason = "`as` stops at the ends of the range")]
    pub(super) fn integer(&self, column: &str) -> Option<i64> {
        match self.value(column)? {
            ValueRef::Integer(number) => Some(number),
            ValueRef::Real(number) => Some(number as i64),
            _ => None,
        }
    }

    pub(super) fn bytes(&self, column: &str) -> Option<&[u8]> {
        match self.value(column)? {
            ValueRef::Blob(bytes) | ValueRef::Text(bytes) => Some(bytes),
            _ => None,
        }
    }
}

fn states(path: &Path) -> Result<[FileState; 3]> {
    let mut all = [None; 3];
    for (state, part) in all.iter_mut().zip(PARTS) {
        let path = fsx::with_suffix(path, part);
        *state = match fs::metadata(&path) {
            Ok(it) => {
                Some((it.len(), it.mtime(), it.mtime_nsec(), it.ctime(), it.ctime_nsec(), it.ino()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot access {}", path.display()));
            }
        };
    }
    Ok(all)
}

fn copy_if_present(from: &Path, dir: &Path, part: &str) -> Result<()> {
    let doing = || format!("cannot copy {}", from.display());
    let mut source = match File::open(from) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && !part.is_empty() => return Ok(()),
        opened => opened.with_context(|| format!("cannot open {}", from.display()))?,
    };
    // Named files of this crate are private.
    let name = format!("{COPY}{part}");
    let created = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempfile_in(dir);
    let mut copy = created.with_context(doing)?;
    io::copy(&mut source, copy.as_file_mut()).with_context(doing)?;
    let kept = copy.into_temp_path().keep();
    kept.map(drop).map_err(|error| error.error).with_context(doing)
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Damage is found before anything is imported.
    let verdict: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if verdict == "ok" {
        return Ok(connection);
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(verdict)))
}

fn explain(path: &Path, error: &rusqlite::Error) -> Error {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase};
    let path = path.display();
    match error.sqlite_error_code() {
        Some(DatabaseCorrupt | NotADatabase) => {
            let message = format!("{path} is damaged; nothing of it was imported");
            Error::new(ErrorKind::Corrupt, message).with_source(error.to_string())
        }
        _ => {
            Error::new(ErrorKind::Io, format!("cannot read {path}")).with_source(error.to_string())
        }
    }
}
