//! SQL as the modules of memory use it: statements that are prepared once, and errors that name what
//! was being done.

use rusqlite::{Connection, OptionalExtension as _, Params, Row};

pub(crate) use crate::database::SqlContext;

/// Statements that each connection prepares once.
pub(crate) trait CachedSql {
    /// Makes a change; returns the number of changed rows.
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// Reads the first row, if there is one.
    fn find_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>>;

    /// Reads all rows.
    fn list_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>>;
}

impl CachedSql for Connection {
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    fn find_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Option<T>> {
        self.prepare_cached(sql)?.query_row(values, read).optional()
    }

    fn list_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<Vec<T>> {
        self.prepare_cached(sql)?.query_map(values, read)?.collect()
    }
}
