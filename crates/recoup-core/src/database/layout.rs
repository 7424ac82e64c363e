//! Schema of a database of ours, and the versions of it that are understood.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};

use super::{connection, fault, file_roles, recover};
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// Wait for another process that makes a copy.
const BACKUP_WAIT: Duration = Duration::from_secs(2);

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
        let explained = |error| fault::from_sqlite(error, "configuring it");
        connection.execute_batch(self.pragmas).map_err(explained)
    }

    /// Checks the version: the first access to the file.
    pub(super) fn check_version(&self, connection: &Connection) -> Result<SchemaState> {
        let mut version = schema_pragma(connection, "user_version")?;
        if version == 0 {
            if has_no_tables(connection)? {
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
            older if older < known => Err(Error::new(
                ErrorKind::Io,
                format!("its schema has the unknown version {older}"),
            )),
            newer => Err(Error::new(
                ErrorKind::TooNew,
                format!(
                    "it was made by a newer version of recoup (its schema is {newer}, this version knows {known})"
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
        let (required, expected, found) =
            made().map_err(|error| fault::from_sqlite(error, "reading the schema"))?;
        let differs = expected.iter().find(|(name, made)| match found.get(*name) {
            Some(found) => found != *made,
            None => required.contains_key(*name),
        });
        // An index that somebody added does no harm; a trigger may do anything.
        let added = found
            .iter()
            .find(|(name, it)| it.starts_with("CREATE TRIGGER") && !expected.contains_key(*name));
        let fault = |(name, _): (&String, &String)| format!("{name} is not as it was made");
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
        let explained =
            |error| fault::from_sqlite(error, &format!("creating the {}'s tables", self.name));
        connection.execute_batch(&script).map_err(explained)
    }

    /// Migrates the tables to this version if needed, in one transaction; of concurrent callers one
    /// does it.
    pub(super) fn migrate_if_needed(&self, connection: &mut Connection) -> Result<()> {
        if schema_version(connection)? >= self.version {
            return Ok(());
        }
        let doing = format!("bringing the {} to this version", self.name);
        if self.backs_up {
            back_up_before_migration(connection)?;
        }
        in_transaction(connection, &doing, |connection| {
            let from = schema_version(connection)?;
            if from >= self.version {
                return Ok(());
            }
            (self.migrate)(connection, from)?;
            connection
                .pragma_update(None, "user_version", self.version)
                .map_err(|error| fault::from_sqlite(error, &doing))
        })
    }
}

/// Copies the database to a backup with its version in the name. One process makes it while others
/// wait; an unfinished copy is started again.
fn back_up_before_migration(connection: &Connection) -> Result<()> {
    let Some(path) = connection.path().map(PathBuf::from) else { return Ok(()) };
    let backup = file_roles::backup_path(&path, schema_version(connection)?);
    let _alone = recover::lock_database(&path, BACKUP_WAIT)?;
    if backup.exists() {
        return Ok(());
    }
    let part = fsx::with_suffix(&path, file_roles::COPY);
    for left in [&part, &fsx::with_suffix(&part, "-journal")] {
        fsx::remove(left)?;
    }
    fsx::create_private(&part)?;
    connection
        .execute("VACUUM INTO ?1", [part.to_string_lossy()])
        .map_err(|error| fault::from_sqlite(error, "copying it before it is changed"))?;
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
    connection::pragma_number(connection, name)
        .map_err(|error| fault::from_sqlite(error, "reading the schema's version"))
}

fn has_no_tables(connection: &Connection) -> Result<bool> {
    connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))
        .map(|tables| tables == 0)
        .map_err(|error| fault::from_sqlite(error, "reading the schema"))
}

/// Runs `act` in one transaction that is a write from the start, so that it waits its turn or fails
/// before anything is done.
pub(crate) fn in_transaction<T>(
    writer: &mut Connection,
    doing: &str,
    act: impl FnOnce(&Connection) -> Result<T>,
) -> Result<T> {
    let explained = |error| fault::from_sqlite(error, doing);
    let transaction =
        writer.transaction_with_behavior(TransactionBehavior::Immediate).map_err(explained)?;
    let done = act(&transaction)?;
    transaction.commit().map_err(explained)?;
    Ok(done)
}
