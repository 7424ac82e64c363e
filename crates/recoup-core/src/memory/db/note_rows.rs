//! Rows of the table `notes`.

use rusqlite::{Connection, Row, params, params_from_iter};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::model::note::{Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus};
use crate::memory::model::statement::normalize_for_comparison;

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
    let text = |at: usize| row.get::<_, String>(at);
    let some = |at: usize| row.get::<_, Option<String>>(at);
    let count = |at: usize| row.get::<_, i64>(at).map(|n| n.max(0).cast_unsigned());
    let time = |at: usize| row.get(at).map(Timestamp::from_millis);
    let (number, id, kind, source) = (row.get(0)?, text(1)?, text(2)?, text(5)?);
    let (scope, paths, status) = (text(6)?, text(7)?, text(9)?);
    let (said, quote, topic) = (text(3)?, some(4)?, some(8)?);
    let (evidence, tokens) = (count(10)?, count(11)?);
    let (created, updated, superseded_by) = (time(12)?, time(13)?, some(14)?);
    let (idle, until) = (row.get(15)?, some(16)?);
    let ends = row.get::<_, Option<i64>>(17)?.map(Timestamp::from_millis);
    let note = || {
        let (kind, source) = (NoteKind::parse(&kind)?, NoteSource::parse(&source)?);
        let is_lesson = kind == NoteKind::Failure && source == NoteSource::Extraction;
        Ok(Note {
            id: NoteId::parse(&id)?,
            kind,
            text: if is_lesson { without_quoted_error(said) } else { said },
            quote,
            source,
            scope: NoteScope::parse(&scope)?,
            paths: Some(paths).filter(|paths| !paths.is_empty()),
            topic,
            until,
            ends,
            status: NoteStatus::parse(&status)?,
            evidence,
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            created,
            updated,
            superseded_by: superseded_by.as_deref().map(NoteId::parse).transpose()?,
            idle,
        })
    };
    Ok(note().map(|note| StoredNote { row: number, note }).map_err(|error: Error| {
        Error::new(ErrorKind::Corrupt, "a memory can't be read").with_source(error)
    }))
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

/// Row numbers of the latest notes that meet a condition, the latest first.
pub(crate) fn latest(
    connection: &Connection,
    condition: &str,
    values: &[String],
    most: usize,
) -> Result<Vec<i64>> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let sql = format!(
        "SELECT row FROM notes WHERE {condition} ORDER BY updated DESC, row DESC LIMIT {most}"
    );
    connection.list_cached(&sql, params_from_iter(values), |row| row.get(0)).doing(READING)
}

/// Number of notes that meet a condition.
pub(crate) fn count(connection: &Connection, condition: &str, values: &[String]) -> Result<u64> {
    connection
        .query_row(
            &format!("SELECT count(*) FROM notes WHERE {condition}"),
            params_from_iter(values),
            |row| row.get::<_, i64>(0),
        )
        .map(|count| count.max(0).cast_unsigned())
        .doing(READING)
}

/// Finds the note with the same words in one place.
pub(crate) fn find_same(
    connection: &Connection,
    scope: &NoteScope,
    paths: Option<&str>,
    text: &str,
) -> Result<Option<StoredNote>> {
    find_one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![scope.to_string(), paths.unwrap_or_default(), normalize_for_comparison(text)],
    )
}

pub(crate) fn by_id(connection: &Connection, id: &NoteId) -> Result<Option<StoredNote>> {
    find_one(connection, "id = ?1", params![id.as_str()])
}
