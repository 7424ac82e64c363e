//! Notices of background changes, stored until a person is shown them.

use rusqlite::{Connection, params};

use super::EventTransaction;
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::NoteScope;

/// Maximum number of notices that are shown at once.
const MOST: usize = 4;

impl EventTransaction<'_> {
    /// Stores a notice for a person in this project.
    pub fn add_notice(&self, text: &str) -> Result<()> {
        insert_notice(self.connection, &self.occasion.scope, text, self.now)
    }

    /// Removes and returns the notices that are to be shown.
    pub fn take_notices(&self) -> Result<Vec<String>> {
        // Notices for all projects are shown in the first of them.
        const SQL: &str = "DELETE FROM notices WHERE scope IN (?1, ?2) RETURNING row, text";
        let mut delete = self.connection.prepare_cached(SQL).map_err(notice_error)?;
        let scopes = [self.occasion.scope.to_string(), NoteScope::Universal.to_string()];
        let rows = delete.query_map(scopes, |row| Ok((row.get(0)?, row.get(1)?)));
        let mut notices: Vec<(i64, String)> =
            rows.map_err(notice_error)?.collect::<rusqlite::Result<_>>().map_err(notice_error)?;
        notices.sort_unstable();
        let more = notices.len().saturating_sub(MOST);
        let mut told: Vec<String> = notices.into_iter().take(MOST).map(|(_, text)| text).collect();
        if more > 0 {
            told.push(format!("and {more} more (`recoup memory list --all`)"));
        }
        Ok(told)
    }
}

/// Stores a notice for a person in that scope.
pub(in crate::memory) fn insert_notice(
    connection: &Connection,
    scope: &NoteScope,
    text: &str,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached("INSERT INTO notices (at, scope, text) VALUES (?1, ?2, ?3)")
        .and_then(|mut insert| insert.execute(params![now.as_millis(), scope.to_string(), text]))
        .map(drop)
        .map_err(notice_error)
}

fn notice_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "noting what a person is to be told")
}
