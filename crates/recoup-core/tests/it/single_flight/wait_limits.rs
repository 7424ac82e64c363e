//! How long a caller waits, and for whom.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::cache::{Cache, CacheOptions, LookupRequest, Outcome, WaitPolicy};
use recoup_core::key::Kind;
use recoup_core::store::{ClaimRegistry as _, ThreadClaims};

use super::meetings::{InOneProcess, Meeting as _, OnOneMachine, OnTwoMachines};
use super::{Counted, lookup, nowhere, until};
use crate::store_contract::stores::{InSqlite, OnRedis};
use crate::support::id;

fn waiting(cache: &Cache, wait_policy: WaitPolicy<'_>) -> Outcome {
    let (id, view) = (id("key"), nowhere());
    cache
        .lookup(&LookupRequest { wait_policy, ..LookupRequest::new(Kind::Result, &id, &view) })
        .unwrap()
}

/// Ten callers whose results nobody keeps: two take turns, then all others work at once.
fn takes_turns_only_for_a_while(caches: &[Cache]) {
    let [asked, working, most, done] = [const { AtomicUsize::new(0) }; 4];
    let wait_policy = WaitPolicy { leaders: Some(2), ..WaitPolicy::default() };
    thread::scope(|scope| {
        for caller in 0..10 {
            let cache = &caches[caller % caches.len()];
            let (asked, working, most, done) = (&asked, &working, &most, &done);
            scope.spawn(move || {
                asked.fetch_add(1, Ordering::SeqCst);
                let Outcome::Miss(permit, _) = waiting(cache, wait_policy) else { panic!() };
                most.fetch_max(working.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                // Until all the others are here, for whom there is nothing to wait for.
                let finished = done.load(Ordering::SeqCst);
                if finished >= 2 {
                    until("all work at once", || most.load(Ordering::SeqCst) == 8);
                } else {
                    until("all have asked", || asked.load(Ordering::SeqCst) == 10);
                    // Long enough to be seen by all who wait.
                    thread::sleep(Duration::from_millis(400));
                }
                working.fetch_sub(1, Ordering::SeqCst);
                done.fetch_add(1, Ordering::SeqCst);
                permit.release();
            });
        }
    });
}

#[test]
fn what_nobody_keeps_is_not_waited_for_one_after_the_other() {
    let meeting = InOneProcess::fresh();
    takes_turns_only_for_a_while(&[meeting.cache()]);
}

#[test]
fn nor_by_the_processes_of_a_machine() {
    let meeting = OnOneMachine::<InSqlite>::fresh();
    takes_turns_only_for_a_while(&[meeting.cache(), meeting.cache()]);
}

#[test]
fn nor_by_machines() {
    let meeting = OnTwoMachines::<OnRedis>::fresh();
    takes_turns_only_for_a_while(&[meeting.cache(), meeting.cache()]);
}

#[test]
fn a_caller_may_have_less_patience_than_is_usual() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let Outcome::Miss(leader, _) = lookup(&cache, "key") else { panic!("no miss") };
    let began = Instant::now();
    for wait in [Duration::ZERO, Duration::from_millis(50)] {
        let wait_policy = WaitPolicy { wait: Some(wait), ..WaitPolicy::default() };
        assert!(matches!(waiting(&cache, wait_policy), Outcome::Miss(..)));
    }
    assert!(began.elapsed() < CacheOptions::default().wait / 2);
    leader.release();
}

#[test]
fn a_long_wait_is_told_once_and_a_short_one_is_not() {
    let claims = Counted::over(Arc::new(ThreadClaims::default()));
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let told = AtomicUsize::new(0);
    let tell = || {
        told.fetch_add(1, Ordering::SeqCst);
    };
    let wait_policy = WaitPolicy { on_long_wait: Some(&tell), ..WaitPolicy::default() };
    for (long, times) in [(false, 0), (true, 1)] {
        let Outcome::Miss(leader, _) = lookup(&cache, "key") else { panic!("no miss") };
        thread::scope(|scope| {
            let waiter = scope.spawn(|| waiting(&cache, wait_policy));
            if long {
                until("it is told", || told.load(Ordering::SeqCst) > 0);
                thread::sleep(Duration::from_millis(100));
            }
            leader.release();
            let Outcome::Miss(permit, _) = waiter.join().unwrap() else { panic!("no miss") };
            permit.release();
        });
        assert_eq!(told.load(Ordering::SeqCst), times, "long: {long}");
    }
    assert!(claims.holder(&id("key")).is_none());
}
