//! Where callers meet: any number of caches over one store, each with claims as
//! another thread, process or machine would have them.

use std::marker::PhantomData;
use std::sync::Arc;

use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{Cache, CacheOptions, CacheParts};
use recoup_core::store::redis::RedisTarget;
use recoup_core::store::{
    ClaimRegistry, FileClaims, InMemoryStore, Store, StoreContext, StoreUrl, ThreadClaims,
};
use tempfile::TempDir;

use crate::redis_server;
use crate::store_contract::stores::{Factory, Shared};
use crate::support::{Faults, START};

pub(super) trait Meeting {
    fn fresh() -> Self;

    fn clock(&self) -> &ManualClock;

    /// What the next caller brings along.
    fn parts(&self) -> (Arc<dyn Store>, Arc<dyn ClaimRegistry>);

    /// The cache of the next caller.
    fn cache(&self) -> Cache {
        let (store, claims) = self.parts();
        assemble(store, claims, self.clock(), CacheOptions::default())
    }
}

pub(super) fn assemble(
    store: Arc<dyn Store>,
    claims: Arc<dyn ClaimRegistry>,
    clock: &ManualClock,
    options: CacheOptions,
) -> Cache {
    let clock = Arc::new(clock.clone());
    Cache::from_parts(CacheParts { store, clock, ledger: None, claims, options })
}

/// In front of memory, with claims of the same sort.
#[derive(Debug)]
pub(super) struct InOneProcess {
    store: Arc<InMemoryStore>,
    claims: ThreadClaims,
    clock: ManualClock,
}

impl Meeting for InOneProcess {
    fn fresh() -> Self {
        let store = Arc::new(InMemoryStore::with_capacity(64 << 20));
        Self { store, claims: ThreadClaims::default(), clock: ManualClock::at(START) }
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn parts(&self) -> (Arc<dyn Store>, Arc<dyn ClaimRegistry>) {
        (Arc::clone(&self.store) as _, Arc::new(self.claims.clone()))
    }
}

/// In front of a store on this machine, with claims in a directory.
#[derive(Debug)]
pub(super) struct OnOneMachine<F> {
    stored: F,
    dir: TempDir,
    clock: ManualClock,
}

impl<F: Factory> Meeting for OnOneMachine<F> {
    fn fresh() -> Self {
        let dir = tempfile::tempdir().unwrap();
        Self { stored: F::fresh(), dir, clock: ManualClock::at(START) }
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn parts(&self) -> (Arc<dyn Store>, Arc<dyn ClaimRegistry>) {
        (self.stored.store(), Arc::new(FileClaims::at(self.dir.path().join("claims"))))
    }
}

/// In front of a server, each on a machine of its own: they share no directory.
#[derive(Debug)]
pub(super) struct OnTwoMachines<S> {
    url: StoreUrl,
    dir: TempDir,
    clock: ManualClock,
    server: PhantomData<S>,
}

impl<S: Shared> Meeting for OnTwoMachines<S> {
    fn fresh() -> Self {
        let url = StoreUrl::Redis(Box::new(S::target(&redis_server::fresh_prefix())));
        let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(START));
        Self { url, dir, clock, server: PhantomData }
    }

    fn clock(&self) -> &ManualClock {
        &self.clock
    }

    fn parts(&self) -> (Arc<dyn Store>, Arc<dyn ClaimRegistry>) {
        let machine = tempfile::tempdir_in(self.dir.path()).unwrap().keep();
        let around = around(&Faults::new(), &self.clock);
        (
            self.url.open(&around),
            self.url.claims(&around, Arc::new(FileClaims::at(machine.join("claims")))),
        )
    }
}

pub(super) fn around(faults: &Arc<Faults>, clock: &ManualClock) -> StoreContext {
    let clock = Arc::new(clock.clone());
    StoreContext { clock, faults: Arc::clone(faults) as _, breakers: None }
}

/// As the program opens them.
pub(super) fn claims_at(
    target: RedisTarget,
    dir: &TempDir,
    faults: &Arc<Faults>,
) -> Arc<dyn ClaimRegistry> {
    let around = around(faults, &ManualClock::at(START));
    StoreUrl::Redis(Box::new(target))
        .claims(&around, Arc::new(FileClaims::at(dir.path().join("claims"))))
}
