//! One works, the others wait: over every store, among threads, processes and
//! machines; and what is served while somebody makes it anew.

mod compute;
mod crowd;
mod files;
mod handover;
mod leases;
mod meetings;
mod opened;
mod processes;
mod stale;
mod wait_limits;
mod waiting;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::Result;
use recoup_core::cache::{Cache, ComputedResult, LookupRequest, Outcome, PathContext, Ttl};
use recoup_core::entry::{Body, Draft};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{Claim, ClaimRegistry};

use crate::support::{draft, id};

/// Longer than any test needs, so that a loaded machine fails none.
const PATIENCE: Duration = Duration::from_mins(1);

/// Comes back when it holds.
fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn nowhere() -> PathContext {
    PathContext { root: "/".into(), cwd: "/".into() }
}

fn lookup(cache: &Cache, key: &str) -> Outcome {
    let (id, view) = (id(key), nowhere());
    cache.lookup(&LookupRequest::new(Kind::Result, &id, &view)).unwrap()
}

fn compute(
    cache: &Cache,
    key: &str,
    work: impl FnOnce() -> Result<(Draft, Ttl)>,
) -> Result<ComputedResult> {
    let (id, view) = (id(key), nowhere());
    cache.lookup_or_compute(&LookupRequest::new(Kind::Result, &id, &view), work)
}

fn made(body: &str) -> (Draft, Ttl) {
    (draft(body.to_owned()), Ttl::days(1))
}

fn text(body: &Body) -> String {
    String::from_utf8(body.to_bytes().unwrap().to_vec()).unwrap()
}

/// Counts how often somebody tried to get a claim: at the second time of one
/// caller, that one waits.
#[derive(Debug)]
struct Counted {
    inner: Arc<dyn ClaimRegistry>,
    tries: AtomicUsize,
}

impl Counted {
    fn over(inner: Arc<dyn ClaimRegistry>) -> Arc<Self> {
        Arc::new(Self { inner, tries: AtomicUsize::new(0) })
    }

    fn tries(&self) -> usize {
        self.tries.load(Ordering::SeqCst)
    }

    /// Comes back when somebody has tried so many times more.
    fn wait_for(&self, more: usize) {
        let before = self.tries();
        until("somebody waits", || self.tries() >= before + more);
    }
}

impl ClaimRegistry for Counted {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        self.tries.fetch_add(1, Ordering::SeqCst);
        self.inner.try_claim(id)
    }

    fn holder(&self, id: &EntryId) -> Option<u64> {
        self.inner.holder(id)
    }

    fn longest_pause(&self) -> Duration {
        self.inner.longest_pause()
    }

    fn sweep(&self) -> Result<usize> {
        self.inner.sweep()
    }
}

macro_rules! flight_laws {
    ($meeting:ty) => {
        #[test]
        fn a_hundred_callers_cost_one_computation() {
            crate::single_flight::crowd::a_hundred_callers_cost_one_computation::<$meeting>();
        }

        #[test]
        fn leaders_that_fail_hand_over_one_at_a_time() {
            crate::single_flight::crowd::leaders_that_fail_hand_over_one_at_a_time::<$meeting>();
        }
    };
}

/// What holds where an entry may be served past its time.
macro_rules! stale_laws {
    ($meeting:ty) => {
        #[test]
        fn of_many_one_refreshes_what_is_stale() {
            crate::single_flight::stale::of_many_one_refreshes_what_is_stale::<$meeting>();
        }

        #[test]
        fn clean_up_leaves_what_may_still_be_served() {
            crate::single_flight::stale::clean_up_leaves_what_may_still_be_served::<$meeting>();
        }
    };
}

mod memory {
    flight_laws!(super::meetings::InOneProcess);
    stale_laws!(super::meetings::InOneProcess);
}

mod sqlite {
    flight_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InSqlite>);
    stale_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InSqlite>);
}

mod tiered {
    flight_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InTiers>);
    stale_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InTiers>);
}

mod file {
    flight_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InFiles>);
}

mod directory {
    flight_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InDirectory>);
    stale_laws!(super::meetings::OnOneMachine<crate::store_contract::stores::InDirectory>);
}

mod redis {
    flight_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnRedis>);
    stale_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnRedis>);
}

mod valkey {
    flight_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnValkey>);
    stale_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnValkey>);
}

mod cluster {
    flight_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnCluster>);
    stale_laws!(super::meetings::OnTwoMachines<crate::store_contract::stores::OnCluster>);
}
