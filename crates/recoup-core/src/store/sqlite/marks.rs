//! Selection marks (tags, operation, source paths) in a table of their own, so that no header is
//! read: records with equal marks share one row of `mark_sets`, so that a project's many entries
//! need a few short texts.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::schema;
use crate::base::digest::Sha256Digest;
use crate::database::{fault, in_transaction};
use crate::entry::Header;
use crate::error::{Error, Result};
use crate::key::Scope;
use crate::store::selection::{EntrySelection, MarkSet};

/// The `mark_set` of a record without marks.
const NOTHING: i64 = 0;

/// Records marked in one transaction.
const BATCH: i64 = 500;

/// The id of the header's mark set, which is inserted if it is new.
pub(super) fn intern_mark_set(writer: &Connection, scope: &str, header: &Header) -> Result<i64> {
    let marks = MarkSet::of(header);
    if marks.as_str().is_empty() {
        return Ok(NOTHING);
    }
    let digest = Sha256Digest::of(marks.as_str().as_bytes());
    let known = writer
        .prepare_cached("SELECT id FROM mark_sets WHERE scope = ?1 AND digest = ?2")
        .and_then(|mut find| {
            find.query_row(params![scope, digest.as_bytes()], |row| row.get(0)).optional()
        })
        .map_err(mark_error)?;
    if let Some(id) = known {
        return Ok(id);
    }
    writer
        .prepare_cached("INSERT INTO mark_sets (scope, digest, marks) VALUES (?1, ?2, ?3)")
        .and_then(|mut add| add.insert(params![scope, digest.as_bytes(), marks.as_str()]))
        .map_err(mark_error)
}

/// The rows that a selection may match: all matches, and few others. `None` if the file has no mark
/// index yet, so that every record of the scope must be tested.
pub(super) fn candidate_rows(
    reader: &Connection,
    scope: &Scope,
    selection: &EntrySelection,
) -> Result<Option<Vec<i64>>> {
    if !schema::is_complete(reader)? {
        return Ok(None);
    }
    let find = || -> rusqlite::Result<Vec<i64>> {
        let mut sets = reader.prepare_cached("SELECT id, marks FROM mark_sets WHERE scope = ?1")?;
        let mut having = reader
            .prepare_cached("SELECT rowid FROM entries WHERE mark_set = ?1 AND mark_set > 0")?;
        // Records stored by an earlier version have no marks.
        let mut found: Vec<i64> = reader
            .prepare_cached("SELECT rowid FROM entries WHERE scope = ?1 AND mark_set IS NULL")?
            .query_map([scope.as_str()], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut rows = sets.query([scope.as_str()])?;
        while let Some(row) = rows.next()? {
            if selection.selects_marks(row.get_ref(1)?.as_str()?) {
                let id: i64 = row.get(0)?;
                for row in having.query_map([id], |row| row.get(0))? {
                    found.push(row?);
                }
            }
        }
        found.sort_unstable();
        Ok(found)
    };
    find().map(Some).map_err(|error| fault::from_sqlite(error, "looking for marked records"))
}

/// Marks some unmarked records after row `after` in one transaction. Returns the last row, or
/// `None` at the end.
pub(super) fn mark_batch(writer: &mut Connection, after: i64) -> Result<Option<i64>> {
    in_transaction(writer, "marking records", |writer| mark_some(writer, after))
}

/// Marks all unmarked records, within a transaction.
pub(super) fn mark_all(writer: &Connection) -> Result<()> {
    let mut after = Some(i64::MIN);
    while let Some(row) = after {
        after = mark_some(writer, row)?;
    }
    Ok(())
}

fn mark_some(writer: &Connection, after: i64) -> Result<Option<i64>> {
    let some = || -> rusqlite::Result<Vec<(i64, String, Vec<u8>)>> {
        writer
            .prepare_cached(
                "SELECT rowid, scope, header FROM entries
                 WHERE rowid > ?1 AND mark_set IS NULL ORDER BY rowid LIMIT ?2",
            )?
            .query_map([after, BATCH], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
            .collect()
    };
    let rows = some().map_err(mark_error)?;
    for (row, scope, header) in &rows {
        // A record with an unreadable header stays unmarked and is tested each time.
        let Ok(header) = Header::from_json(header) else { continue };
        let set = intern_mark_set(writer, scope, &header)?;
        writer
            .prepare_cached(
                "UPDATE entries SET mark_set = ?2, marked_at = stored_at WHERE rowid = ?1",
            )
            .and_then(|mut update| update.execute([*row, set]))
            .map_err(mark_error)?;
    }
    Ok(rows.last().map(|(row, ..)| *row))
}

fn mark_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "marking a record")
}
