//! The order of the checks, and stores that fail: one reason is given, the
//! first in contract 1's order, and work can always go on.

use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::cache::{
    CacheOptions, FillOutcome, LookupRequest, MissReason, Outcome, PeekOutcome, Ttl,
};
use recoup_core::entry::BodyDamage;
use recoup_core::key::{Kind, Scope};

use super::{Scene, second, text};
use crate::store_contract::stores::{Damageable as _, Durable as _, Factory as _, Harm, InSqlite};
use crate::support::{Switched, draft, id, id_in, record, scopes};

/// A cache over SQLite with one entry, which expires and depends on a file.
fn scene() -> (Scene, InSqlite) {
    let stored = InSqlite::fresh();
    let scene = Scene::with(stored.store(), CacheOptions::default());
    scene.write("src/a.rs", "before");
    scene.fill("key", "not worth compressing", second(), &["src/a.rs"]);
    (scene, stored)
}

#[test]
fn a_changed_source_is_reported_before_anything_else() {
    let (scene, stored) = scene();
    stored.harm(&id("key"), Harm::FlippedBody);
    scene.pass(1_000_000);
    scene.write("src/a.rs", "after, and longer");
    let reason = scene.miss("key");
    assert!(
        matches!(&reason, MissReason::SourceModified(path) if path == "src/a.rs"),
        "{reason:?}"
    );
    assert_eq!((reason.status(), reason.code()), ("invalidated", Some("source_modified")));
    std::fs::remove_file(scene.path("src/a.rs")).unwrap();
    let reason = scene.miss("key");
    assert!(matches!(&reason, MissReason::SourceMissing(path) if path == "src/a.rs"), "{reason:?}");
    assert_eq!((reason.status(), reason.code()), ("invalidated", Some("source_missing")));
}

#[test]
fn an_expired_entry_is_expired_also_when_it_is_damaged() {
    let (scene, stored) = scene();
    stored.harm(&id("key"), Harm::FlippedBody);
    let reason = scene.miss("key");
    assert_eq!((reason.status(), reason.code()), ("corrupt", Some("integrity_mismatch")));
    scene.pass(1_000);
    assert_eq!(scene.miss("key").status(), "expired");
}

#[test]
fn damage_is_a_miss_and_can_be_filled() {
    for (how, code) in [
        (Harm::FlippedBody, "integrity_mismatch"),
        (Harm::CutBody, "integrity_mismatch"),
        (Harm::BrokenHeader, "unreadable"),
    ] {
        let (scene, stored) = scene();
        stored.harm(&id("key"), how);
        let Outcome::Miss(permit, reason) = scene.lookup("key") else { panic!("{how:?}") };
        assert_eq!((reason.status(), reason.code()), ("corrupt", Some(code)), "{how:?}");
        let _ = permit.fill(draft("again"), Ttl::Forever).unwrap();
        let scene = Scene::with(stored.reopen(), CacheOptions::default());
        let Outcome::Hit(entry) = scene.lookup("key") else { panic!("{how:?}") };
        assert_eq!(text(&entry), "again");
    }
}

#[test]
fn a_body_that_was_stored_compressed_and_is_cut_is_unreadable() {
    let stored = InSqlite::fresh();
    let scene = Scene::with(stored.store(), CacheOptions::default());
    scene.fill("key", &"a".repeat(9_000), Ttl::Forever, &[]);
    stored.harm(&id("key"), Harm::CutBody);
    let reason = scene.miss("key");
    assert!(matches!(reason, MissReason::Corrupt(BodyDamage::Unreadable)), "{reason:?}");
    assert_eq!(reason.code(), Some("unreadable"));
}

#[test]
fn a_store_that_fails_is_a_miss_with_a_permit() {
    let store = Switched::new("only");
    let scene = Scene::with(store.clone(), CacheOptions::default());
    scene.fill("a", "body", Ttl::Forever, &[]);
    store.switch_off(true);
    let Outcome::Miss(permit, reason) = scene.lookup("a") else { panic!("no miss") };
    assert_eq!((reason.status(), reason.code()), ("miss", Some("store_unavailable")));
    let MissReason::Unavailable(error) = reason else { panic!("{reason:?}") };
    assert!(error.to_string().contains("switched off"), "{error}");
    assert_eq!(permit.fill(draft("b"), Ttl::Forever).unwrap_err().kind(), ErrorKind::Io);
    assert!(scene.cache.remove(&id("a")).is_err(), "a removal that was not done says so");
    store.switch_off(false);
    assert!(scene.hits("a"), "nothing is lost");
}

#[test]
fn a_peek_takes_no_permit_and_looks_at_no_source_of_the_request() {
    let scene = Scene::new();
    let (id, view) = (id("a"), scene.view());
    let sources = ["missing".to_owned()];
    let request =
        LookupRequest { sources: &sources, ..LookupRequest::new(Kind::Result, &id, &view) };
    assert!(matches!(scene.cache.peek(&request), PeekOutcome::Miss(MissReason::Absent)));
    assert_eq!(scene.cache.lookup(&request).unwrap_err().kind(), ErrorKind::Usage);
    assert!(scene.cache.peek(&request).entry().is_none());
}

#[test]
fn a_dropped_permit_leaves_the_entry_missing() {
    let scene = Scene::new();
    for _ in 0..3 {
        let Outcome::Miss(permit, MissReason::Absent) = scene.lookup("a") else {
            panic!("no miss")
        };
        drop(permit);
    }
    let filled = scene.permit(&id("a"), &[]).fill(draft("a"), Ttl::Forever).unwrap();
    assert!(matches!(filled, FillOutcome::Stored(_)));
}

#[test]
fn removing_and_clearing_stay_within_their_scope() {
    let scene = Scene::new();
    for scope in scopes() {
        for key in ["a", "b"] {
            scene.store.put(&id_in(&scope, key), &record("x")).unwrap();
        }
    }
    assert!(scene.cache.remove(&id("a")).unwrap());
    assert!(!scene.cache.remove(&id("a")).unwrap());
    assert_eq!(scene.cache.clear(&scopes()[1]).unwrap(), 2);
    assert_eq!(scene.cache.clear(&scopes()[1]).unwrap(), 0);
    let left = crate::support::scanned(&*scene.store, &recoup_core::store::ScanFilter::default());
    assert_eq!(left.len(), 1 + 2 + 2);
    assert!(left.contains(&id_in(&Scope::global(), "b")));
}

#[test]
fn clearing_removes_what_can_not_be_read_too() {
    let stored = InSqlite::fresh();
    let scene = Scene::with(stored.store(), CacheOptions::default());
    for key in ["a", "b"] {
        scene.fill(key, "body", Ttl::Forever, &[]);
    }
    stored.harm(&id("a"), Harm::BrokenHeader);
    assert_eq!(scene.cache.clear(&Scope::global()).unwrap(), 2);
    assert!(Arc::clone(&scene.store).get(&id("a")).unwrap().is_none());
}
