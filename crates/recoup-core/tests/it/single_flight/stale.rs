//! Stale-while-revalidate: served for a given time after the TTL, while one
//! caller makes it anew.

use std::fs;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{
    Cache, CacheLimits, CacheOptions, FillOutcome, LookupRequest, MissReason, Outcome, PathContext,
    Ttl,
};
use recoup_core::entry::{Draft, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::{
    EvictionPlan, EvictionReport, InMemoryStore, RecordVisitor, ScanFilter, ScopeUsage,
    SimilarityProbe, Store, StoreInfo, ThreadClaims, TieredStore,
};
use recoup_core::{ErrorKind, Result};

use super::meetings::{InOneProcess, Meeting, assemble};
use super::{lookup, nowhere};
use crate::support::{Faults, START, draft, id};

/// Fresh for a second, and good for another.
fn fill_graceful(cache: &Cache, body: &str) -> Result<FillOutcome> {
    let graceful = Draft { grace: 1_000, ..draft(body.to_owned()) };
    cache.permit(&id("key"), &nowhere(), &[]).unwrap().fill(graceful, Ttl::seconds(1))
}

fn is_stale(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Stale(..))
}

/// Nobody fills before all have been served, so nobody can have waited.
pub(super) fn of_many_one_refreshes_what_is_stale<M: Meeting>() {
    let meeting = M::fresh();
    let caches: Vec<Cache> = (0..3).map(|_| meeting.cache()).collect();
    assert!(matches!(fill_graceful(&caches[0], "old").unwrap(), FillOutcome::Stored(_)));
    meeting.clock().advance(Duration::from_millis(1_500));
    let (start, served) = (Barrier::new(50), Barrier::new(50));
    let permits = thread::scope(|scope| {
        let callers: Vec<_> = (0..50)
            .map(|n| {
                let (cache, start, served) = (&caches[n % caches.len()], &start, &served);
                scope.spawn(move || {
                    start.wait();
                    let outcome = lookup(cache, "key");
                    served.wait();
                    let Outcome::Stale(_, permit) = outcome else { panic!("{outcome:?}") };
                    permit.map(|permit| permit.fill(draft("new"), Ttl::days(1)).unwrap())
                })
            })
            .collect();
        callers.into_iter().filter_map(|caller| caller.join().unwrap()).count()
    });
    assert_eq!(permits, 1);
    assert!(caches.iter().all(|cache| matches!(lookup(cache, "key"), Outcome::Hit(_))));
}

pub(super) fn clean_up_leaves_what_may_still_be_served<M: Meeting>() {
    let meeting = M::fresh();
    assert!(meeting.parts().0.info().keeps_stale);
    let cache = meeting.cache();
    let clean_up = || cache.clean_up(&Scope::global(), CacheLimits::default()).unwrap().expired;
    let _ = fill_graceful(&cache, "old").unwrap();
    meeting.clock().advance(Duration::from_millis(1_999));
    assert_eq!(clean_up(), 0);
    assert!(is_stale(&lookup(&cache, "key")), "to its last moment");
    meeting.clock().advance(Duration::from_millis(1));
    assert_eq!(clean_up(), 1);
    assert!(matches!(lookup(&cache, "key"), Outcome::Miss(_, MissReason::Absent)));
}

#[test]
fn the_permit_of_a_refresh_goes_to_the_next_when_it_is_dropped() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let _ = fill_graceful(&cache, "old").unwrap();
    meeting.clock().advance(Duration::from_secs(1));
    let first = lookup(&cache, "key");
    assert!(matches!(&first, Outcome::Stale(_, Some(_))), "{first:?}");
    assert!(matches!(lookup(&cache, "key"), Outcome::Stale(_, None)));
    drop(first);
    assert!(matches!(lookup(&cache, "key"), Outcome::Stale(_, Some(_))));
}

#[test]
fn the_readers_limit_ends_what_is_stale() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let _ = fill_graceful(&cache, "old").unwrap();
    meeting.clock().advance(Duration::from_millis(1_500));
    let (id, view) = (id("key"), nowhere());
    let request =
        LookupRequest { max_age: Some(1_499), ..LookupRequest::new(Kind::Result, &id, &view) };
    let outcome = cache.lookup(&request).unwrap();
    let Outcome::Miss(_permit, MissReason::Expired { age: 1_500, limit: 1_499 }) = outcome else {
        panic!("{outcome:?}")
    };
}

#[test]
fn what_is_stale_and_not_true_any_more_is_a_miss() {
    let (dir, meeting) = (tempfile::tempdir().unwrap(), InOneProcess::fresh());
    let view = PathContext { root: dir.path().to_owned(), cwd: dir.path().to_owned() };
    fs::write(dir.path().join("source"), "one").unwrap();
    let cache = meeting.cache();
    let permit = cache.permit(&id("key"), &view, &["source".to_owned()]).unwrap();
    let graceful = Draft { grace: 1_000, ..draft("old") };
    assert!(matches!(permit.fill(graceful, Ttl::seconds(1)).unwrap(), FillOutcome::Stored(_)));
    meeting.clock().advance(Duration::from_millis(1_500));
    let (id, request_view) = (id("key"), view);
    let request = LookupRequest::new(Kind::Result, &id, &request_view);
    assert!(is_stale(&cache.lookup(&request).unwrap()));
    fs::write(dir.path().join("source"), "another").unwrap();
    let outcome = cache.lookup(&request).unwrap();
    assert!(matches!(outcome, Outcome::Miss(_, MissReason::SourceModified(_))), "{outcome:?}");
}

#[test]
fn what_is_fresh_for_ever_has_no_grace() {
    let cache = InOneProcess::fresh().cache();
    let graceful = Draft { grace: u64::MAX, ..draft("body") };
    let permit = cache.permit(&id("key"), &nowhere(), &[]).unwrap();
    assert!(matches!(permit.fill(graceful, Ttl::Forever).unwrap(), FillOutcome::Stored(_)));
    let header = cache.head(&id("key")).unwrap().unwrap().header;
    assert_eq!((header.ttl, header.grace, header.deletable_at()), (None, 0, None));
}

#[test]
fn the_longest_grace_does_not_overflow() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let graceful = Draft { grace: u64::MAX, ..draft("body") };
    let permit = cache.permit(&id("key"), &nowhere(), &[]).unwrap();
    assert!(matches!(permit.fill(graceful, Ttl::seconds(1)).unwrap(), FillOutcome::Stored(_)));
    meeting.clock().advance(Duration::from_hours(24 * 365 * 100));
    assert!(is_stale(&lookup(&cache, "key")));
}

/// A front that is young enough does not hide what another machine made.
#[test]
fn a_stale_front_does_not_hide_a_fresh_back() {
    let clock = ManualClock::at(START);
    let back: Arc<dyn Store> = Arc::new(InMemoryStore::with_capacity(1 << 20));
    let machine = || {
        let front = Arc::new(InMemoryStore::with_capacity(1 << 20));
        let timing = Arc::new(clock.clone());
        let store = TieredStore::new(front, Arc::clone(&back), 60_000, timing, Faults::new());
        assemble(
            Arc::new(store),
            Arc::new(ThreadClaims::default()),
            &clock,
            CacheOptions::default(),
        )
    };
    let (one, two) = (machine(), machine());
    let _ = fill_graceful(&one, "old").unwrap();
    assert!(matches!(lookup(&two, "key"), Outcome::Hit(_)), "now it is in both fronts");
    clock.advance(Duration::from_millis(1_500));
    let Outcome::Stale(_, Some(permit)) = lookup(&one, "key") else { panic!("not stale") };
    let _ = permit.fill(draft("new"), Ttl::days(1)).unwrap();
    assert!(matches!(lookup(&two, "key"), Outcome::Hit(_)));
}

/// As `file:` is: what has expired is gone.
#[derive(Debug)]
struct Fleeting(InMemoryStore);

impl Store for Fleeting {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        self.0.get(id)
    }
    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.0.put(id, record)
    }
    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.0.remove(ids)
    }
    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        self.0.full_payload(id)
    }
    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.0.fold_batch(batch)
    }
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.0.tallies(scope)
    }
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.0.clear(scope, gone)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.0.scan(filter, visit)
    }
    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.0.evict(plan)
    }
    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.0.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.0.usage(scope)
    }
    fn info(&self) -> StoreInfo {
        StoreInfo { url: "fleeting:/x".to_owned(), durable: true, keeps_stale: false }
    }
}

#[test]
fn a_store_that_keeps_nothing_stale_says_so() {
    let cache = Cache::new(
        Arc::new(Fleeting(InMemoryStore::with_capacity(1 << 20))),
        CacheOptions::default(),
    );
    let error = fill_graceful(&cache, "old").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage);
    let words = error.to_string();
    assert!(words.contains("fleeting:/x") && words.contains("sqlite:"), "{words}");
    assert!(matches!(lookup(&cache, "key"), Outcome::Miss(_, MissReason::Absent)));
    let plain = cache.permit(&id("key"), &nowhere(), &[]).unwrap();
    assert!(matches!(plain.fill(draft("a"), Ttl::seconds(1)).unwrap(), FillOutcome::Stored(_)));
}
