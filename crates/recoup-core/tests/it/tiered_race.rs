//! A reader that is slow must not bring back into the front what a writer has
//! replaced or removed meanwhile.

use std::fmt;
use std::sync::{Arc, Mutex};

use recoup_core::Result;
use recoup_core::base::clock::ManualClock;
use recoup_core::entry::{EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::{
    EvictionPlan, EvictionReport, InMemoryStore, RecordVisitor, ScanFilter, ScopeUsage,
    SimilarityProbe, Store, StoreInfo, TieredStore,
};

use crate::support::{Faults, START, body_of, id, record};

type Hook = Box<dyn FnOnce() + Send>;

/// A store in whose next `get`, after it has looked, something else happens.
struct Slow {
    inner: InMemoryStore,
    meanwhile: Mutex<Option<Hook>>,
}

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

impl Store for Slow {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let found = self.inner.get(id);
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(act) = meanwhile {
            act();
        }
        found
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        self.inner.full_payload(id)
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.inner.put(id, record)
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.inner.remove(ids)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.inner.fold_batch(batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.inner.tallies(scope)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.inner.clear(scope, gone)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.inner.scan(filter, visit)
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.inner.evict(plan)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.inner.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.inner.usage(scope)
    }

    fn info(&self) -> StoreInfo {
        self.inner.info()
    }
}

/// What is found after a reader saw "old" in the back and `act` came first.
fn found_after(act: impl FnOnce(&TieredStore) + Send + 'static) -> Option<Vec<u8>> {
    let back = Arc::new(Slow {
        inner: InMemoryStore::with_capacity(1 << 20),
        meanwhile: Mutex::default(),
    });
    back.inner.put(&id("a"), &record("old")).unwrap();
    let front = Arc::new(InMemoryStore::with_capacity(1 << 20));
    let clock = Arc::new(ManualClock::at(START));
    let tiers = Arc::new(TieredStore::new(front, back.clone(), 1_000, clock, Faults::new()));
    let other = tiers.clone();
    *back.meanwhile.lock().unwrap() = Some(Box::new(move || act(&other)));
    assert_eq!(body_of(&*tiers, &id("a")), Some(b"old".to_vec()), "read before the write");
    body_of(&*tiers, &id("a"))
}

#[test]
fn what_was_replaced_meanwhile_stays_replaced() {
    let found = found_after(|tiers| tiers.put(&id("a"), &record("new")).unwrap());
    assert_eq!(found, Some(b"new".to_vec()));
}

#[test]
fn what_was_removed_meanwhile_stays_removed() {
    let found = found_after(|tiers| assert_eq!(tiers.remove(&[id("a")]).unwrap(), 1));
    assert_eq!(found, None);
}
