//! The default store: one SQLite file that any number of short processes share.
//!
//! Readers never wait for a writer (write-ahead log), and closing costs nothing (writers checkpoint
//! now and then instead). A damaged file is set aside and recreated; one of a newer version is left
//! alone.

mod evict;
mod fold;
mod read;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::plan::scan_refined;
use super::{
    EvictionPlan, EvictionReport, FaultLog, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe,
    Store, StoreInfo, nearest,
};
use crate::base::clock::Timestamp;
use crate::database::{self, ConnectionPool, SqlContext as _};
use crate::entry::{EntryHead, EntryRecord, EventBatch, EventTally, Header, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};
use read::SqliteFrames;

pub use crate::database::{
    DatabaseFileRole, DatabaseInspection, DatabaseSoundness, WaitLimits, list_set_aside, lock_path,
};
pub use schema::VERSION;

/// Records per transaction or read. Others may write in between.
const BATCH: usize = 1_000;

/// Records in an SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    pool: ConnectionPool,
}

impl SqliteStore {
    /// The store at `path`, opened at its first use and created at its first write. Survived faults
    /// go to `faults`.
    pub fn at(path: impl Into<PathBuf>, waits: WaitLimits, faults: Arc<dyn FaultLog>) -> Self {
        Self { pool: ConnectionPool::new(path.into(), &schema::LAYOUT, waits, "sqlite", faults) }
    }

    /// Checks the whole file, and mends a damaged one or sets it aside. Returns true if it was
    /// damaged.
    pub fn repair(&self) -> Result<bool> {
        self.pool.repair()
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        self.pool.path()
    }

    fn read_row<T>(
        &self,
        sql: &str,
        id: &EntryId,
        doing: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>> {
        let found = self.pool.read(|reader| {
            reader
                .prepare_cached(sql)
                .and_then(|mut statement| {
                    let id = params![id.scope.as_str(), id.key.as_str()];
                    statement.query_row(id, &read).optional()
                })
                .doing(doing)
        })?;
        Ok(found.flatten())
    }

    /// The payload of a row. A large body is read from the file on demand.
    fn payload(&self, row: PayloadRow) -> Result<StoredBody> {
        match (row.body, row.frames) {
            (Some(body), None) => Ok(StoredBody::Inline(body)),
            (None, Some(id)) => {
                let (path, wait) = (self.path().to_owned(), self.pool.waits().read);
                Ok(StoredBody::Framed(Arc::new(SqliteFrames { path, id, wait })))
            }
            _ => Err(Error::new(ErrorKind::Corrupt, "the entry has no body, or two")),
        }
    }
}

/// The head columns of a row, before validation.
#[derive(Debug)]
struct HeadRow {
    header: Vec<u8>,
    stored_at: i64,
    last_used: i64,
    hits: i64,
}

impl HeadRow {
    /// Reads the columns that start at `first`.
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            header: row.get_ref(first)?.as_bytes()?.to_vec(),
            stored_at: row.get(first + 1)?,
            last_used: row.get(first + 2)?,
            hits: row.get(first + 3)?,
        })
    }

    fn parse(&self) -> Result<EntryHead> {
        Ok(EntryHead {
            header: Header::from_json(&self.header)?,
            stored_at: Timestamp::from_millis(self.stored_at),
            hits: self.hits.max(0).cast_unsigned(),
            last_used: Timestamp::from_millis(self.last_used),
        })
    }
}

/// The payload columns of a row.
#[derive(Debug)]
struct PayloadRow {
    body: Option<Bytes>,
    frames: Option<i64>,
}

impl PayloadRow {
    /// Reads the columns that start at `first`.
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        let body = row.get_ref(first)?.as_bytes_or_null()?.map(Bytes::copy_from_slice);
        Ok(Self { body, frames: row.get(first + 1)? })
    }
}

/// State of the store at `path` and its number of entries, without changing anything; `None` if
/// there is no file. The page check stops after `limit`.
pub fn inspect(path: &Path, limit: Duration) -> Result<Option<(DatabaseInspection, u64)>> {
    database::inspect_database(path, &schema::LAYOUT, limit, |connection| {
        connection.query_row("SELECT coalesce(sum(entries), 0) FROM totals", [], |row| {
            row.get::<_, i64>(0).map(|entries| entries.max(0).cast_unsigned())
        })
    })
}

impl Store for SqliteStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        const SQL: &str = "SELECT header, stored_at, last_used, hits, body, frames
                           FROM entries WHERE scope = ?1 AND key = ?2";
        let read = |row: &Row<'_>| Ok((HeadRow::read(row, 0)?, PayloadRow::read(row, 4)?));
        let found = self.read_row(SQL, id, "cannot read an entry", read)?;
        let record = |(head, payload): (HeadRow, PayloadRow)| {
            let head = head.parse()?;
            Ok(Arc::new(EntryRecord { payload: self.payload(payload)?, head, full: None }))
        };
        found.map(record).transpose()
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        const SQL: &str = "SELECT fulls.body, fulls.frames FROM entries JOIN fulls
                           ON fulls.scope = entries.scope AND fulls.kind = entries.kind
                           AND fulls.sha256 = entries.full
                           WHERE entries.scope = ?1 AND entries.key = ?2";
        let read = |row: &Row<'_>| PayloadRow::read(row, 0);
        let found = self.read_row(SQL, id, "cannot read a full result", read)?;
        found.map(|found| self.payload(found)).transpose()
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        let put = self.pool.write(|writer| write::put(writer, id, record));
        // A recreated file has this record, so the flag is reset.
        self.pool.was_replaced();
        put
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let mut removed = 0;
        for (number, some) in ids.chunks(BATCH).enumerate() {
            if number > 0 {
                evict::let_others_write();
            }
            removed += self.pool.remove(|writer| write::remove(writer, some))?;
        }
        if removed > 0 {
            evict::vacuum_all(&self.pool)?;
        }
        Ok(removed)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        let filter = ScanFilter::of_scope(scope);
        let mut rows =
            self.pool.read(|reader| read::matching_rows(reader, &filter))?.unwrap_or_default();
        // In file order, so that each page is written once.
        rows.sort_unstable();
        let mut removed = 0;
        self.pool.remove(|writer| {
            evict::leave_freed_pages(writer)?;
            for (number, some) in rows.chunks(BATCH).enumerate() {
                if number > 0 {
                    evict::let_others_write();
                }
                removed += write::remove_rows(writer, scope, some, gone)?;
                evict::checkpoint_each(writer, number)?;
            }
            evict::overwrite_freed_pages(writer)
        })?;
        evict::upgrade_and_vacuum(&self.pool)?;
        Ok(removed)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.pool.write(|writer| fold::fold(writer, batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.pool.read(|reader| fold::tallies(reader, scope)).map(Option::unwrap_or_default)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        let plain = |filter: &ScanFilter, visit: &mut RecordVisitor<'_>| {
            let scanned = self.pool.read(|reader| read::scan(reader, filter, visit));
            scanned.map(Option::unwrap_or_default)
        };
        if filter.is_plain() {
            return plain(filter, visit);
        }
        let ScanFilter { kind, key_prefix, served, selection, .. } = filter;
        let is_narrowed = kind.is_some() || key_prefix.is_some() || *served || selection.is_some();
        if filter.newest.is_some() && (is_narrowed || filter.scope.is_none()) {
            return scan_refined(filter, visit, plain);
        }
        // No transaction is open during the callbacks, which may take long.
        let rows =
            self.pool.read(|reader| read::matching_rows(reader, filter))?.unwrap_or_default();
        for some in rows.chunks(BATCH) {
            let heads = |reader: &Connection| {
                some.iter().map(|row| read::head_in_row(reader, *row)).collect::<Result<Vec<_>>>()
            };
            for (id, head) in self.pool.read(heads)?.into_iter().flatten().flatten() {
                let found = head.as_ref().ok();
                let is_other = filter.scope.as_ref().is_some_and(|scope| *scope != id.scope)
                    || kind.is_some_and(|kind| found.is_some_and(|it| it.header.kind != kind));
                if is_other || !filter.admits(&id, found) {
                    continue;
                }
                let flow = match head {
                    Ok(head) => visit(&id, Ok(&head)),
                    Err(error) => visit(&id, Err(error)),
                };
                if flow.is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        let evicted = evict::carry_out(&self.pool, plan)?;
        if plan.thorough {
            evict::upgrade_and_vacuum(&self.pool)?;
        }
        Ok(EvictionReport { lost_all: self.pool.was_replaced(), ..evicted })
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        let found = self.pool.read(|reader| read::nearest(reader, probe))?;
        match found {
            None => Ok(Vec::new()),
            Some(Some(found)) => Ok(found),
            Some(None) => nearest::nearest_by_scan(self, probe),
        }
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.pool.read(|reader| read::usage(reader, scope)).map(Option::unwrap_or_default)
    }

    fn info(&self) -> StoreInfo {
        let url = format!("sqlite:{}", self.path().display());
        StoreInfo { url, durable: true, keeps_stale: true }
    }
}
