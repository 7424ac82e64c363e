//! What waiting does to the rest: counts, sources, age; and that a hit waits for
//! nothing.

use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::Result;
use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{
    Cache, CacheOptions, CacheParts, FillOutcome, LookupRequest, MissReason, Outcome, PathContext,
    Ttl,
};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::ledger::Ledger;
use recoup_core::store::{
    Claim, ClaimRegistry, FileClaims, InMemoryStore, Store as _, ThreadClaims,
};

use super::meetings::assemble;
use super::{Counted, lookup, nowhere};
use crate::support::{START, Switched, draft, id, record};

fn memory() -> Arc<InMemoryStore> {
    Arc::new(InMemoryStore::with_capacity(1 << 20))
}

/// Nobody may ask.
#[derive(Debug)]
struct Untouchable;

impl ClaimRegistry for Untouchable {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        panic!("{id} was claimed")
    }
    fn holder(&self, id: &EntryId) -> Option<u64> {
        panic!("somebody asked who has {id}")
    }
    fn longest_pause(&self) -> Duration {
        panic!("nobody waits")
    }
    fn sweep(&self) -> Result<usize> {
        panic!("nobody sweeps")
    }
}

#[test]
fn a_hit_takes_no_claim() {
    let clock = ManualClock::at(START);
    let cache = assemble(memory(), Arc::new(Untouchable), &clock, CacheOptions::default());
    let permit = cache.permit(&id("key"), &nowhere(), &[]).unwrap();
    let _ = permit.fill(draft("a"), Ttl::days(1)).unwrap();
    assert!(matches!(lookup(&cache, "key"), Outcome::Hit(_)));
}

#[test]
fn a_hit_touches_no_claims_directory() {
    let (dir, clock) = (tempfile::tempdir().unwrap(), ManualClock::at(START));
    let claims = Arc::new(FileClaims::at(dir.path().join("claims")));
    let cache = assemble(memory(), claims, &clock, CacheOptions::default());
    let permit = cache.permit(&id("key"), &nowhere(), &[]).unwrap();
    let _ = permit.fill(draft("a"), Ttl::days(1)).unwrap();
    assert!(matches!(lookup(&cache, "key"), Outcome::Hit(_)));
    assert!(!dir.path().join("claims").exists());
}

/// Somebody fills the entry just before each claim is given out.
#[derive(Debug)]
struct Overtaken(Arc<InMemoryStore>, ThreadClaims);

impl ClaimRegistry for Overtaken {
    fn try_claim(&self, id: &EntryId) -> Result<Option<Claim>> {
        self.0.put(id, &record("overtaken"))?;
        self.1.try_claim(id)
    }
    fn holder(&self, id: &EntryId) -> Option<u64> {
        self.1.holder(id)
    }
    fn longest_pause(&self) -> Duration {
        self.1.longest_pause()
    }
    fn sweep(&self) -> Result<usize> {
        self.1.sweep()
    }
}

#[test]
fn what_was_filled_between_the_look_and_the_claim_is_served() {
    let (store, claims) = (memory(), ThreadClaims::default());
    let overtaken = Arc::new(Overtaken(store.clone(), claims.clone()));
    let cache = assemble(store, overtaken, &ManualClock::at(START), CacheOptions::default());
    assert!(matches!(lookup(&cache, "key"), Outcome::Hit(_)));
    assert!(claims.try_claim(&id("key")).unwrap().is_some(), "it is free again");
}

#[test]
fn a_waiter_that_is_served_counts_as_a_hit_and_not_also_as_a_miss() {
    let dir = tempfile::tempdir().unwrap();
    let claims = Counted::over(Arc::new(ThreadClaims::default()));
    let cache = Cache::from_parts(CacheParts {
        store: memory(),
        clock: Arc::new(ManualClock::at(START)),
        ledger: Some(Ledger::at(dir.path())),
        claims: claims.clone(),
        options: CacheOptions::default(),
    });
    let Outcome::Miss(permit, _) = lookup(&cache, "key") else { panic!("no miss") };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| lookup(&cache, "key"));
        claims.wait_for(5);
        let _ = permit.fill(draft("a"), Ttl::days(1)).unwrap();
        assert!(matches!(waiter.join().unwrap(), Outcome::Hit(_)));
    });
    let stats = cache.stats(&Scope::global()).unwrap();
    assert_eq!((stats.hits(), stats.misses()), (1, 1));
}

/// Who takes over works on the sources as they are then, not as they were when it
/// began to wait.
#[test]
fn the_sources_are_taken_after_the_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let view = PathContext { root: dir.path().to_owned(), cwd: dir.path().to_owned() };
    fs::write(dir.path().join("source"), "one").unwrap();
    let claims = Counted::over(Arc::new(ThreadClaims::default()));
    let clock = ManualClock::at(START);
    let cache = assemble(memory(), claims.clone(), &clock, CacheOptions::default());
    let (id, sources) = (id("key"), ["source".to_owned()]);
    let request =
        LookupRequest { sources: &sources, ..LookupRequest::new(Kind::Result, &id, &view) };
    let Outcome::Miss(leader, _) = cache.lookup(&request).unwrap() else { panic!("no miss") };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| cache.lookup(&request).unwrap());
        claims.wait_for(3);
        fs::write(dir.path().join("source"), "another").unwrap();
        let refused = leader.fill(draft("about one"), Ttl::days(1)).unwrap();
        assert!(matches!(refused, FillOutcome::Refused(_)), "{refused:?}");
        let Outcome::Miss(permit, _) = waiter.join().unwrap() else { panic!("no miss") };
        let filled = permit.fill(draft("about another"), Ttl::days(1)).unwrap();
        assert!(matches!(filled, FillOutcome::Stored(_)), "{filled:?}");
    });
}

/// It was made after the reader asked: nothing younger could have been had. Each
/// has a clock of its own, so that the reader sees it only when it is old.
#[test]
fn what_was_made_while_a_reader_waits_is_not_too_old_for_it() {
    let (store, claims) = (memory(), Counted::over(Arc::new(ThreadClaims::default())));
    let clocks = [ManualClock::at(START), ManualClock::at(START)];
    let [leading, reading] = clocks
        .each_ref()
        .map(|clock| assemble(store.clone(), claims.clone(), clock, CacheOptions::default()));
    let Outcome::Miss(leader, _) = lookup(&leading, "key") else { panic!("no miss") };
    let (id, view) = (id("key"), nowhere());
    let request =
        LookupRequest { max_age: Some(0), ..LookupRequest::new(Kind::Result, &id, &view) };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| reading.lookup(&request).unwrap());
        claims.wait_for(1);
        clocks[1].advance(Duration::from_secs(5));
        clocks[0].advance(Duration::from_secs(1));
        let _ = leader.fill(draft("a"), Ttl::days(1)).unwrap();
        assert!(matches!(waiter.join().unwrap(), Outcome::Hit(_)));
    });
    let outcome = reading.lookup(&request).unwrap();
    assert!(matches!(outcome, Outcome::Miss(_, MissReason::Expired { age: 5_000, limit: 0 })));
}

#[test]
fn a_reader_is_not_served_what_was_begun_too_long_before_it_asked() {
    let (store, claims) = (memory(), Counted::over(Arc::new(ThreadClaims::default())));
    let clock = ManualClock::at(START);
    let cache = assemble(store, claims.clone(), &clock, CacheOptions::default());
    let Outcome::Miss(leader, _) = lookup(&cache, "key") else { panic!("no miss") };
    clock.advance(Duration::from_secs(2));
    let (id, view) = (id("key"), nowhere());
    let request =
        LookupRequest { max_age: Some(1_000), ..LookupRequest::new(Kind::Result, &id, &view) };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| cache.lookup(&request).unwrap());
        claims.wait_for(1);
        let _ = leader.fill(draft("too old"), Ttl::days(1)).unwrap();
        let outcome = waiter.join().unwrap();
        assert!(
            matches!(outcome, Outcome::Miss(_, MissReason::Expired { age: 2_000, limit: 1_000 })),
            "{outcome:?}"
        );
    });
}

/// What another made could not be seen, so waiting for it would be for nothing.
#[test]
fn nobody_waits_for_a_store_that_does_not_answer() {
    let store = Switched::new("store");
    store.switch_off(true);
    let cache =
        assemble(store, Arc::new(Untouchable), &ManualClock::at(START), CacheOptions::default());
    let outcomes = [lookup(&cache, "key"), lookup(&cache, "key")];
    assert!(outcomes.iter().all(|it| matches!(it, Outcome::Miss(_, MissReason::Unavailable(_)))));
}
