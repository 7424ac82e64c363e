//! Word index: an FTS5 table beside `notes`, which stores the forms of words and is read one word
//! at a time.
//!
//! FTS5 only lists the rows of a word, newest first and up to a limit: its own `bm25()` goes
//! through every row that has any of the words, twice. The table keeps the forms as text, so that a
//! row can be ranked without splitting it again, and deleted without knowing its text.

use rusqlite::{Connection, params};

use crate::error::Result;
use crate::memory::db::{CachedSql as _, SqlContext as _, checks};
use crate::memory::lang::forms::{HEAD, STEM, WordStemmer, head};
use crate::memory::lang::tokenizer::{MOST_TEXT, WordSort, tokenize};

/// Schema of the table. `secure-delete` removes the words of a deleted row from the index at once,
/// so that forgotten notes leave nothing.
pub(crate) const WORDS: &str = "
CREATE VIRTUAL TABLE words USING fts5(
    forms, detail=none, columnsize=0, tokenize=\"ascii tokenchars '~^.@:'\"
);
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);
";

/// Separator before whole identifiers in the stored forms.
pub(crate) const WHOLES: &str = "|";
/// Prefix of a note's scope.
pub(crate) const SCOPE: char = '@';

/// Indexes a note, or updates its index, also the one of its check. The row must be in `notes`
/// already.
pub fn index_note(
    connection: &Connection,
    row: i64,
    text: &str,
    topic: Option<&str>,
) -> Result<()> {
    // Each word with its other forms behind it, then whole identifiers.
    let forms = WordStemmer::default();
    let mut words = String::with_capacity(text.len().min(MOST_TEXT) * 3);
    let mut wholes = String::new();
    let mut take = |word: &str, sort: WordSort| {
        let out = if sort == WordSort::Whole { &mut wholes } else { &mut words };
        out.push_str(word);
        if let Some(stem) = forms.stem(word, sort) {
            out.extend([" ", STEM, &stem]);
            if let Some(head) = head(word, sort) {
                out.extend([" ", HEAD, head]);
            }
        }
        out.push(' ');
    };
    tokenize(text, &mut take);
    tokenize(topic.unwrap_or_default(), &mut take);
    connection.write(
        "INSERT OR REPLACE INTO words (rowid, forms)
             VALUES (?1, ?2 || coalesce((SELECT '@' || scope FROM notes WHERE row = ?1), ''))",
        params![row, format!("{words}{WHOLES} {wholes}")],
        "cannot index a memory",
    )?;
    checks::store_check(connection, row, text)
}

/// Removes a note from the index, without a trace.
pub fn unindex_note(connection: &Connection, row: i64) -> Result<()> {
    connection.write(
        "DELETE FROM words WHERE rowid = ?1",
        [row],
        "cannot remove a memory from the index",
    )?;
    Ok(())
}

/// Index size, in pages, up to which there is one segment. A larger one may have a few, because
/// merging them holds up others.
const SMALL: i64 = 256;
const PARTS: i64 = 4;

/// Merges the segments of the index: each word is looked up in all of them.
pub(crate) fn merge_segments(connection: &Connection) -> Result<()> {
    const TIDYING: &str = "cannot optimize the index of memories";
    let (parts, pages): (i64, i64) = connection
        .query_row("SELECT count(DISTINCT segid), count(*) FROM words_idx", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .doing(TIDYING)?;
    let most = if pages <= SMALL { 1 } else { PARTS };
    if parts > most {
        connection.write("INSERT INTO words (words) VALUES ('optimize')", [], TIDYING)?;
    }
    Ok(())
}

/// Returns the rows that match, newest first unless asked otherwise, and no more than `most`.
pub(crate) fn find_rows(
    connection: &Connection,
    asked: &IndexQuery<'_>,
    most: usize,
) -> Result<Vec<i64>> {
    let mut all: Vec<String> = asked.forms.iter().map(|form| format!("\"{form}\"")).collect();
    if asked.open
        && let Some(last) = all.last_mut()
    {
        last.push_str(" *");
    }
    if !asked.scopes.is_empty() {
        let scopes = asked.scopes.iter().map(|scope| format!("\"{SCOPE}{scope}\""));
        all.push(format!("({})", scopes.collect::<Vec<_>>().join(" OR ")));
    }
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let below = asked.below.unwrap_or(i64::MAX);
    let order = if asked.oldest_first { "ASC" } else { "DESC" };
    let sql = format!(
        "SELECT rowid FROM words WHERE words MATCH ?1 AND rowid < ?2 AND rowid > ?4
         ORDER BY rowid {order} LIMIT ?3"
    );
    let values = params![all.join(" AND "), below, most, asked.above];
    connection.list_values(&sql, values, "cannot search the memories")
}

/// Passes the words of the index that begin with a letter to `visit`.
pub(crate) fn visit_words(
    connection: &Connection,
    first: char,
    mut visit: impl FnMut(&str),
) -> Result<()> {
    let mut read = || -> rusqlite::Result<()> {
        connection.execute_batch(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.word_list USING fts5vocab(main, words, row)",
        )?;
        let sql = "SELECT term FROM temp.word_list WHERE term >= ?1 AND term < ?2";
        let end = char::from_u32(u32::from(first) + 1).unwrap_or(char::MAX);
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query([first.to_string(), end.to_string()])?;
        while let Some(row) = rows.next()? {
            visit(row.get_ref(0)?.as_str()?);
        }
        Ok(())
    };
    read().doing("cannot read the words of the index")
}

/// Query of the index: forms that a row must all have, in one of some scopes. Nothing that the user
/// typed is ever read as FTS5 syntax: forms have letters, digits and dots, and are quoted.
#[derive(Debug, Default)]
pub(crate) struct IndexQuery<'a> {
    pub(crate) forms: &'a [&'a str],
    /// True if the last form is only the beginning of a word.
    pub(crate) open: bool,
    pub(crate) oldest_first: bool,
    /// Upper bound: only older rows.
    pub(crate) below: Option<i64>,
    /// Lower bound: only newer rows.
    pub(crate) above: i64,
    /// Scopes to search; all if empty.
    pub(crate) scopes: &'a [String],
}

/// Returns the approximate number of notes; exact if none was deleted.
pub(crate) fn count_notes(connection: &Connection) -> Result<i64> {
    let found =
        connection.find_value("SELECT max(row) FROM notes", [], "cannot count the memories")?;
    Ok(found.flatten().unwrap_or_default())
}
