//! Reading: the frames of a large body, the heads of many records, and those most like another.

use std::path::PathBuf;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use super::schema::WITHOUT_SKETCHES;
use super::{HeadRow, evict, write};
use crate::database::{SqlContext as _, busy, connection, schema_version};
use crate::entry::{ChunkSource, EntryHead, Header};
use crate::error::Result;
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::nearest::{PartSketch, SimilarityProbe, TopMatches};
use crate::store::{RecordVisitor, ScanFilter, ScanFlow, ScopeUsage};

const SEARCHING: &str = "cannot search for similar entries";

/// Id and head of a row; `None` if the row no longer exists.
pub(super) fn head_in_row(
    reader: &Connection,
    row: i64,
) -> Result<Option<(EntryId, Result<EntryHead>)>> {
    const SQL: &str = "SELECT scope, key, header, stored_at, last_used, hits
                       FROM entries WHERE rowid = ?1";
    let mut found = None;
    let read = |row: &Row<'_>| {
        visit_row(row, &mut |id, head| {
            found = Some((id.clone(), head.cloned()));
            ScanFlow::Continue(())
        })
    };
    reader
        .prepare_cached(SQL)
        .and_then(|mut statement| statement.query_row([row], read).optional())
        .doing("cannot read an entry")?;
    Ok(found)
}

pub(super) fn usage(reader: &Connection, scope: &Scope) -> Result<ScopeUsage> {
    const SQL: &str = "SELECT coalesce(sum(entries), 0), coalesce(sum(bytes), 0)
                       FROM totals WHERE scope = ?1";
    let count = |row: &Row<'_>, at| row.get::<_, i64>(at).map(|n| n.max(0).cast_unsigned());
    let usage = reader
        .query_row(SQL, [scope.as_str()], |row| {
            Ok(ScopeUsage { entries: count(row, 0)?, bytes: count(row, 1)? })
        })
        .doing("cannot count the entries")?;
    Ok(ScopeUsage { bytes: evict::disk_share(reader, usage.bytes)?, ..usage })
}

/// The rows that match a filter as far as indexes can tell, in the requested order. The caller
/// tests the rest with [`ScanFilter::admits`].
pub(super) fn matching_rows(reader: &Connection, filter: &ScanFilter) -> Result<Vec<i64>> {
    let explained = "cannot list the entries";
    if let (Some(scope), Some(selection)) = (&filter.scope, &filter.selection)
        && let Some(found) = write::candidate_rows(reader, scope, selection)?
    {
        return Ok(found);
    }
    let list = |sql: &str, values: &[&dyn ToSql]| -> rusqlite::Result<Vec<i64>> {
        reader.prepare_cached(sql)?.query_map(values, |row| row.get(0))?.collect()
    };
    let scope = filter.scope.as_ref().map(Scope::as_str);
    let rows = match (scope, &filter.key_prefix, filter.newest) {
        (Some(scope), Some(prefix), _) => {
            // Keys are ASCII, so all keys with the prefix sort before this.
            let end = format!("{prefix}\u{7f}");
            let sql = "SELECT rowid FROM entries WHERE scope = ?1 AND key >= ?2 AND key < ?3";
            list(sql, &[&scope, prefix, &end])
        }
        (Some(scope), None, Some(most)) => {
            let sql = "SELECT rowid FROM entries WHERE scope = ?1
                       ORDER BY stored_at DESC, rowid DESC LIMIT ?2";
            list(sql, &[&scope, &i64::try_from(most).unwrap_or(i64::MAX)])
        }
        (Some(scope), None, None) if filter.served => {
            list("SELECT rowid FROM entries WHERE scope = ?1 AND hits > 0", &[&scope])
        }
        (Some(scope), None, None) => list("SELECT rowid FROM entries WHERE scope = ?1", &[&scope]),
        (None, _, _) if filter.served => list("SELECT rowid FROM entries WHERE hits > 0", &[]),
        (None, _, _) => list("SELECT rowid FROM entries", &[]),
    };
    rows.doing(explained)
}

pub(super) fn scan(
    reader: &Connection,
    filter: &ScanFilter,
    visit: &mut RecordVisitor<'_>,
) -> Result<()> {
    let explained = "cannot list the entries";
    // Literal statements, so that SQLite can pick the index for each.
    let sql = match (&filter.scope, filter.kind) {
        (Some(_), Some(_)) => {
            "SELECT scope, key, header, stored_at, last_used, hits FROM entries
             WHERE scope = ?1 AND kind = ?2"
        }
        (Some(_), None) => {
            "SELECT scope, key, header, stored_at, last_used, hits FROM entries
             WHERE scope = ?1 AND ?2 IS NULL"
        }
        (None, Some(_)) => {
            "SELECT scope, key, header, stored_at, last_used, hits FROM entries
             WHERE ?1 IS NULL AND kind = ?2"
        }
        (None, None) => {
            "SELECT scope, key, header, stored_at, last_used, hits FROM entries
             WHERE ?1 IS NULL AND ?2 IS NULL"
        }
    };
    let mut statement = reader.prepare_cached(sql).doing(explained)?;
    let scope = filter.scope.as_ref().map(Scope::as_str);
    let kind = filter.kind.map(Kind::as_str);
    let mut rows = statement.query(params![scope, kind]).doing(explained)?;
    while let Some(row) = rows.next().doing(explained)? {
        if visit_row(row, visit).doing(explained)?.is_break() {
            break;
        }
    }
    Ok(())
}

fn visit_row(row: &Row<'_>, visit: &mut RecordVisitor<'_>) -> rusqlite::Result<ScanFlow> {
    let scope = row.get_ref(0)?.as_str().ok().map(Scope::parse);
    let key = row.get_ref(1)?.as_str().ok().map(Key::parse);
    let (Some(Ok(scope)), Some(Ok(key))) = (scope, key) else {
        // No id can address such a row, and no version of ours wrote it.
        return Ok(ScanFlow::Continue(()));
    };
    let id = EntryId::new(scope, key);
    Ok(match HeadRow::read(row, 2)?.parse() {
        Ok(head) => visit(&id, Ok(&head)),
        Err(error) => visit(&id, Err(error)),
    })
}

/// A large body, read frame by frame on a connection of its own, so that the others can go on.
#[derive(Debug)]
pub(super) struct SqliteFrames {
    pub(super) path: PathBuf,
    pub(super) id: i64,
    pub(super) wait: Duration,
}

impl ChunkSource for SqliteFrames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let explained = "cannot read a large body";
        busy::with_wait_limit(self.wait, || {
            let reader = connection::open_unchecked(&self.path)?;
            let mut statement = reader
                .prepare("SELECT data FROM chunks WHERE frames = ?1 ORDER BY seq")
                .doing(explained)?;
            let mut rows = statement.query([self.id]).doing(explained)?;
            while let Some(row) = rows.next().doing(explained)? {
                let data = row.get_ref(0).and_then(|data| Ok(data.as_bytes()?));
                visit(data.doing(explained)?)?;
            }
            Ok(())
        })
    }
}

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
        .doing(SEARCHING)?;
    let mut rows =
        statement.query(params![probe.scope.as_str(), probe.kind.as_str()]).doing(SEARCHING)?;
    while let Some(row) = rows.next().doing(SEARCHING)? {
        let id: i64 = row.get(0).doing(SEARCHING)?;
        let stored_at: i64 = row.get(1).doing(SEARCHING)?;
        let in_common = match row.get_ref(2).and_then(|sketch| Ok(sketch.as_bytes_or_null()?)) {
            Ok(Some(sketch)) => asked.count_common(sketch),
            // A writer of an earlier version left it out.
            Ok(None) => asked.count_common(sketch_of(reader, id).doing(SEARCHING)?.as_bytes()),
            Err(error) => return Err(error).doing(SEARCHING),
        };
        best.offer(in_common, (stored_at, id), || id);
    }
    let mut heads = Vec::new();
    for row in best.into_found() {
        // Skips rows that are gone or unreadable.
        heads.extend(head_in_row(reader, row)?.and_then(|(id, head)| Some((id, head.ok()?))));
    }
    Ok(Some(heads))
}

/// Computes a sketch that a writer of an earlier version left out.
fn sketch_of(reader: &Connection, id: i64) -> rusqlite::Result<PartSketch> {
    let header: Vec<u8> = reader
        .prepare_cached("SELECT header FROM entries WHERE rowid = ?1")?
        .query_row([id], |row| row.get(0))?;
    let parts = Header::from_json(&header).map(|header| header.parts).unwrap_or_default();
    Ok(PartSketch::of(&parts))
}
