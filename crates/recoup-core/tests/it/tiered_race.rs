//! A reader that is slow must not bring back into the front what a writer has
//! replaced or removed meanwhile.

use std::fmt;
use std::sync::{Arc, Mutex};

use recoup_core::Result;
use recoup_core::base::clock::ManualClock;
use recoup_core::entry::{Batch, Head, Payload, Record, Tally};
use recoup_core::key::{Id, Kind, Scope};
use recoup_core::store::{
    Evicted, EvictionPlan, Filter, Info, Memory, Probe, Store, Tiered, Usage, Visit,
};

use crate::support::{Faults, START, body_of, id, record};

type Hook = Box<dyn FnOnce() + Send>;

/// A store in whose next `get`, after it has looked, something else happens.
struct Slow {
    inner: Memory,
    meanwhile: Mutex<Option<Hook>>,
}

impl fmt::Debug for Slow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Slow")
    }
}

impl Store for Slow {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        let found = self.inner.get(id);
        let meanwhile = self.meanwhile.lock().unwrap().take();
        if let Some(act) = meanwhile {
            act();
        }
        found
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        self.inner.full(id)
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        self.inner.put(id, record)
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        self.inner.remove(ids)
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        self.inner.fold(batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        self.inner.tallies(scope)
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        self.inner.clear(scope, gone)
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.inner.scan(filter, visit)
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        self.inner.evict(plan)
    }

    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        self.inner.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.inner.usage(scope)
    }

    fn info(&self) -> Info {
        self.inner.info()
    }
}

/// What is found after a reader saw "old" in the back and `act` came first.
fn found_after(act: impl FnOnce(&Tiered) + Send + 'static) -> Option<Vec<u8>> {
    let back =
        Arc::new(Slow { inner: Memory::with_capacity(1 << 20), meanwhile: Mutex::default() });
    back.inner.put(&id("a"), &record("old")).unwrap();
    let front = Arc::new(Memory::with_capacity(1 << 20));
    let clock = Arc::new(ManualClock::at(START));
    let tiers = Arc::new(Tiered::new(front, back.clone(), 1_000, clock, Faults::new()));
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
