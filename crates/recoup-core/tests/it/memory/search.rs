//! Finding notes: by their words, in any form and casing, in several languages,
//! only those that may be returned, and nothing where nothing fits.

#[allow(dead_code, reason = "the evaluation and the benchmark use more of it")]
#[path = "../../corpus/retrieval/mod.rs"]
mod corpus;
mod filters;
mod floor;
mod forgotten;
mod hostile;
mod laws;
mod named;
mod order;
mod words;

use recoup_core::memory::recall::search;
use recoup_core::memory::recall::search::SearchQuery;
use rusqlite::{Connection, params};

/// A memory with a few notes; the first is row 1.
struct Memory(Connection);

impl Memory {
    fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let memory = Self(search::open_in_memory().unwrap());
        for (row, text) in (1..).zip(texts) {
            memory.add(row, text);
        }
        memory
    }

    /// One with the notes of the corpus and these before them.
    fn among_others(texts: &[&str]) -> Self {
        let memory = Self::of(texts.iter().copied());
        for (row, note) in (1_001..).zip(corpus::notes()) {
            corpus::engines::add(&memory.0, row, &note);
        }
        memory
    }

    fn add(&self, row: i64, text: &str) {
        self.0
            .execute(
                "INSERT INTO notes (row, id, kind, text, source, scope, status, said, tokens, created, updated)
                 VALUES (?1, ?2, 'preference', ?3, 'user', 'universal', 'active', ?2, 1, 1, 1)",
                params![row, format!("id{row}"), text],
            )
            .unwrap();
        search::index_note(&self.0, row, text, None).unwrap();
    }

    /// Changes a field of a note without indexing it anew.
    fn set(&self, row: i64, field: &str, value: &str) {
        let sql = format!("UPDATE notes SET {field} = ?2 WHERE row = ?1");
        self.0.execute(&sql, params![row, value]).unwrap();
    }

    /// Says in which session a note was said.
    fn say_in(&self, row: i64, session: &str) {
        let sql = "INSERT INTO evidence (note, at, session, what) VALUES (?1, 1, ?2, 'said')";
        self.0.execute(sql, params![row, session]).unwrap();
    }

    fn find(&self, text: &str) -> Vec<i64> {
        self.answer(&SearchQuery::new(text))
    }

    fn answer(&self, query: &SearchQuery<'_>) -> Vec<i64> {
        search::find_notes(&self.0, query).unwrap().iter().map(|hit| hit.row).collect()
    }

    fn fitting(&self, text: &str) -> Vec<i64> {
        let hits = search::find_fitting_notes(&self.0, &SearchQuery::new(text)).unwrap();
        hits.iter().map(|hit| hit.row).collect()
    }
}
