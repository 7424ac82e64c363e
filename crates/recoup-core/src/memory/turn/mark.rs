//! How far a session's transcript was read, in words that only its reader understands.

use rusqlite::{OptionalExtension as _, params};

use super::Turn;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::Memory;

impl Memory {
    /// How far the transcript of a session was read.
    pub fn mark(&self, session: &str) -> Result<Option<String>> {
        const SQL: &str = "SELECT detail FROM episodes WHERE session = ?1";
        let found = self.read(|connection| {
            connection
                .prepare_cached(SQL)
                .and_then(|mut select| select.query_row([session], |row| row.get(0)).optional())
                .map_err(marking)
        })?;
        Ok(found.flatten().flatten())
    }
}

impl Turn<'_> {
    /// This session's transcript was read up to there.
    pub fn read_up_to(&self, mark: &str) -> Result<()> {
        const SQL: &str = "INSERT INTO episodes (session, client, scope, began, detail)
                           VALUES (?1, ?2, ?3, ?4, ?5)
                           ON CONFLICT (session) DO UPDATE SET detail = ?5";
        let it = self.occasion;
        self.connection
            .prepare_cached(SQL)
            .and_then(|mut insert| {
                let (scope, now) = (it.scope.to_string(), self.now.as_millis());
                insert.execute(params![it.session, it.client.as_str(), scope, now, mark])
            })
            .map(drop)
            .map_err(marking)
    }
}

fn marking(error: rusqlite::Error) -> Error {
    fault::explain(error, "noting how far a transcript was read")
}
