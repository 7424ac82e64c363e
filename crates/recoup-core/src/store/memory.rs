//! In-memory store: bounded by bytes, thread-safe, lost with the process. Bodies are kept decoded,
//! so that a hit costs no decoding.

use std::sync::Arc;

use foldhash::fast::RandomState;
use moka::ops::compute::Op;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use parking_lot::Mutex;

use super::plan::{clear_by_scan, scan_refined};
use super::tallies::{BatchSums, TallyTable};
use super::{
    EvictionCause, EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage,
    SimilarityProbe, Store, StoreInfo, nearest,
};
use crate::entry::{
    BodyInfo, EntryEventKind, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody,
};
use crate::error::Result;
use crate::key::{EntryId, Kind, Scope};

/// Size of header and bookkeeping in memory.
const OVERHEAD: u64 = 512;

/// Records in memory, evicted least recently used first.
#[derive(Debug)]
pub struct InMemoryStore {
    records: Cache<EntryId, Arc<EntryRecord>, RandomState>,
    capacity: u64,
    tallies: Mutex<TallyTable>,
}

impl InMemoryStore {
    /// A store with room for about `capacity` bytes.
    pub fn with_capacity(capacity: u64) -> Self {
        let records = Cache::builder()
            .max_capacity(capacity)
            .eviction_policy(EvictionPolicy::lru())
            .weigher(|_: &EntryId, record: &Arc<EntryRecord>| {
                let bytes = memory_bytes(&record.head).saturating_add(OVERHEAD);
                u32::try_from(bytes).unwrap_or(u32::MAX)
            })
            .build_with_hasher(RandomState::default());
        Self { records, capacity, tallies: Mutex::default() }
    }

    fn matching(&self, filter: &ScanFilter) -> Vec<(Arc<EntryId>, Arc<EntryRecord>)> {
        let wanted = |id: &EntryId, head: &EntryHead| {
            filter.scope.as_ref().is_none_or(|scope| *scope == id.scope)
                && filter.kind.is_none_or(|kind| kind == head.header.kind)
        };
        self.records.iter().filter(|(id, record)| wanted(id, &record.head)).collect()
    }

    fn evict_one(
        &self,
        id: &EntryId,
        head: &EntryHead,
        cause: EvictionCause,
        evicted: &mut EvictionReport,
    ) {
        self.records.invalidate(id);
        evicted.bytes = evicted.bytes.saturating_add(stored_bytes(head));
        evicted.count_entry(cause);
        evicted.list_entry(id.clone(), head.header.kind, cause);
    }
}

impl Store for InMemoryStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        Ok(self.records.get(id))
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        Ok(self.records.get(id).and_then(|record| record.full.clone()))
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        // A body that would never fit is not read into memory first.
        if memory_bytes(&record.head) > self.capacity {
            self.records.invalidate(id);
            return Ok(());
        }
        // Decoded and verified once, so that no hit has to. Large bodies are loaded: their own store
        // may be gone when they are read.
        let head = record.head.clone();
        let payload = load_payload(&record.payload, &head.header.body)?;
        let full = match (&record.full, &head.header.full) {
            (Some(full), Some(info)) => Some(load_payload(full, info)?),
            _ => None,
        };
        self.records.insert(id.clone(), Arc::new(EntryRecord { payload, head, full }));
        Ok(())
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        Ok(ids.iter().filter(|id| self.records.remove(*id).is_some()).count())
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        let sums = BatchSums::of(batch);
        if !self.tallies.lock().add(batch, &sums) {
            return Ok(());
        }
        for event in &batch.events {
            match event.what {
                EntryEventKind::Hit => {
                    self.records.entry_by_ref(&event.id).and_compute_with(|found| {
                        let Some(found) = found else { return Op::Nop };
                        let mut record = found.into_value();
                        let head = &mut Arc::make_mut(&mut record).head;
                        head.hits += event.count;
                        head.last_used = head.last_used.max(event.at);
                        Op::Put(record)
                    });
                }
                EntryEventKind::Corrupt => {
                    // Unless it was stored again since.
                    let found = self.records.get(&event.id);
                    if found.is_some_and(|record| record.head.stored_at <= event.at) {
                        self.records.invalidate(&event.id);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        Ok(self.tallies.lock().for_scope(scope))
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        scan_refined(filter, visit, |filter, visit| {
            for (id, record) in self.matching(filter) {
                if visit(&id, Ok(&record.head)).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        let mut evicted = EvictionReport::default();
        let is_dead = |record: &EntryRecord| {
            record.head.header.deletable_at().is_some_and(|at| at <= plan.now)
        };
        for (id, record) in self.matching(&ScanFilter::default()).iter().filter(|(_, r)| is_dead(r))
        {
            self.evict_one(id, &record.head, EvictionCause::Dead, &mut evicted);
        }
        let filter = ScanFilter {
            scope: Some(plan.scope.clone()),
            kind: Some(plan.kind),
            ..ScanFilter::default()
        };
        let mut alive = self.matching(&filter);
        alive.sort_unstable_by_key(|(_, record)| record.head.last_used);
        let mut entries = alive.len() as u64;
        let sizes = alive.iter().map(|(_, record)| stored_bytes(&record.head));
        let mut total = sizes.fold(0, u64::saturating_add);
        let spared = |id: &EntryId| plan.keep.as_ref() == Some(&id.key);
        for (id, record) in alive.iter().filter(|(id, _)| !spared(id)) {
            let Some(limit) = plan.exceeded_limit(entries, total) else { break };
            self.evict_one(id, &record.head, EvictionCause::Over(limit), &mut evicted);
            entries -= 1;
            total = total.saturating_sub(stored_bytes(&record.head));
        }
        Ok(evicted)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        nearest::nearest_by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        let filter = ScanFilter::of_scope(scope);
        let found = self.matching(&filter);
        let sizes = found.iter().map(|(_, record)| stored_bytes(&record.head));
        let bytes = sizes.fold(0, u64::saturating_add);
        Ok(ScopeUsage { entries: found.len() as u64, bytes })
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { url: "memory:".to_owned(), durable: false, keeps_stale: true }
    }
}

fn load_payload(payload: &StoredBody, info: &BodyInfo) -> Result<StoredBody> {
    Ok(StoredBody::Opened(payload.to_plain(info)?.into()))
}

/// Size for eviction plans: packed bodies without headers, which would have to be serialized to be
/// measured. Never more than what the store behind counts.
fn stored_bytes(head: &EntryHead) -> u64 {
    head.header.stored_len()
}

/// Size in memory.
fn memory_bytes(head: &EntryHead) -> u64 {
    head.header.body.raw_len.saturating_add(head.header.full.map_or(0, |full| full.raw_len))
}
