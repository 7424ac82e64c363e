//! Claims on a server: renewed while their owner lives, gone soon after it, and
//! never freed by another.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{Cache, CacheOptions, MissReason, Outcome, Ttl};
use recoup_core::key::EntryId;
use recoup_core::store::redis::{RedisClaims, RedisTarget};
use recoup_core::store::{ClaimRegistry, StoreUrl};
use redis::{Commands as _, Connection};

use super::meetings::{around, assemble, claims_at};
use super::{PATIENCE, lookup, until};
use crate::redis_server::{self, Server, fresh_prefix, target};
use crate::support::{Faults, START, draft, id};

/// So long that only a release can be why something is free.
const LONG: Duration = Duration::from_mins(10);

/// A port that no server is on.
const NOBODY: u16 = 1;

fn claims(prefix: &str, lease: Duration) -> RedisClaims {
    RedisClaims::with_lease(redis_server::shared().target(prefix), lease)
}

fn name(prefix: &str, id: &EntryId) -> String {
    format!("{prefix}:claim:{{{id}}}")
}

fn is_free(claims: &RedisClaims) -> bool {
    claims.try_claim(&id("a")).unwrap().is_some_and(|claim| {
        claim.release();
        true
    })
}

#[test]
fn a_claim_is_one_machines_until_it_is_let_go() {
    let prefix = fresh_prefix();
    let (one, other) = (claims(&prefix, LONG), claims(&prefix, LONG));
    let claim = one.try_claim(&id("a")).unwrap().expect("it is free");
    assert!(other.try_claim(&id("a")).unwrap().is_none());
    assert!(other.try_claim(&id("b")).unwrap().is_some());
    claim.release();
    let claim = other.try_claim(&id("a")).unwrap().expect("free at once");
    drop(claim);
    until("free soon", || is_free(&one));
}

#[test]
fn what_is_dropped_with_its_claims_is_freed_all_the_same() {
    let prefix = fresh_prefix();
    let one = claims(&prefix, LONG);
    let claim = one.try_claim(&id("a")).unwrap();
    drop(one);
    let other = claims(&prefix, LONG);
    assert!(!is_free(&other));
    drop(claim);
    until("free soon", || is_free(&other));
}

#[test]
fn renewal_keeps_a_claim_for_many_leases() {
    let (prefix, lease) = (fresh_prefix(), Duration::from_millis(1_500));
    let (one, other) = (claims(&prefix, lease), claims(&prefix, lease));
    let claim = one.try_claim(&id("a")).unwrap().unwrap();
    let end = Instant::now() + lease * 5 / 2;
    while Instant::now() < end {
        assert!(!is_free(&other));
        thread::sleep(Duration::from_millis(20));
    }
    drop(claim);
}

#[test]
fn a_claim_that_is_another_s_by_now_is_neither_freed_nor_renewed() {
    let prefix = fresh_prefix();
    let (one, mut server) = (claims(&prefix, LONG), redis_server::shared().connect());
    let name = name(&prefix, &id("a"));
    let robbed = one.try_claim(&id("a")).unwrap().unwrap();
    let () = server.set_options(&name, "another", lasting(LONG)).unwrap();
    robbed.release();
    assert_eq!(token(&mut server, &name).as_deref(), Some("another"));

    let () = server.del(&name).unwrap();
    let robbed = one.try_claim(&id("a")).unwrap().unwrap();
    let () = server.set_options(&name, "another", lasting(LONG)).unwrap();
    drop(robbed);
    // The thread does one thing after another: when this is free, that is done.
    drop(one.try_claim(&id("b")).unwrap());
    until("all is done", || token(&mut redis_server::shared().connect(), &b(&prefix)).is_none());
    assert_eq!(token(&mut server, &name).as_deref(), Some("another"));
}

#[test]
fn a_renewal_does_not_prolong_anothers_claim() {
    let (prefix, lease) = (fresh_prefix(), Duration::from_millis(300));
    let (one, mut server) = (claims(&prefix, lease), redis_server::shared().connect());
    let name = name(&prefix, &id("a"));
    let _robbed = one.try_claim(&id("a")).unwrap().unwrap();
    let () = server.set_options(&name, "another", lasting(Duration::from_secs(2))).unwrap();
    until("it expires", || token(&mut redis_server::shared().connect(), &name).is_none());
}

fn b(prefix: &str) -> String {
    name(prefix, &id("b"))
}

fn lasting(time: Duration) -> redis::SetOptions {
    let millis = u64::try_from(time.as_millis()).unwrap();
    redis::SetOptions::default().with_expiration(redis::SetExpiry::PX(millis))
}

fn token(server: &mut Connection, name: &str) -> Option<String> {
    server.get(name).unwrap()
}

/// A server of its own, which can be ended.
fn cache_on(server: &Server, dir: &tempfile::TempDir, faults: &Arc<Faults>) -> Cache {
    let (clock, target) = (ManualClock::at(START), short(server.port));
    let url = StoreUrl::Redis(Box::new(target.clone()));
    let claims = claims_at(target, dir, faults);
    assemble(url.open(&around(faults, &clock)), claims, &clock, CacheOptions::default())
}

/// Long enough for an answer, short enough for none.
fn short(port: u16) -> RedisTarget {
    target(&format!("redis://127.0.0.1:{port}/?timeout=2s"))
}

#[test]
fn a_server_that_goes_away_during_the_work_stops_nobody() {
    let (server, dir, faults) = (Server::start(), tempfile::tempdir().unwrap(), Faults::new());
    let cache = cache_on(&server, &dir, &faults);
    let Outcome::Miss(permit, MissReason::Absent) = lookup(&cache, "key") else {
        panic!("no miss")
    };
    server.kill();
    let began = Instant::now();
    permit.fill(draft("a"), Ttl::days(1)).unwrap_err();
    let outcome = lookup(&cache, "key");
    assert!(matches!(outcome, Outcome::Miss(_, MissReason::Unavailable(_))), "{outcome:?}");
    assert!(began.elapsed() < PATIENCE);
}

#[test]
fn while_the_server_is_away_the_machine_decides_alone() {
    let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::new());
    let claims = claims_at(short(NOBODY), &dir, &faults);
    let claim = claims.try_claim(&id("a")).unwrap().expect("it is free here");
    assert_eq!(faults.count(), 1, "and it is told");
    assert!(claims.try_claim(&id("a")).unwrap().is_none());
    assert_eq!(faults.count(), 1, "the server was not asked");
    drop(claim);
    for _ in 0..5 {
        assert!(claims.try_claim(&id("a")).unwrap().is_some());
    }
    let last = faults.take().pop().unwrap().2;
    assert!(last.contains("skipped for another"), "{last}");
}

/// The directory can't be made: the server decides alone.
#[test]
fn without_a_directory_the_server_decides() {
    let (dir, faults) = (tempfile::tempdir().unwrap(), Faults::new());
    std::fs::write(dir.path().join("claims"), "").unwrap();
    let target = redis_server::shared().target(&fresh_prefix());
    let claims = claims_at(target, &dir, &faults);
    let claim = claims.try_claim(&id("a")).unwrap().expect("it is free");
    assert!(claims.try_claim(&id("a")).unwrap().is_none());
    claim.release();
    assert!(claims.try_claim(&id("a")).unwrap().is_some());
}
