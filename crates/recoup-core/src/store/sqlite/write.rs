//! Writing: each call is one immediate transaction, so that it either waits its turn or fails
//! before anything was done.
//!
//! Selection marks (tags, operation, source paths) are in a table of their own, so that no header is
//! read: records with equal marks share one row of `mark_sets`, so that a project's many entries
//! need a few short texts.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::schema;
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::database::{SqlContext as _, in_transaction};
use crate::entry::{EntryRecord, Header, StoredBody};
use crate::error::Result;
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::PlacedPayload;
use crate::store::nearest::PartSketch;
use crate::store::plan::{EntrySelection, MarkSet};

const STORING: &str = "cannot store an entry";
const REMOVING: &str = "cannot remove an entry";
const INDEXING: &str = "cannot index an entry";

/// The `mark_set` of a record without marks.
const NOTHING: i64 = 0;
/// Stores a full result, once for all entries that share it. An existing one is overwritten,
/// because it may be damaged.
const UPSERT_FULL: &str = "INSERT INTO fulls (scope, kind, sha256, bytes, body, frames)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                           ON CONFLICT (scope, kind, sha256) DO UPDATE SET
                           bytes = excluded.bytes, body = excluded.body, frames = excluded.frames";
/// Records marked in one transaction.
const BATCH: i64 = 500;

type SqlitePayload<'a> = PlacedPayload<'a, i64>;

pub(super) fn put(writer: &mut Connection, id: &EntryId, record: &EntryRecord) -> Result<()> {
    if !record.is_sealed() {
        return put(writer, id, &record.to_sealed()?);
    }
    in_transaction(writer, "cannot store an entry", |writer| {
        let header = &record.head.header;
        if let (Some(info), Some(payload)) = (&header.full, &record.full) {
            let (scope, kind) = (id.scope.as_str(), header.kind.as_str());
            let (sha256, placed) = (info.sha256.to_hex(), write_payload(writer, payload)?);
            let bytes = placed.len().cast_signed();
            let values = params![scope, kind, sha256, bytes, placed.body(), placed.frames()];
            writer
                .prepare_cached(UPSERT_FULL)
                .and_then(|mut insert| insert.execute(values))
                .doing(STORING)?;
        }
        upsert(writer, id, record, &write_payload(writer, &record.payload)?)
    })
}

fn write_payload<'a>(writer: &Connection, payload: &'a StoredBody) -> Result<SqlitePayload<'a>> {
    const SQL: &str = "INSERT INTO chunks (frames, seq, data) VALUES (?1, ?2, ?3)";
    let mut seq = 0i64;
    PlacedPayload::write(
        payload,
        || fastrand::i64(1..),
        |frames, data| {
            seq += 1;
            writer
                .prepare_cached(SQL)
                .and_then(|mut insert| insert.execute(params![*frames, seq, data]))
                .map(drop)
                .doing(STORING)
        },
    )
}

fn upsert(
    writer: &Connection,
    id: &EntryId,
    record: &EntryRecord,
    placed: &SqlitePayload<'_>,
) -> Result<()> {
    const SQL: &str = "
        INSERT INTO entries (scope, key, kind, expires, stored_at, last_used, hits, bytes, header,
                             body, frames, full, sketch, mark_set, marked_at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?5)
        ON CONFLICT (scope, key) DO UPDATE SET
            kind = excluded.kind, expires = excluded.expires, stored_at = excluded.stored_at,
            last_used = excluded.last_used, hits = excluded.hits, bytes = excluded.bytes,
            header = excluded.header, body = excluded.body, frames = excluded.frames,
            full = excluded.full, sketch = excluded.sketch, mark_set = excluded.mark_set,
            marked_at = excluded.marked_at";
    let head = &record.head;
    let json = head.header.to_json();
    let mark_set = intern_mark_set(writer, id.scope.as_str(), &head.header)?;
    let bytes = placed.len() + json.len() as u64;
    writer
        .prepare_cached(SQL)
        .and_then(|mut statement| {
            statement.execute(params![
                id.scope.as_str(),
                id.key.as_str(),
                head.header.kind.as_str(),
                head.header.deletable_at().map(Timestamp::as_millis),
                head.stored_at.as_millis(),
                head.last_used.as_millis(),
                head.hits.cast_signed(),
                bytes.cast_signed(),
                json,
                placed.body(),
                placed.frames(),
                head.header.full.map(|full| full.sha256.to_hex()),
                PartSketch::of(&head.header.parts).as_bytes(),
                mark_set,
            ])
        })
        .map(drop)
        .doing(STORING)
}

/// Removes records in one transaction, and returns how many existed.
pub(super) fn remove(writer: &mut Connection, ids: &[EntryId]) -> Result<usize> {
    in_transaction(writer, "cannot remove entries", |writer| {
        let mut delete = writer
            .prepare_cached("DELETE FROM entries WHERE scope = ?1 AND key = ?2")
            .doing(REMOVING)?;
        ids.iter().try_fold(0, |sum, id| {
            let gone =
                delete.execute(params![id.scope.as_str(), id.key.as_str()]).doing(REMOVING)?;
            Ok(sum + gone)
        })
    })
}

/// Removes records by row, unless they are in another scope by now. `gone` is called for each.
pub(super) fn remove_rows(
    writer: &mut Connection,
    scope: &Scope,
    rows: &[i64],
    gone: &mut dyn FnMut(EntryId, Kind),
) -> Result<usize> {
    const SQL: &str = "DELETE FROM entries WHERE rowid = ?1 AND scope = ?2 RETURNING key, kind";
    let mut removed: Vec<(String, String)> = Vec::new();
    in_transaction(writer, "cannot remove entries", |writer| {
        let mut delete = writer.prepare_cached(SQL).doing(REMOVING)?;
        for row in rows {
            let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
            let one = delete.query_row(params![row, scope.as_str()], read).optional();
            removed.extend(one.doing(REMOVING)?);
        }
        Ok(())
    })?;
    for (key, kind) in &removed {
        // Skips keys and kinds of a later version.
        if let (Ok(key), Some(kind)) = (Key::parse(key), Kind::from_name(kind)) {
            gone(EntryId::new(scope.clone(), key), kind);
        }
    }
    Ok(removed.len())
}

/// The id of the header's mark set, which is inserted if it is new.
fn intern_mark_set(writer: &Connection, scope: &str, header: &Header) -> Result<i64> {
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
        .doing(INDEXING)?;
    if let Some(id) = known {
        return Ok(id);
    }
    writer
        .prepare_cached("INSERT INTO mark_sets (scope, digest, marks) VALUES (?1, ?2, ?3)")
        .and_then(|mut add| add.insert(params![scope, digest.as_bytes(), marks.as_str()]))
        .doing(INDEXING)
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
    find().map(Some).doing("cannot find the matching entries")
}

/// Marks some unmarked records after row `after` in one transaction. Returns the last row, or
/// `None` at the end.
pub(super) fn mark_batch(writer: &mut Connection, after: i64) -> Result<Option<i64>> {
    in_transaction(writer, "cannot index the entries", |writer| mark_some(writer, after))
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
    let rows = some().doing(INDEXING)?;
    for (row, scope, header) in &rows {
        // A record with an unreadable header stays unmarked and is tested each time.
        let Ok(header) = Header::from_json(header) else { continue };
        let set = intern_mark_set(writer, scope, &header)?;
        writer
            .prepare_cached(
                "UPDATE entries SET mark_set = ?2, marked_at = stored_at WHERE rowid = ?1",
            )
            .and_then(|mut update| update.execute([*row, set]))
            .doing(INDEXING)?;
    }
    Ok(rows.last().map(|(row, ..)| *row))
}
