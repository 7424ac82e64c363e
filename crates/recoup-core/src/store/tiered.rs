//! One store in front of another: memory in front of SQLite, or a machine's own SQLite in front of
//! its team's Redis.
//!
//! Writes go through to both. The front serves a record for `max_age` after it arrived there; then
//! the back is asked again, so that writes and removals of other machines become visible. While the
//! back is unavailable, the front answers alone.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;

use super::plan::scan_refined;
use super::{
    EvictionPlan, EvictionReport, FaultLog, RecordVisitor, ScanFilter, ScanFlow, ScopeUsage,
    SimilarityProbe, Store, StoreInfo,
};
use crate::base::clock::Clock;
use crate::entry::{ChunkSource, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};

/// Larger bodies stay in the back. Smaller ones are fetched before the front is locked, so that no
/// caller waits there for the back.
const MAX_HELD: usize = 64 << 20;

/// `front` over `back`.
#[derive(Debug)]
pub struct TieredStore {
    front: Arc<dyn Store>,
    back: Arc<dyn Store>,
    max_age_millis: u64,
    clock: Arc<dyn Clock>,
    faults: Arc<dyn FaultLog>,
    /// Number of writes. Locked while the front is changed, so that a value read from the back
    /// before a write cannot overwrite that write in the front.
    writes: Mutex<u64>,
}

impl TieredStore {
    /// Serves from `front` what arrived there at most `max_age_millis` ago.
    pub fn new(
        front: Arc<dyn Store>,
        back: Arc<dyn Store>,
        max_age_millis: u64,
        clock: Arc<dyn Clock>,
        faults: Arc<dyn FaultLog>,
    ) -> Self {
        Self { front, back, max_age_millis, clock, faults, writes: Mutex::default() }
    }

    /// True if the front's record may be served. An expired one is never current: another machine
    /// may have refreshed it.
    fn is_current(&self, record: &EntryRecord) -> bool {
        let now = self.clock.now();
        now.millis_since(record.head.stored_at) <= self.max_age_millis
            && now < record.head.header.fresh_until()
    }

    /// A fault of the front only costs speed: it is logged, and the back is asked.
    fn get_from_front(&self, id: &EntryId) -> Option<Arc<EntryRecord>> {
        self.front.get(id).unwrap_or_else(|error| {
            self.log_fault(&self.front, &error);
            None
        })
    }

    /// Updates the front with the answer of the back, unless there were writes since `seen`.
    fn refresh_front(&self, id: &EntryId, found: Option<&EntryRecord>, had: bool, seen: u64) {
        let writes = self.writes.lock();
        if *writes != seen {
            return;
        }
        let done = match found {
            Some(record) => self.front.put(id, &self.stamped_now(record)),
            None if had => self.front.remove(std::slice::from_ref(id)).map(drop),
            None => Ok(()),
        };
        match done {
            // The damage came from the back; the reader will notice it.
            Err(error) if error.kind() == ErrorKind::Corrupt => {}
            Err(error) => self.log_fault(&self.front, &error),
            Ok(()) => {}
        }
    }

    fn stamped_now(&self, record: &EntryRecord) -> EntryRecord {
        let mut record = record.clone();
        record.head.stored_at = self.clock.now();
        record
    }

    fn log_fault(&self, store: &Arc<dyn Store>, error: &Error) {
        self.faults.fault(&store.info().url, error);
    }

    /// Runs `act` in both tiers, even if the first one fails. Errors carry the URL of their tier.
    fn in_both_tiers<T>(&self, mut act: impl FnMut(&dyn Store) -> Result<T>) -> Result<T> {
        let back = act(&*self.back).map_err(|error| with_store_url(error, &*self.back));
        let mut writes = self.writes.lock();
        *writes += 1;
        let front = act(&*self.front).map_err(|error| with_store_url(error, &*self.front));
        let done = back?;
        front?;
        Ok(done)
    }
}

/// The frames of a large body, fetched once for the front and the caller.
#[derive(Debug)]
struct BufferedFrames(Vec<Vec<u8>>);

impl ChunkSource for BufferedFrames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.0.iter().try_for_each(|frame| visit(frame))
    }
}

/// The record with its body in memory; `None` if that is too large.
fn buffer_body(record: &Arc<EntryRecord>) -> Result<Option<Arc<EntryRecord>>> {
    let StoredBody::Framed(chunks) = &record.payload else { return Ok(Some(Arc::clone(record))) };
    let (mut frames, mut len) = (Vec::new(), 0);
    let is_large = |len: usize| len > MAX_HELD;
    if usize::try_from(record.head.header.body.stored_len).is_ok_and(|len| !is_large(len)) {
        chunks.for_each_chunk(&mut |frame| {
            len += frame.len();
            if is_large(len) {
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    "the body is longer than its header says",
                ));
            }
            frames.push(frame.to_vec());
            Ok(())
        })?;
        let payload = StoredBody::Framed(Arc::new(BufferedFrames(frames)));
        return Ok(Some(Arc::new(EntryRecord { payload, ..EntryRecord::clone(record) })));
    }
    Ok(None)
}

/// Adds the URL of the tier, unless the error has it.
fn with_store_url(error: Error, store: &dyn Store) -> Error {
    let url = store.info().url;
    if error.to_string().starts_with(&url) { error } else { error.context(url) }
}

impl Store for TieredStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let near = self.get_from_front(id);
        let seen = *self.writes.lock();
        match near {
            Some(record) if self.is_current(&record) => Ok(Some(record)),
            near => match self.back.get(id) {
                Ok(Some(found)) => match buffer_body(&found) {
                    Ok(here) => {
                        self.refresh_front(id, here.as_deref(), near.is_some(), seen);
                        Ok(here.or(Some(found)))
                    }
                    // The error recurs when the body is read.
                    Err(_) => Ok(Some(found)),
                },
                Ok(None) => {
                    self.refresh_front(id, None, near.is_some(), seen);
                    Ok(None)
                }
                // A damaged record in the back is an answer: the front's copy is not served.
                Err(error) => match error.kind() {
                    ErrorKind::Unavailable | ErrorKind::Locked | ErrorKind::Io
                        if near.is_some() =>
                    {
                        self.log_fault(&self.back, &error);
                        Ok(near)
                    }
                    _ => Err(error),
                },
            },
        }
    }

    /// The front has a full result only from a put, and the back may have a newer one. The result
    /// must belong to the record that `get` returns.
    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        let near = self.get_from_front(id).filter(|record| self.is_current(record));
        if near.is_some()
            && let Ok(Some(full)) = self.front.full_payload(id)
        {
            return Ok(Some(full));
        }
        let seen = *self.writes.lock();
        match self.back.full_payload(id) {
            Ok(full) => {
                let Some(near) = near else { return Ok(full) };
                let far = self.back.get(id)?;
                let named = |record: &EntryRecord| record.head.header.full.map(|full| full.sha256);
                if far.as_deref().and_then(named) == named(&near) {
                    return Ok(full);
                }
                // The caller has to retry, and then finds the front updated.
                self.refresh_front(id, far.as_deref(), true, seen);
                Err(Error::new(ErrorKind::Corrupt, "the full result was replaced meanwhile"))
            }
            Err(error) => match self.front.full_payload(id) {
                Ok(Some(full)) => {
                    self.log_fault(&self.back, &error);
                    Ok(Some(full))
                }
                _ => Err(error),
            },
        }
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        let record = self.stamped_now(record);
        self.in_both_tiers(|store| store.put(id, &record))
    }

    /// The larger count of the two tiers, which mostly hold the same.
    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let mut most = 0;
        self.in_both_tiers(|store| {
            most = store.remove(ids)?.max(most);
            Ok(())
        })?;
        Ok(most)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        let mut most = 0;
        self.in_both_tiers(|store| {
            most = store.clear(scope, gone)?.max(most);
            Ok(())
        })?;
        Ok(most)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.in_both_tiers(|store| store.fold_batch(batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.back.tallies(scope)
    }

    /// Scans the back, then records that only the front has: those removed by another machine are
    /// served for a while, so they are listed and can be removed.
    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        let in_both = |filter: &ScanFilter, visit: &mut RecordVisitor<'_>| {
            let (mut seen, mut flow) = (HashSet::new(), ScanFlow::Continue(()));
            self.back.scan(filter, &mut |id, head| {
                seen.insert(id.clone());
                flow = visit(id, head);
                flow
            })?;
            if flow.is_break() {
                return Ok(());
            }
            let near = self.front.scan(filter, &mut |id, head| {
                if seen.contains(id) { ScanFlow::Continue(()) } else { visit(id, head) }
            });
            if let Err(error) = near {
                self.log_fault(&self.front, &error);
            }
            Ok(())
        };
        // The newest of both tiers must be merged; all other filters hold in each tier by itself.
        if filter.newest.is_some() {
            scan_refined(filter, visit, in_both)
        } else {
            in_both(filter, visit)
        }
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.in_both_tiers(|store| store.evict(plan))
    }

    /// Searches the back, which has everything; while it is unavailable, the front.
    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.back.nearest(probe).or_else(|error| {
            self.log_fault(&self.back, &error);
            self.front.nearest(probe)
        })
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.back.usage(scope)
    }

    fn info(&self) -> StoreInfo {
        let (front, back) = (self.front.info(), self.back.info());
        StoreInfo { url: format!("{} + {}", front.url, back.url), ..back }
    }
}
