//! Entries of other programs in the same format, and of our own `FileCache`:
//! read, listed, removed when asked, and never evicted.

use std::fs::{self, File};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use recoup_core::base::clock::{Clock as _, Timestamp};
use recoup_core::cache::{
    Cache, CacheOptions, CacheParts, LookupRequest, MissReason, PathContext, PeekOutcome,
};
use recoup_core::entry::{BodyEncoding, EntryEventKind};
use recoup_core::key::Kind;
use recoup_core::store::{EvictionPlan, Store as _, ThreadClaims};

use super::{Scene, mortal};
use crate::support::{START, Touch as _, body_of, evict_plan, id, later, record, scopes};

const HOUR: Duration = Duration::from_hours(1);

/// Makes a file look as if it had been written at that time.
fn set_modified(scene: &Scene, key: &str, at: Timestamp) {
    let since = Duration::from_millis(at.as_millis().cast_unsigned());
    let file = File::options().write(true).open(scene.path(key)).unwrap();
    file.set_modified(UNIX_EPOCH + since).unwrap();
}

#[test]
fn a_guest_is_an_agent_run_of_the_time_when_it_was_written() {
    let scene = Scene::new();
    scene.file_cache().set("key", "the answer", HOUR).unwrap();
    set_modified(&scene, "key", later(7));
    let found = scene.store.get(&id("key")).unwrap().unwrap();
    let header = &found.head.header;
    assert_eq!((header.kind, header.created), (Kind::AgentRun, later(7)));
    assert_eq!(header.fresh_until(), later(3_600_000));
    assert_eq!((header.body.encoding, header.body.raw_len), (BodyEncoding::Plain, 10));
    assert_eq!((found.head.stored_at, found.head.hits), (later(7), 0));
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"the answer".to_vec()));
    assert!(scene.store.full_payload(&id("key")).unwrap().is_none());
}

#[test]
fn a_guest_for_ever_has_no_ttl() {
    let scene = Scene::new();
    scene.write("key", r#"{ "expires_at": 0, "value": "spaced" }"#);
    assert_eq!(scene.store.get(&id("key")).unwrap().unwrap().head.header.ttl, None);
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"spaced".to_vec()));
}

#[test]
fn an_expired_guest_is_expired_however_late_its_file_was_touched() {
    let scene = Scene::new();
    scene.file_cache().set("key", "old", Duration::from_millis(500)).unwrap();
    set_modified(&scene, "key", later(10_000));
    scene.clock.advance(Duration::from_millis(500));
    let found = scene.store.get(&id("key")).unwrap().unwrap();
    assert_eq!(found.head.header.fresh_until(), later(500));
    assert!(!scene.path("key").exists(), "and is removed by that");
}

#[test]
fn the_cache_serves_guests_until_they_expire() {
    let scene = Scene::new();
    let cache = Cache::from_parts(CacheParts {
        claims: Arc::new(ThreadClaims::default()),
        store: Arc::new(scene.another()),
        options: CacheOptions::default(),
        clock: Arc::new(scene.clock.clone()),
        ledger: None,
    });
    let view = PathContext { root: "/".into(), cwd: "/".into() };
    let key = id("key");
    let request = LookupRequest::new(Kind::AgentRun, &key, &view);
    scene.file_cache().set("key", "the answer", Duration::from_millis(500)).unwrap();
    set_modified(&scene, "key", START);
    assert!(matches!(cache.peek(&request), PeekOutcome::Hit(_)));
    scene.clock.advance(Duration::from_millis(500));
    assert!(matches!(cache.peek(&request), PeekOutcome::Miss(MissReason::Expired { .. })));
    assert!(matches!(cache.peek(&request), PeekOutcome::Miss(MissReason::Absent)));
}

#[test]
fn a_file_cache_reads_what_the_store_wrote() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &mortal("ours", 500)).unwrap();
    assert_eq!(scene.file_cache().get("key").unwrap().as_deref(), Some("ours"));
    scene.clock.advance(Duration::from_millis(500));
    assert_eq!(scene.file_cache().get("key").unwrap(), None);
    assert!(scene.store.get(&id("key")).unwrap().is_none());
}

#[test]
fn guests_are_listed_counted_and_removed_when_asked() {
    let scene = Scene::new();
    scene.file_cache().set("guest", "theirs", HOUR).unwrap();
    scene.store.put(&id("own"), &record("ours")).unwrap();
    assert_eq!(scene.scanned(), [("guest".to_owned(), None), ("own".to_owned(), None)]);
    let size = fs::metadata(scene.path("guest")).unwrap().len();
    let usage = scene.store.usage(&scopes()[0]).unwrap();
    assert_eq!(usage.entries, 2);
    assert!(usage.bytes > size);
    assert_eq!(scene.store.remove(&[id("guest")]).unwrap(), 1);
    assert!(!scene.path("guest").exists());
}

#[test]
fn guests_are_never_evicted_and_count_for_no_limit() {
    let scene = Scene::new();
    for n in 0..5 {
        let key = format!("guest{n}");
        scene.file_cache().set(&key, &"g".repeat(1_000), Duration::from_millis(1)).unwrap();
    }
    let mut ours = record("ours");
    ours.head.header.kind = Kind::AgentRun;
    scene.store.put(&id("own"), &ours).unwrap();
    let plan = EvictionPlan {
        kind: Kind::AgentRun,
        max_entries: Some(1),
        max_bytes: Some(1_000),
        ..evict_plan(later(1_000_000))
    };
    let evicted = scene.store.evict(&plan).unwrap();
    assert_eq!((evicted.expired, evicted.least_used), (0, 0), "one of ours is within limits");
    let none = EvictionPlan { max_entries: Some(0), ..plan };
    assert_eq!(scene.store.evict(&none).unwrap().least_used, 1);
    assert_eq!(scene.scanned().len(), 5, "only ours went");
}

#[test]
fn guests_are_not_changed_by_what_happens_to_them() {
    let scene = Scene::new();
    scene.file_cache().set("guest", "theirs", HOUR).unwrap();
    set_modified(&scene, "guest", START);
    let before = scene.text("guest");
    scene.store.touch(&[(id("guest"), later(5))]).unwrap();
    scene.tell("1", &id("guest"), EntryEventKind::Corrupt, later(5));
    assert_eq!(scene.text("guest"), before);
    assert_eq!(
        scene.store.tallies(Some(&scopes()[0])).unwrap().len(),
        2,
        "it is counted all the same"
    );
}

#[test]
fn ours_and_theirs_replace_each_other() {
    let scene = Scene::new();
    scene.file_cache().set("key", "theirs", HOUR).unwrap();
    scene.store.put(&id("key"), &record("ours")).unwrap();
    assert_eq!(scene.file_cache().get("key").unwrap().as_deref(), Some("ours"));
    scene.file_cache().set("key", "theirs again", HOUR).unwrap();
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"theirs again".to_vec()));
    assert!(scene.clock.now() == START);
}
