//! A leader that does not come back: it panics, gives up, or stays too long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::cache::{
    Cache, CacheMode, CacheOptions, FillOutcome, LookupRequest, MissReason, Outcome, ResultOrigin,
    Ttl,
};
use recoup_core::key::Kind;
use recoup_core::store::ThreadClaims;

use super::meetings::{InOneProcess, Meeting, OnOneMachine, OnTwoMachines, assemble};
use super::{Counted, compute, lookup, made, nowhere, text};
use crate::store_contract::stores::{InSqlite, OnRedis};
use crate::support::{draft, id};

/// Two callers, and what they try.
fn two_callers(meeting: &InOneProcess, wait: Duration) -> (Cache, Arc<Counted>) {
    let claims = Counted::over(Arc::new(ThreadClaims::default()));
    let (store, _) = meeting.parts();
    let options = CacheOptions { wait, ..CacheOptions::default() };
    (assemble(store, claims.clone(), meeting.clock(), options), claims)
}

#[test]
fn a_leader_that_panics_hands_over() {
    let meeting = InOneProcess::fresh();
    let (cache, claims) = two_callers(&meeting, CacheOptions::default().wait);
    thread::scope(|scope| {
        scope.spawn(|| {
            let panicking = || {
                compute(&cache, "key", || {
                    claims.wait_for(3);
                    panic!("on purpose")
                })
            };
            catch_unwind(AssertUnwindSafe(panicking)).unwrap_err();
        });
        super::until("the first has it", || claims.tries() == 1);
        let second = compute(&cache, "key", || Ok(made("second"))).unwrap();
        assert!(
            matches!(second.how, ResultOrigin::Computed(Ok(FillOutcome::Stored(_)))),
            "{second:?}"
        );
        assert_eq!(text(&second.body), "second");
    });
}

#[test]
fn a_permit_that_is_dropped_or_released_hands_over() {
    let meeting = InOneProcess::fresh();
    let (cache, claims) = two_callers(&meeting, CacheOptions::default().wait);
    for release in [false, true] {
        let Outcome::Miss(permit, MissReason::Absent) = lookup(&cache, "key") else { panic!() };
        thread::scope(|scope| {
            let waiter = scope.spawn(|| lookup(&cache, "key"));
            claims.wait_for(3);
            if release {
                permit.release();
            } else {
                drop(permit);
            }
            let outcome = waiter.join().unwrap();
            assert!(matches!(outcome, Outcome::Miss(_, MissReason::Absent)), "{outcome:?}");
        });
    }
}

/// Whatever the answer was: refused, or not to be kept.
#[test]
fn a_result_that_is_not_kept_hands_over() {
    let meeting = InOneProcess::fresh();
    let (cache, claims) = two_callers(&meeting, CacheOptions::default().wait);
    let Outcome::Miss(permit, _) = lookup(&cache, "key") else { panic!() };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| compute(&cache, "key", || Ok(made("kept"))).unwrap());
        claims.wait_for(3);
        assert!(matches!(permit.fill(draft("not kept"), Ttl::Off).unwrap(), FillOutcome::Off));
        assert_eq!(text(&waiter.join().unwrap().body), "kept");
    });
}

fn works_alone_after_its_deadline<M: Meeting>() {
    let meeting = M::fresh();
    let Outcome::Miss(leader, _) = lookup(&meeting.cache(), "key") else { panic!("no miss") };
    let (store, claims) = meeting.parts();
    let options = CacheOptions { wait: Duration::from_millis(120), ..CacheOptions::default() };
    let waiting = assemble(store, claims, meeting.clock(), options);
    let began = Instant::now();
    let Outcome::Miss(permit, MissReason::Absent) = lookup(&waiting, "key") else {
        panic!("no miss")
    };
    assert!(began.elapsed() >= Duration::from_millis(120));
    for permit in [permit, leader] {
        assert!(matches!(permit.fill(draft("a"), Ttl::days(1)).unwrap(), FillOutcome::Stored(_)));
    }
}

#[test]
fn a_waiter_works_alone_after_its_deadline() {
    works_alone_after_its_deadline::<InOneProcess>();
    works_alone_after_its_deadline::<OnOneMachine<InSqlite>>();
    works_alone_after_its_deadline::<OnTwoMachines<OnRedis>>();
}

#[test]
fn the_longest_wait_there_is_can_be_asked_for() {
    let (cache, _) = two_callers(&InOneProcess::fresh(), Duration::MAX);
    assert!(matches!(lookup(&cache, "key"), Outcome::Miss(..)));
}

/// It has the entry made in any case, and waits for nobody.
#[test]
fn a_refresh_does_not_wait() {
    let meeting = InOneProcess::fresh();
    let (cache, claims) = two_callers(&meeting, CacheOptions::default().wait);
    let Outcome::Miss(leader, _) = lookup(&cache, "key") else { panic!("no miss") };
    let (id, view) = (id("key"), nowhere());
    let request =
        LookupRequest { mode: CacheMode::Refresh, ..LookupRequest::new(Kind::Result, &id, &view) };
    let Outcome::Miss(refresh, MissReason::Asked) = cache.lookup(&request).unwrap() else {
        panic!()
    };
    assert_eq!(claims.tries(), 2);
    drop((leader, refresh));
    let Outcome::Miss(refresh, _) = cache.lookup(&request).unwrap() else { panic!() };
    thread::scope(|scope| {
        let waiter = scope.spawn(|| lookup(&cache, "key"));
        claims.wait_for(3);
        let _ = refresh.fill(draft("new"), Ttl::days(1)).unwrap();
        assert!(matches!(waiter.join().unwrap(), Outcome::Hit(_)), "it had the claim");
    });
}
