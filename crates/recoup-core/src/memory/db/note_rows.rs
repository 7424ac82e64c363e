//! Rows of the table `notes`.

use rusqlite::{Connection, Row, params, params_from_iter};

use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::{CachedSql as _, SqlContext as _};
use crate::memory::model::{
    Note, NoteId, NoteKind, NoteScope, NoteSource, normalize_for_comparison,
};

const READING: &str = "cannot read memories";

/// The columns of a note, in the order in which [`read`] expects them.
pub(crate) const COLUMNS: &str = "row, id, kind, text, quote, source, scope, paths, topic, status,
     evidence, tokens, created, updated, superseded_by, idle,
     (SELECT until FROM note_ends WHERE note = notes.row),
     (SELECT at FROM note_ends WHERE note = notes.row)";

/// A note and the number of its row.
#[derive(Debug, Clone)]
pub(crate) struct StoredNote {
    pub(crate) row: i64,
    pub(crate) note: Note,
}

/// Reads a row; the inner error is for values that cannot be parsed.
pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Result<StoredNote>> {
    match parse(row) {
        Err(error @ rusqlite::Error::FromSqlConversionFailure(..)) => {
            let (why, id) = (error.to_string(), row.get::<_, String>(1).unwrap_or_default());
            let message = format!("the memory {id} can't be read");
            Ok(Err(Error::new(ErrorKind::Corrupt, message).with_source(why)))
        }
        note => note.map(Ok),
    }
}

fn parse(row: &Row<'_>) -> rusqlite::Result<StoredNote> {
    let count = |at: usize| row.get::<_, i64>(at).map(|n| n.max(0).cast_unsigned());
    let (kind, text, source) = (row.get(2)?, row.get(3)?, row.get(5)?);
    let is_lesson = kind == NoteKind::Failure && source == NoteSource::Extraction;
    let note = Note {
        id: row.get(1)?,
        kind,
        text: if is_lesson { without_quoted_error(text) } else { text },
        quote: row.get(4)?,
        source,
        scope: row.get(6)?,
        paths: Some(row.get(7)?).filter(|paths: &String| !paths.is_empty()),
        topic: row.get(8)?,
        status: row.get(9)?,
        evidence: count(10)?,
        tokens: u32::try_from(count(11)?).unwrap_or(u32::MAX),
        created: row.get(12)?,
        updated: row.get(13)?,
        superseded_by: row.get(14)?,
        idle: row.get(15)?,
        until: row.get(16)?,
        ends: row.get(17)?,
    };
    Ok(StoredNote { row: row.get(0)?, note })
}

/// Returns a lesson without the tool's error line, which earlier versions quoted in it.
fn without_quoted_error(text: String) -> String {
    let parts = text.split_once("` fails with `").and_then(|(command, rest)| {
        let (_, fix) = rest.split_once("`; ")?;
        Some(format!("{command}` fails; {fix}"))
    });
    parts.unwrap_or(text)
}

/// Finds the one note that meets a condition.
pub(crate) fn find_one(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Option<StoredNote>> {
    let sql = format!("SELECT {COLUMNS} FROM notes WHERE {condition}");
    connection.find_cached(&sql, values, read).doing(READING)?.transpose()
}

/// Finds all notes that meet a condition, in its order. Unreadable ones (a word that only a later
/// version knows, a flipped bit) are skipped.
pub(crate) fn find_many(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<StoredNote>> {
    let sql = format!("SELECT {COLUMNS} FROM notes WHERE {condition}");
    let rows = connection.list_cached(&sql, values, read).doing(READING)?;
    Ok(rows.into_iter().filter_map(Result::ok).collect())
}

/// Like [`find_many`], without the numbers of the rows.
pub(crate) fn find_notes(
    connection: &Connection,
    condition: &str,
    values: impl rusqlite::Params,
) -> Result<Vec<Note>> {
    let found = find_many(connection, condition, values)?;
    Ok(found.into_iter().map(|kept| kept.note).collect())
}

/// Number of notes that meet a condition.
pub(crate) fn count(connection: &Connection, condition: &str, values: &[String]) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM notes WHERE {condition}");
    let count: Option<i64> = connection.find_value(&sql, params_from_iter(values), READING)?;
    Ok(count.unwrap_or_default().max(0).cast_unsigned())
}

/// Finds the note with the same words in one place.
pub(crate) fn find_same(
    connection: &Connection,
    scope: &NoteScope,
    paths: Option<&str>,
    text: &str,
) -> Result<Option<StoredNote>> {
    let values = params![scope, paths.unwrap_or_default(), normalize_for_comparison(text)];
    find_one(connection, "scope = ?1 AND paths = ?2 AND said = ?3", values)
}

pub(crate) fn by_id(connection: &Connection, id: &NoteId) -> Result<Option<StoredNote>> {
    find_one(connection, "id = ?1", [id])
}
