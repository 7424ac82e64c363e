//! Time: TTL, grace, the reader's own limit, and clocks that go backwards.

use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{
    CacheOptions, FillOutcome, LookupRequest, MissReason, Outcome, PeekOutcome, Ttl,
};
use recoup_core::entry::{Body, Draft, INLINE_MAX};
use recoup_core::key::Kind;
use recoup_core::store::ScanFilter;

use super::{Scene, cache_of, second, text};
use crate::store_contract::stores::{Factory as _, InSqlite};
use crate::support::{START, draft, id, later, noise_text, scanned};

#[test]
fn an_entry_is_a_hit_until_its_ttl_is_over() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    let Outcome::Hit(entry) = scene.lookup("a") else { panic!("no hit") };
    assert_eq!(text(&entry), "body");
    scene.pass(999);
    assert!(scene.hits("a"));
    scene.pass(1);
    let reason = scene.miss("a");
    assert!(matches!(reason, MissReason::Expired { age: 1_000, limit: 1_000 }), "{reason:?}");
    assert_eq!((reason.status(), reason.code()), ("expired", None));
}

#[test]
fn a_miss_gives_the_permit_to_fill() {
    let scene = Scene::new();
    let Outcome::Miss(permit, MissReason::Absent) = scene.lookup("a") else { panic!("no miss") };
    assert_eq!(*permit.id(), id("a"));
    assert!(matches!(permit.fill(draft("one"), second()).unwrap(), FillOutcome::Stored(_)));
    scene.pass(1_000);
    let Outcome::Miss(permit, MissReason::Expired { .. }) = scene.lookup("a") else { panic!() };
    assert!(matches!(permit.fill(draft("two"), second()).unwrap(), FillOutcome::Stored(_)));
    let Outcome::Hit(entry) = scene.lookup("a") else { panic!("no hit") };
    assert_eq!(text(&entry), "two");
}

#[test]
fn within_its_grace_an_entry_is_stale_and_comes_with_a_permit() {
    let scene = Scene::new();
    let mut graceful = draft("old");
    graceful.grace = 500;
    let _ = scene.permit(&id("a"), &[]).fill(graceful, second()).unwrap();
    scene.pass(999);
    assert!(scene.hits("a"));
    scene.pass(1);
    let Outcome::Stale(entry, Some(permit)) = scene.lookup("a") else { panic!("not stale") };
    assert_eq!(text(&entry), "old");
    assert!(matches!(scene.peek("a"), PeekOutcome::Stale(_)));
    scene.pass(499);
    assert!(matches!(scene.peek("a"), PeekOutcome::Stale(_)), "at its last moment");
    scene.pass(1);
    assert!(matches!(scene.miss("a"), MissReason::Expired { age: 1_500, limit: 1_000 }));
    assert!(matches!(permit.fill(draft("new"), second()).unwrap(), FillOutcome::Stored(_)));
    assert!(scene.hits("a"));
}

#[test]
fn the_smaller_of_ttl_and_the_readers_limit_counts() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    let (id, view) = (id("a"), scene.view());
    let peek = |max_age| {
        scene.cache.peek(&LookupRequest {
            max_age: Some(max_age),
            ..LookupRequest::new(Kind::Result, &id, &view)
        })
    };
    assert!(matches!(peek(0), PeekOutcome::Hit(_)), "it is not older than that yet");
    scene.pass(300);
    assert!(matches!(peek(300), PeekOutcome::Hit(_)), "the oldest that is accepted");
    let PeekOutcome::Miss(reason) = peek(299) else { panic!("a hit") };
    assert!(matches!(reason, MissReason::Expired { age: 300, limit: 299 }), "{reason:?}");
    scene.pass(700);
    let PeekOutcome::Miss(reason) = peek(1 << 40) else { panic!("a hit") };
    assert!(matches!(reason, MissReason::Expired { age: 1_000, limit: 1_000 }), "{reason:?}");
}

#[test]
fn the_readers_limit_has_no_grace() {
    let scene = Scene::new();
    let mut graceful = draft("old");
    graceful.grace = 100_000;
    let _ = scene.permit(&id("a"), &[]).fill(graceful, second()).unwrap();
    scene.pass(1_200);
    let (id, view) = (id("a"), scene.view());
    let request =
        LookupRequest { max_age: Some(1_199), ..LookupRequest::new(Kind::Result, &id, &view) };
    assert!(matches!(scene.cache.peek(&request), PeekOutcome::Miss(MissReason::Expired { .. })));
    let request = LookupRequest { max_age: Some(1_200), ..request };
    assert!(matches!(scene.cache.peek(&request), PeekOutcome::Stale(_)));
}

#[test]
fn an_entry_from_the_future_is_new() {
    let scene = Scene::new();
    scene.pass(10_000);
    scene.fill("a", "body", second(), &[]);
    let behind = cache_of(&scene.store, CacheOptions::default(), &ManualClock::at(START));
    let (id, view) = (id("a"), scene.view());
    let request =
        LookupRequest { max_age: Some(0), ..LookupRequest::new(Kind::Result, &id, &view) };
    assert!(matches!(behind.peek(&request), PeekOutcome::Hit(_)));
}

#[test]
fn what_is_kept_for_ever_does_not_expire() {
    let scene = Scene::new();
    scene.fill("a", "body", Ttl::Forever, &[]);
    scene.fill("b", "body", Ttl::from_millis(i64::MAX.cast_unsigned()).unwrap(), &[]);
    scene.pass(100 * 365 * 86_400_000);
    assert!(scene.hits("a") && scene.hits("b"));
}

#[test]
fn the_age_counts_from_the_fill_and_not_from_the_permit() {
    let scene = Scene::new();
    let permit = scene.permit(&id("a"), &[]);
    scene.pass(5_000);
    let _ = permit.fill(draft("body"), second()).unwrap();
    scene.pass(999);
    assert!(scene.hits("a"));
    let head = scene.store.get(&id("a")).unwrap().unwrap().head.clone();
    assert_eq!((head.header.created, head.header.ttl), (later(5_000), Some(1_000)));
}

#[test]
fn a_ttl_of_nothing_stores_nothing_and_keeps_what_is_there() {
    let scene = Scene::new();
    let off = scene.permit(&id("a"), &[]).fill(draft("a"), Ttl::Off).unwrap();
    assert!(matches!(off, FillOutcome::Off), "{off:?}");
    assert_eq!(scanned(&*scene.store, &ScanFilter::default()), []);
    scene.fill("a", "kept", second(), &[]);
    let _ = scene.permit(&id("a"), &[]).fill(draft("a"), Ttl::Off).unwrap();
    assert!(scene.hits("a"));
}

#[test]
fn a_cache_that_is_switched_off_stands_aside() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    let options = CacheOptions { enabled: false, ..CacheOptions::default() };
    let off = Scene::with(scene.store.clone(), options);
    assert!(matches!(off.lookup("a"), Outcome::Bypass(MissReason::Disabled)));
    let reason = off.miss("a");
    assert_eq!((reason.status(), reason.code()), ("disabled", None));
    let filled = off.permit(&id("b"), &[]).fill(draft("b"), second()).unwrap();
    assert!(matches!(filled, FillOutcome::Off), "{filled:?}");
    assert_eq!(scanned(&*scene.store, &ScanFilter::default()), [id("a")]);
}

#[test]
fn what_claims_to_come_from_years_ahead_has_expired() {
    let scene = Scene::new();
    scene.pass(10 * 365 * 24 * 60 * 60 * 1_000);
    scene.fill("a", "body", second(), &[]);
    let cache = cache_of(&scene.store, CacheOptions::default(), &ManualClock::at(START));
    let peek = cache.peek(&LookupRequest::new(Kind::Result, &id("a"), &scene.view()));
    assert!(matches!(peek, PeekOutcome::Miss(MissReason::Expired { .. })), "{peek:?}");
}

#[test]
fn a_stale_large_body_is_verified_whole_before_it_is_read() {
    let stored = InSqlite::fresh();
    let scene = Scene::with(stored.store(), CacheOptions::default());
    let large = Draft { grace: 500, ..draft(noise_text(INLINE_MAX + 1, 1)) };
    let _ = scene.permit(&id("a"), &[]).fill(large, second()).unwrap();
    scene.pass(1_000);
    let found = scene.cache.read(&LookupRequest::new(Kind::Result, &id("a"), &scene.view()));
    assert!(matches!(&found, PeekOutcome::Stale(entry) if matches!(entry.body(), Body::Whole(_))));
}
