//! The two that are compared: our search, and what FTS5 does by itself.

use recoup_core::memory::recall::search;
use recoup_core::memory::recall::search::SearchQuery;
use rusqlite::{Connection, params};

use super::Note;

/// What is asked of either: the best rows for a text.
pub(crate) trait Engine {
    fn best(&self, text: &str) -> Vec<usize>;
}

/// Our search over a memory that holds the notes; the first is row 1.
pub(crate) struct Ours(pub(crate) Connection);

impl Ours {
    pub(crate) fn over<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Self {
        let mut connection = search::open_in_memory().expect("a memory");
        let transaction = connection.transaction().expect("a transaction");
        for (row, note) in (1..).zip(notes) {
            add(&transaction, row, note);
        }
        transaction.commit().expect("written");
        Self(connection)
    }

    /// Those that are sure enough to be given unasked.
    pub(crate) fn fitting(&self, text: &str) -> Vec<usize> {
        let query = SearchQuery { limit: 3, ..SearchQuery::new(text) };
        rows(&search::find_fitting_notes(&self.0, &query).expect("an answer"))
    }
}

/// Writes a note as the store would, and indexes it.
pub(crate) fn add(connection: &Connection, row: i64, note: &Note) {
    connection
        .prepare_cached(
            "INSERT INTO notes (row, id, kind, text, source, scope, status, said, tokens, created, updated)
             VALUES (?1, ?2, ?3, ?4, 'user', 'universal', 'active', ?2, 1, 1, 1)",
        )
        .and_then(|mut insert| insert.execute(params![row, note.id, note.kind, note.text]))
        .expect("inserted");
    search::index_note(connection, row, &note.text, None).expect("indexed");
}

fn rows(hits: &[search::SearchHit]) -> Vec<usize> {
    hits.iter().map(|hit| usize::try_from(hit.row).expect("a row") - 1).collect()
}

impl Engine for Ours {
    fn best(&self, text: &str) -> Vec<usize> {
        rows(&search::find_notes(&self.0, &SearchQuery::new(text)).expect("an answer"))
    }
}

/// FTS5 with its default tokenizer: the words of the query, any of them, by `bm25()`.
pub(crate) struct Plain(Connection);

impl Plain {
    pub(crate) fn over(notes: &[Note]) -> Self {
        let connection = Connection::open_in_memory().expect("a database");
        connection.execute_batch("CREATE VIRTUAL TABLE plain USING fts5(text)").expect("a table");
        for (row, note) in notes.iter().enumerate() {
            connection
                .prepare_cached("INSERT INTO plain (rowid, text) VALUES (?1, ?2)")
                .and_then(|mut insert| insert.execute(params![number(row), note.text]))
                .expect("inserted");
        }
        Self(connection)
    }
}

fn number(row: usize) -> i64 {
    i64::try_from(row).expect("a row")
}

impl Engine for Plain {
    fn best(&self, text: &str) -> Vec<usize> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let any = words.map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ");
        let mut find = self
            .0
            .prepare_cached("SELECT rowid FROM plain WHERE plain MATCH ?1 ORDER BY rank LIMIT 10")
            .expect("a statement");
        let rows = find.query_map([any], |row| row.get::<_, i64>(0)).expect("an answer");
        rows.map(|row| usize::try_from(row.expect("a row")).expect("a row")).collect()
    }
}
