//! Read positions of transcripts, so that the next run reads only what is new.

use rusqlite::{OptionalExtension as _, params};

use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::Memory;

impl Memory {
    /// Returns the position up to which a transcript has been read, in its reader's own format.
    pub fn transcript_position(&self, transcript: &str) -> Result<Option<String>> {
        let found = self.read(|connection| {
            connection
                .prepare_cached("SELECT mark FROM sweeps WHERE transcript = ?1")
                .and_then(|mut select| select.query_row([transcript], |row| row.get(0)).optional())
                .map_err(position_error)
        })?;
        Ok(found.flatten())
    }

    /// Stores the position up to which a transcript has been read. Also while memory is paused, so
    /// that this part is not read later.
    pub fn store_transcript_position(&self, transcript: &str, mark: &str) -> Result<()> {
        const SQL: &str =
            "INSERT OR REPLACE INTO sweeps (transcript, mark, at) VALUES (?1, ?2, ?3)";
        let now = self.now().as_millis();
        self.change("noting how far a transcript was read", |connection| {
            let values = params![transcript, mark, now];
            connection.execute(SQL, values).map(drop).map_err(position_error)
        })
    }
}

fn position_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "noting how far a transcript was read")
}
