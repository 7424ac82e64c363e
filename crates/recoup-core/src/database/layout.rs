//! Schema of a database of ours, the versions of it that are understood, and the files that belong
//! to it by their names: one list for creating, forgetting and deleting.
//!
//! ```text
//! NAME.recoup-lock           held while it is created, copied or replaced
//! NAME.backup-VERSION        copy from before a migration
//! NAME.damaged-ID/           damaged database, with its log
//! NAME.mark                  number of changes that it should contain
//! NAME.copy, .new            unfinished copy or database
//! ```
//! SQLite's own files, `-wal` and the like, may exist for each of these.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::connection::{SqlContext as _, pragma_number};
use super::recover;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// Wait for another process that makes a copy.
const BACKUP_WAIT: Duration = Duration::from_secs(2);

const LOCK: &str = ".recoup-lock";
const BACKUP: &str = ".backup-";
const SET_ASIDE: &str = ".damaged-";
/// A copy on its way to becoming a backup.
const COPY: &str = ".copy";
/// A database on its way to its place.
pub(super) const FRESH: &str = ".new";
/// Repaired copies, which earlier versions made to read a damaged database.
const MENDED: &str = ".mended";
const MARK: &str = ".mark";

/// Suffixes of SQLite's own files.
const LOGS: [&str; 3] = ["-wal", "-shm", "-journal"];

/// Fills a fresh database with what can be read of a damaged one.
pub(crate) type RescueDatabase =
    fn(damaged: &Path, fresh: &Connection, place: &Path) -> Result<u64>;

/// Schema of a database, and how its versions are migrated.
#[derive(Debug)]
pub(crate) struct DatabaseLayout {
    /// Name for users: `cache`.
    pub(crate) name: &'static str,
    /// Hint for when its place can't be used.
    pub(crate) elsewhere: &'static str,
    /// Marks the file as ours in its header, and as which of ours.
    pub(crate) application_id: u32,
    /// The version of the tables. A newer one is refused.
    pub(crate) version: i64,
    /// The oldest version that can be brought to this one.
    pub(crate) first: i64,
    /// The oldest version that can be read as it is; its first writer migrates it. Versions before
    /// that are migrated when they are opened.
    pub(crate) oldest: i64,
    /// Statements for each new connection.
    pub(crate) pragmas: &'static str,
    /// Statements that set up a new file before its tables are created.
    pub(crate) creation_pragmas: &'static str,
    /// Page cache of a writer, in KiB: as long as it fits, a change of very many rows writes each
    /// page once.
    pub(crate) cache: u32,
    /// True if a copy is made before a migration: for data that can't be had again.
    pub(crate) backs_up: bool,
    /// Statements that create the tables.
    pub(crate) tables: &'static [&'static str],
    /// Statements for what a sound file of this version may lack, because a large older file gets
    /// it some time after its migration: indexes, and triggers that need them.
    pub(crate) deferred: &'static str,
    /// Migrates older tables to this version, within a transaction.
    pub(crate) migrate: fn(&Connection, from: i64) -> Result<()>,
    /// Copies the readable rows of a damaged database into a fresh one, records there that the
    /// damaged one went to `place`, and returns their number; `None` if an empty one will do.
    pub(crate) rescue: Option<RescueDatabase>,
}

/// State of a database file's schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaState {
    /// No tables yet.
    Empty,
    /// Our tables, in a version that can be read.
    Ready,
    /// Our tables, in a version that must be migrated before it can be read.
    Older,
}

impl DatabaseLayout {
    /// Runs the statements that each connection needs.
    pub(super) fn run_pragmas(&self, connection: &Connection) -> Result<()> {
        if self.pragmas.is_empty() {
            return Ok(());
        }
        let explained = "cannot configure the database";
        connection.execute_batch(self.pragmas).doing(explained)
    }

    /// Checks the version: the first access to the file.
    pub(super) fn check_version(&self, connection: &Connection) -> Result<SchemaState> {
        let mut version = schema_pragma(connection, "user_version")?;
        if version == 0 {
            let tables: i64 = connection
                .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
                .doing("cannot read the schema")?;
            if tables == 0 {
                return Ok(SchemaState::Empty);
            }
            // Another process may have made the tables in between.
            version = schema_pragma(connection, "user_version")?;
        }
        if schema_pragma(connection, "application_id")? != i64::from(self.application_id) {
            return Err(Error::new(ErrorKind::Io, "the database belongs to another program"));
        }
        let known = self.version;
        match version {
            version if (self.oldest..=known).contains(&version) => Ok(SchemaState::Ready),
            version if (self.first..self.oldest).contains(&version) => Ok(SchemaState::Older),
            older if older < known => {
                Err(Error::new(ErrorKind::Io, format!("unknown schema version {older}")))
            }
            newer => Err(Error::new(
                ErrorKind::TooNew,
                format!(
                    "made by a newer version of recoup (schema {newer}, this version supports up to {known})"
                ),
            )),
        }
    }

    /// Describes how the schema differs from this version's; `None` if it does not, or if it has
    /// another version.
    pub(super) fn find_schema_fault(&self, connection: &Connection) -> Result<Option<String>> {
        if schema_version(connection)? != self.version {
            return Ok(None);
        }
        let made = || {
            let expected = Connection::open_in_memory()?;
            expected.execute_batch(&self.tables.concat())?;
            let required = schema_objects(&expected)?;
            expected.execute_batch(self.deferred)?;
            Ok((required, schema_objects(&expected)?, schema_objects(connection)?))
        };
        let (required, expected, found) = made().doing("cannot read the schema")?;
        let differs = expected.iter().find(|(name, made)| match found.get(*name) {
            Some(found) => found != *made,
            None => required.contains_key(*name),
        });
        // An index that somebody added does no harm; a trigger may do anything.
        let added = found
            .iter()
            .find(|(name, it)| it.starts_with("CREATE TRIGGER") && !expected.contains_key(*name));
        let fault =
            |(name, _): (&String, &String)| format!("{name} differs from the expected schema");
        Ok(differs.or(added).map(fault))
    }

    /// Creates the tables in an empty file that nobody else knows yet. All of it is in that file
    /// afterwards: the log begins with the first write.
    pub(super) fn create_tables(&self, connection: &Connection) -> Result<()> {
        let Self { application_id, version, creation_pragmas, deferred, .. } = self;
        let tables = self.tables.concat();
        let script = format!(
            "{creation_pragmas}
             PRAGMA journal_mode = MEMORY;
             BEGIN IMMEDIATE;
             {tables}
             {deferred}
             PRAGMA application_id = {application_id};
             PRAGMA user_version = {version};
             COMMIT;
             PRAGMA journal_mode = WAL;"
        );
        let doing = format!("cannot create the tables of the {}", self.name);
        connection.execute_batch(&script).doing(&doing)
    }

    /// Migrates the tables to this version if needed, in one transaction; of concurrent callers one
    /// does it.
    pub(super) fn migrate_if_needed(&self, connection: &mut Connection) -> Result<()> {
        if schema_version(connection)? >= self.version {
            return Ok(());
        }
        let doing = format!("cannot migrate the {}", self.name);
        if self.backs_up {
            back_up_before_migration(connection)?;
        }
        in_transaction(connection, &doing, |connection| {
            let from = schema_version(connection)?;
            if from >= self.version {
                return Ok(());
            }
            (self.migrate)(connection, from)?;
            connection.pragma_update(None, "user_version", self.version).doing(&doing)
        })
    }
}

/// Copies the database to a backup with its version in the name. One process makes it while others
/// wait; an unfinished copy is started again.
fn back_up_before_migration(connection: &Connection) -> Result<()> {
    let Some(path) = connection.path().map(PathBuf::from) else { return Ok(()) };
    let version = schema_version(connection)?;
    let backup = fsx::with_suffix(&path, &format!("{BACKUP}{version}"));
    let _alone = recover::lock_database(&path, BACKUP_WAIT)?;
    if backup.exists() {
        return Ok(());
    }
    let part = fsx::with_suffix(&path, COPY);
    for left in [&part, &fsx::with_suffix(&part, "-journal")] {
        fsx::remove(left)?;
    }
    fsx::create_private(&part)?;
    connection
        .execute("VACUUM INTO ?1", [part.to_string_lossy()])
        .doing("cannot back up the database before its migration")?;
    fsx::rename(&part, &backup)
}

/// The version that the tables have now.
pub(crate) fn schema_version(connection: &Connection) -> Result<i64> {
    schema_pragma(connection, "user_version")
}

/// The columns of each table, and the SQL of each index and trigger.
fn schema_objects(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let sql = "SELECT name, CASE type WHEN 'table' THEN
                   (SELECT group_concat(column, ', ') FROM
                    (SELECT concat_ws(' ', name, type, \"notnull\", pk) AS column
                     FROM pragma_table_info(sqlite_schema.name) ORDER BY 1))
               ELSE sql END
               FROM sqlite_schema WHERE sql IS NOT NULL";
    let mut select = connection.prepare(sql)?;
    let rows = select.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let in_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.map(|row| row.map(|(name, made)| (name, in_line(made)))).collect()
}

fn schema_pragma(connection: &Connection, name: &str) -> Result<i64> {
    pragma_number(connection, name).doing("cannot read the schema version")
}

/// Runs `act` in one transaction that is a write from the start, so that it waits its turn or fails
/// before anything is done.
pub(crate) fn in_transaction<T>(
    writer: &mut Connection,
    doing: &str,
    act: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let transaction =
        writer.transaction_with_behavior(TransactionBehavior::Immediate).doing(doing)?;
    let done = act(&transaction)?;
    transaction.commit().doing(doing)?;
    Ok(done)
}

/// Role of a file that is named after a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatabaseFileRole<'a> {
    /// The database, or SQLite's log of it.
    Itself,
    /// The lock.
    Lock,
    /// Number of changes that the database should contain.
    Mark,
    /// A copy, or SQLite's log of one; with the copy's own name.
    Backup(&'a str),
    /// Directory of a damaged database, with its id.
    SetAside(&'a str),
    /// Leftover that is useless once its maker has ended.
    Unfinished,
}

impl<'a> DatabaseFileRole<'a> {
    /// Role of the file called `name` for the database called `database`; `None` if unrelated.
    pub fn of(name: &'a str, database: &str) -> Option<Self> {
        let rest = name.strip_prefix(database)?;
        if rest == LOCK {
            return Some(Self::Lock);
        }
        if rest == MARK {
            return Some(Self::Mark);
        }
        if let Some(id) = rest.strip_prefix(SET_ASIDE) {
            return Some(Self::SetAside(id));
        }
        let without_log = |text: &'a str| LOGS.into_iter().find_map(|log| text.strip_suffix(log));
        let kind = without_log(rest).unwrap_or(rest);
        let is_version = |it: &str| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit());
        match kind {
            "" => Some(Self::Itself),
            COPY | FRESH | MENDED => Some(Self::Unfinished),
            kind if kind.strip_prefix(BACKUP).is_some_and(is_version) => {
                Some(Self::Backup(without_log(name).unwrap_or(name)))
            }
            _ => None,
        }
    }
}

/// Path of a database's lock file, a name that no other program uses.
pub fn lock_path(database: &Path) -> PathBuf {
    fsx::with_suffix(database, LOCK)
}

/// Path of the file with the number of changes that a database should contain.
pub(crate) fn mark_path(database: &Path) -> PathBuf {
    fsx::with_suffix(database, MARK)
}

pub(super) fn set_aside_path(database: &Path, id: &str) -> PathBuf {
    fsx::with_suffix(database, &format!("{SET_ASIDE}{id}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_known_by_its_name_and_nothing_else_is() {
        let of = |name| DatabaseFileRole::of(name, "m.db");
        assert_eq!(of("m.db"), Some(DatabaseFileRole::Itself));
        assert_eq!(of("m.db-wal"), Some(DatabaseFileRole::Itself));
        assert_eq!(of("m.db.recoup-lock"), Some(DatabaseFileRole::Lock));
        assert_eq!(of("m.db.backup-12"), Some(DatabaseFileRole::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.backup-12-wal"), Some(DatabaseFileRole::Backup("m.db.backup-12")));
        assert_eq!(of("m.db.mark"), Some(DatabaseFileRole::Mark));
        assert_eq!(of("m.db.damaged-x"), Some(DatabaseFileRole::SetAside("x")));
        for unfinished in ["m.db.copy", "m.db.copy-journal", "m.db.new-wal", "m.db.mended-shm"] {
            assert_eq!(of(unfinished), Some(DatabaseFileRole::Unfinished), "{unfinished}");
        }
        for other in ["m.dbx", "m.db.backup-", "m.db.backup-1a", "m.db.copy2", "m.db.bak", "n.db"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
