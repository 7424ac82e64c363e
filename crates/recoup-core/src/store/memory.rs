//! In-memory store: bounded by bytes, thread-safe, lost with the process. Bodies are kept decoded,
//! so that a hit costs no decoding.

use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::plan::{clear_by_scan, scan_refined};
use super::sums::Sums;
use super::tallies::Tallies;
use super::{Cause, Evicted, EvictionPlan, Filter, Info, Probe, Store, Usage, Visit, nearest};
use crate::base::clock::Timestamp;
use crate::entry::{Batch, BodyInfo, Happening, Head, Payload, Record, Tally};
use crate::error::Result;
use crate::key::{Id, Kind, Scope};

/// Records in memory, evicted least recently used first.
#[derive(Debug)]
pub struct Memory {
    records: Cache<Id, Arc<Record>, RandomState>,
    capacity: u64,
    tallies: Mutex<Tallies>,
}

impl Memory {
    /// A store with room for about `capacity` bytes.
    pub fn with_capacity(capacity: u64) -> Self {
        let records = Cache::builder()
            .max_capacity(capacity)
            .eviction_policy(EvictionPolicy::lru())
            .weigher(|_: &Id, record: &Arc<Record>| weight(&record.head))
            .build_with_hasher(RandomState::default());
        Self { records, capacity, tallies: Mutex::default() }
    }

    /// Changes the head of an existing record.
    fn update(&self, id: &Id, change: impl FnOnce(&mut Head)) {
        self.records.entry_by_ref(id).and_compute_with(|found| {
            found.map_or(moka::ops::compute::Op::Nop, |found| {
                let mut record = found.into_value();
                change(&mut Arc::make_mut(&mut record).head);
                moka::ops::compute::Op::Put(record)
            })
        });
    }

    /// Removes a record, unless it was stored again after `at`.
    fn drop_older(&self, id: &Id, at: Timestamp) {
        if self.records.get(id).is_some_and(|record| record.head.stored_at <= at) {
            self.records.invalidate(id);
        }
    }

    fn matching(&self, filter: &Filter) -> Vec<(Arc<Id>, Arc<Record>)> {
        let wanted = |id: &Id, head: &Head| {
            filter.scope.as_ref().is_none_or(|scope| *scope == id.scope)
                && filter.kind.is_none_or(|kind| kind == head.header.kind)
        };
        self.records.iter().filter(|(id, record)| wanted(id, &record.head)).collect()
    }

    fn drop_one(&self, id: &Id, head: &Head, cause: Cause, evicted: &mut Evicted) {
        self.records.invalidate(id);
        evicted.bytes = evicted.bytes.saturating_add(stored_bytes(head));
        evicted.add(cause);
        evicted.name(id.clone(), head.header.kind, cause);
    }
}

impl Store for Memory {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        Ok(self.records.get(id))
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        Ok(self.records.get(id).and_then(|record| record.full.clone()))
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        // A body that would never fit is not read into memory first.
        if bytes(&record.head) > self.capacity {
            self.records.invalidate(id);
        } else {
            self.records.insert(id.clone(), opened(record)?);
        }
        Ok(())
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        Ok(ids.iter().filter(|id| self.records.remove(*id).is_some()).count())
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        let sums = Sums::of(batch);
        if !self.tallies.lock().unwrap_or_else(PoisonError::into_inner).add(batch, &sums) {
            return Ok(());
        }
        for event in &batch.events {
            match event.what {
                Happening::Hit => self.update(&event.id, |head| {
                    head.hits += event.count;
                    head.last_used = head.last_used.max(event.at);
                }),
                Happening::Corrupt => self.drop_older(&event.id, event.at),
                _ => {}
            }
        }
        Ok(())
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        Ok(self.tallies.lock().unwrap_or_else(PoisonError::into_inner).of(scope))
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        scan_refined(filter, visit, |filter, visit| {
            for (id, record) in self.matching(filter) {
                if visit(&id, Ok(&record.head)).is_break() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        let mut evicted = Evicted::default();
        let is_dead =
            |record: &Record| record.head.header.dead_at().is_some_and(|at| at <= plan.now);
        for (id, record) in self.matching(&Filter::default()).iter().filter(|(_, r)| is_dead(r)) {
            self.drop_one(id, &record.head, Cause::Dead, &mut evicted);
        }
        let filter =
            Filter { scope: Some(plan.scope.clone()), kind: Some(plan.kind), ..Filter::default() };
        let mut alive = self.matching(&filter);
        alive.sort_unstable_by_key(|(_, record)| record.head.last_used);
        let mut entries = alive.len() as u64;
        let sizes = alive.iter().map(|(_, record)| stored_bytes(&record.head));
        let mut total = sizes.fold(0, u64::saturating_add);
        let spared = |id: &Id| plan.keep.as_ref() == Some(&id.key);
        for (id, record) in alive.iter().filter(|(id, _)| !spared(id)) {
            let Some(limit) = plan.excess(entries, total) else { break };
            self.drop_one(id, &record.head, Cause::Over(limit), &mut evicted);
            entries -= 1;
            total = total.saturating_sub(stored_bytes(&record.head));
        }
        Ok(evicted)
    }

    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        nearest::by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        let filter = Filter::of_scope(scope);
        let found = self.matching(&filter);
        let sizes = found.iter().map(|(_, record)| stored_bytes(&record.head));
        let bytes = sizes.fold(0, u64::saturating_add);
        Ok(Usage { entries: found.len() as u64, bytes })
    }

    fn info(&self) -> Info {
        Info { url: "memory:".to_owned(), durable: false, keeps_stale: true }
    }
}

/// Decodes and verifies the bodies once, so that no hit has to. Large bodies are loaded: their own
/// store may be gone when they are read.
fn opened(record: &Record) -> Result<Arc<Record>> {
    let head = record.head.clone();
    let payload = in_memory(&record.payload, &head.header.body)?;
    let full = match (&record.full, &head.header.full) {
        (Some(full), Some(info)) => Some(in_memory(full, info)?),
        _ => None,
    };
    Ok(Arc::new(Record { payload, head, full }))
}

fn in_memory(payload: &Payload, info: &BodyInfo) -> Result<Payload> {
    Ok(Payload::Opened(payload.to_plain(info)?.into()))
}

/// Size for eviction plans: packed bodies without headers, which would have to be serialized to be
/// measured. Never more than what the store behind counts.
fn stored_bytes(head: &Head) -> u64 {
    head.header.stored_len()
}

/// Size in memory.
fn bytes(head: &Head) -> u64 {
    head.header.body.raw_len.saturating_add(head.header.full.map_or(0, |full| full.raw_len))
}

fn weight(head: &Head) -> u32 {
    // Header and bookkeeping are not free.
    const OVERHEAD: u64 = 512;
    u32::try_from(bytes(head).saturating_add(OVERHEAD)).unwrap_or(u32::MAX)
}
