//! SQL as the modules of memory use it: statements that are prepared once, values that are stored as
//! text or numbers, and errors that name what was being done.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, Params, Row};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::checks::CheckStrength;
use crate::memory::model::{HookClient, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus};

pub(crate) use crate::database::SqlContext;

/// Statements that each connection prepares once.
pub(crate) trait CachedSql {
    fn prepare_once(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>>;

    /// Makes a change; returns the number of changed rows.
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.prepare_once(sql)?.execute(values)
    }

    /// Makes a change; an error says that it failed while `doing` something.
    fn write(&self, sql: &str, values: impl Params, doing: &str) -> Result<usize> {
        self.execute_cached(sql, values).doing(doing)
    }

    /// Reads the first row, if there is one.
    fn find_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.prepare_once(sql)?.query_row(values, read).optional()
    }

    /// Reads all rows.
    fn list_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare_once(sql)?.query_map(values, read)?.collect()
    }

    /// Reads the first column of the first row, if there is one.
    fn find_value<T: FromSql>(
        &self,
        sql: &str,
        values: impl Params,
        doing: &str,
    ) -> Result<Option<T>> {
        self.find_cached(sql, values, |row| row.get(0)).doing(doing)
    }

    /// Reads the first column of all rows.
    fn list_values<T: FromSql>(
        &self,
        sql: &str,
        values: impl Params,
        doing: &str,
    ) -> Result<Vec<T>> {
        self.list_cached(sql, values, |row| row.get(0)).doing(doing)
    }

    /// True if there is such a row.
    fn has_row(&self, sql: &str, values: impl Params, doing: &str) -> Result<bool> {
        self.find_cached(sql, values, |_| Ok(())).doing(doing).map(|row| row.is_some())
    }
}

impl CachedSql for Connection {
    fn prepare_once(&self, sql: &str) -> rusqlite::Result<CachedStatement<'_>> {
        self.prepare_cached(sql)
    }
}

/// Stores types as the words that they are parsed from.
macro_rules! stored_as_text {
    ($($name:ident),*) => {$(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(self.to_string().into())
            }
        }

        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                Self::parse(value.as_str()?).map_err(FromSqlError::other)
            }
        }
    )*};
}

stored_as_text!(CheckStrength, HookClient, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus);

/// Stored as milliseconds since 1970.
impl ToSql for Timestamp {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_millis().into())
    }
}

impl FromSql for Timestamp {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_i64().map(Self::from_millis)
    }
}
