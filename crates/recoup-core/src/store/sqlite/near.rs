//! Similarity search: an index holds a sketch of each key's parts, and only the best records are
//! read.

use rusqlite::{Connection, Row, params};

use super::read;
use super::schema::WITHOUT_SKETCHES;
use crate::database::{fault, schema_version};
use crate::entry::{EntryHead, Header};
use crate::error::{Error, Result};
use crate::key::EntryId;
use crate::store::nearest::{PartSketch, SimilarityProbe, TopMatches};

/// `None` if the file has no sketches yet.
pub(super) fn nearest(
    reader: &Connection,
    probe: &SimilarityProbe<'_>,
) -> Result<Option<Vec<(EntryId, EntryHead)>>> {
    // A bare key has nothing in common with any other.
    if probe.parts.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if schema_version(reader)? <= WITHOUT_SKETCHES {
        return Ok(None);
    }
    let mut best = TopMatches::new(probe.most);
    let asked = PartSketch::of(probe.parts);
    let mut statement = reader
        .prepare("SELECT rowid, stored_at, sketch FROM entries WHERE scope = ?1 AND kind = ?2")
        .map_err(search_error)?;
    let mut rows = statement
        .query(params![probe.scope.as_str(), probe.kind.as_str()])
        .map_err(search_error)?;
    while let Some(row) = rows.next().map_err(search_error)? {
        let (id, in_common) = count_common_parts(reader, row, &asked).map_err(search_error)?;
        let stored_at: i64 = row.get(1).map_err(search_error)?;
        best.offer(in_common, (stored_at, id), || id);
    }
    let mut heads = Vec::new();
    for row in best.into_found() {
        // Skips rows that are gone or unreadable.
        heads.extend(read::head_in_row(reader, row)?.and_then(|(id, head)| Some((id, head.ok()?))));
    }
    Ok(Some(heads))
}

fn count_common_parts(
    reader: &Connection,
    row: &Row<'_>,
    asked: &PartSketch,
) -> rusqlite::Result<(i64, usize)> {
    let id: i64 = row.get(0)?;
    let in_common = match row.get_ref(2)?.as_bytes_or_null()? {
        Some(sketch) => asked.count_common(sketch),
        None => asked.count_common(sketch_of(reader, id)?.as_bytes()),
    };
    Ok((id, in_common))
}

/// Computes a sketch that a writer of an earlier version left out.
fn sketch_of(reader: &Connection, id: i64) -> rusqlite::Result<PartSketch> {
    let header: Vec<u8> = reader
        .prepare_cached("SELECT header FROM entries WHERE rowid = ?1")?
        .query_row([id], |row| row.get(0))?;
    let parts = Header::from_json(&header).map(|header| header.parts).unwrap_or_default();
    Ok(PartSketch::of(&parts))
}

fn search_error(error: rusqlite::Error) -> Error {
    fault::from_sqlite(error, "looking for what is like it")
}
