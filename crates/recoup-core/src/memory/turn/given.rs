//! Which notes a context was given, so that none comes twice.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::{Happened, Of, Turn};
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::inject::Block;
use crate::memory::{Memory, NoteId};

impl Memory {
    /// What a context has been given.
    pub fn given(&self, context: &str) -> Result<HashSet<NoteId>> {
        Ok(self.read(|connection| given(connection, context))?.unwrap_or_default())
    }

    /// When a context was last given all rules that it did not have.
    pub fn last_given(&self, session: &str, context: &str) -> Result<Option<Timestamp>> {
        const SQL: &str = "SELECT max(at) FROM events
                           WHERE session = ?1 AND what = 'given' AND context = ?2";
        let found = self.read(|connection| {
            connection
                .prepare_cached(SQL)
                .and_then(|mut select| select.query_row([session, context], |row| row.get(0)))
                .map_err(giving)
        })?;
        Ok(found.flatten().map(Timestamp::from_millis))
    }
}

impl Turn<'_> {
    /// What this context has been given.
    pub fn given(&self) -> Result<HashSet<NoteId>> {
        given(self.connection, &self.occasion.context)
    }

    /// This context is given all rules that it did not have: these, if there are any.
    pub fn give_all(&self, rules: Option<&Block>) -> Result<()> {
        if let Some(rules) = rules {
            self.give(rules)?;
        }
        self.happened(Happened::Given, Of::default()).map(drop)
    }

    /// This context is given a block; says how many of its notes are new to it. A note
    /// that is gone by now is passed over.
    pub fn give(&self, block: &Block) -> Result<usize> {
        self.knows(block.included().iter().map(|rule| &rule.id))
    }

    /// This context has these notes: they were given, or said in it. Says how many are new.
    pub fn knows<'n>(&self, notes: impl IntoIterator<Item = &'n NoteId>) -> Result<usize> {
        const SQL: &str = "INSERT INTO injections (context, note, at)
                           SELECT ?1, row, ?3 FROM notes WHERE id = ?2
                           ON CONFLICT (context, note)
                           DO UPDATE SET lost = 0, times = times + 1 WHERE lost = 1";
        let mut insert = self.connection.prepare_cached(SQL).map_err(giving)?;
        let (context, now) = (&self.occasion.context, self.now.as_millis());
        let mut new = 0;
        for id in notes {
            new += insert.execute(params![context, id.as_str(), now]).map_err(giving)?;
        }
        Ok(new)
    }

    /// This context has lost what it was given: it was compacted, or cleared.
    pub fn lose(&self) -> Result<()> {
        const GIVEN: &str = "DELETE FROM events
                             WHERE session = ?1 AND what = 'given' AND context = ?2";
        let (session, context) = (&self.occasion.session, &self.occasion.context);
        self.connection
            .prepare_cached("UPDATE injections SET lost = 1 WHERE context = ?1")
            .and_then(|mut update| update.execute([context]))
            .map_err(giving)?;
        self.connection
            .prepare_cached(GIVEN)
            .and_then(|mut delete| delete.execute([session, context]))
            .map(drop)
            .map_err(giving)
    }
}

fn given(connection: &Connection, context: &str) -> Result<HashSet<NoteId>> {
    const SQL: &str = "SELECT notes.id FROM injections JOIN notes ON notes.row = injections.note
                       WHERE injections.context = ?1 AND injections.lost = 0";
    let mut select = connection.prepare_cached(SQL).map_err(giving)?;
    let ids = select.query_map([context], |row| row.get::<_, String>(0)).map_err(giving)?;
    ids.map(|id| id.map_err(giving).and_then(|id| NoteId::parse(&id))).collect()
}

fn giving(error: rusqlite::Error) -> Error {
    fault::explain(error, "noting what a context is given")
}
