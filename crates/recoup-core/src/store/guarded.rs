//! A store behind a circuit breaker: after repeated faults it is not called for a while.

use std::path::PathBuf;
use std::sync::Arc;

use super::breaker::CircuitBreaker;
use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo,
};
use crate::base::clock::Clock;
use crate::entry::{ChunkSource, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};

/// `inner` behind a circuit breaker.
#[derive(Debug)]
pub struct GuardedStore {
    inner: Arc<dyn Store>,
    breaker: Arc<CircuitBreaker>,
}

impl GuardedStore {
    /// Wraps `inner`. The processes of a machine share the breaker's state through `file`.
    pub fn new(inner: Arc<dyn Store>, file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, breaker: Arc::new(CircuitBreaker::new(file, clock)) }
    }

    fn call_if_admitted<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let named = |error: Error| error.context(self.inner.info().url);
        self.breaker.admit().map_err(named)?;
        let done = act(&*self.inner);
        report_to_breaker(&self.breaker, &done);
        done.map_err(named)
    }

    /// Guards a large body too, because it is read from the server later.
    fn guard_payload(&self, payload: StoredBody) -> StoredBody {
        match payload {
            StoredBody::Framed(body) => {
                let (breaker, url) = (Arc::clone(&self.breaker), self.inner.info().url);
                StoredBody::Framed(Arc::new(GuardedFrames { body, breaker, url }))
            }
            here => here,
        }
    }
}

/// Reports a result to the breaker. Only an unavailable server counts as a fault; an error about a
/// record is an answer.
fn report_to_breaker<T>(breaker: &CircuitBreaker, done: &Result<T>) {
    match done {
        Err(error) if error.kind() == ErrorKind::Unavailable => breaker.note_fault(error),
        _ => breaker.note_answer(),
    }
}

/// A large body behind the same breaker.
#[derive(Debug)]
struct GuardedFrames {
    body: Arc<dyn ChunkSource>,
    breaker: Arc<CircuitBreaker>,
    url: String,
}

impl ChunkSource for GuardedFrames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let named = |error: Error| error.context(self.url.clone());
        self.breaker.admit().map_err(named)?;
        let mut theirs = None;
        let done = self.body.for_each_chunk(&mut |frame| {
            visit(frame).map_err(|error| {
                // An error of the reader stops the server's stream, and is what the caller gets.
                theirs = Some(error);
                Error::new(ErrorKind::Io, "the reader wants no more")
            })
        });
        report_to_breaker(&self.breaker, &done);
        theirs.map_or_else(|| done.map_err(named), Err)
    }
}

impl Store for GuardedStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let found = self.call_if_admitted(|store| store.get(id))?;
        Ok(found.map(|record| match &record.payload {
            StoredBody::Framed(_) => {
                let mut record = EntryRecord::clone(&record);
                record.payload = self.guard_payload(record.payload);
                Arc::new(record)
            }
            _ => record,
        }))
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        Ok(self
            .call_if_admitted(|store| store.full_payload(id))?
            .map(|full| self.guard_payload(full)))
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.call_if_admitted(|store| store.put(id, record))
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.call_if_admitted(|store| store.remove(ids))
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.call_if_admitted(|store| store.clear(scope, gone))
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.call_if_admitted(|store| store.fold_batch(batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.call_if_admitted(|store| store.tallies(scope))
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.call_if_admitted(|store| store.scan(filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.call_if_admitted(|store| store.evict(plan))
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.call_if_admitted(|store| store.nearest(probe))
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.call_if_admitted(|store| store.usage(scope))
    }

    fn info(&self) -> StoreInfo {
        self.inner.info()
    }
}
