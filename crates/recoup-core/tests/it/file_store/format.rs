//! What a file looks like, and where it is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::base::clock::{ManualClock, Timestamp};
use recoup_core::entry::{Body, RecordedSources};
use recoup_core::store::{FileStore, Store as _};
use serde_json::Value;

use super::{Scene, mortal, names};
use crate::support::{
    START, Touch as _, body_of, draft, evict_plan, id, id_in, later, record, rich_draft,
    rich_sources, scopes,
};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn the_two_fields_come_first_and_our_head_is_last() {
    let scene = Scene::new();
    let mut draft = draft("the \"value\"");
    (draft.ttl, draft.grace) = (Some(500), 9_000);
    draft.full = Some(Body::from("all of it"));
    scene.store.put(&id("key"), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    let text = scene.text("key");
    let beginning = "{\"value\":\"the \\\"value\\\"\",\"expires_at\":4100000001,\
                     \"expires_at_ms\":4100000000623,\"full\":\"all of it\",\
                     \"recoup\":{\"header\":{\"created\":4100000000123,";
    assert!(text.starts_with(beginning), "{text}");
    let end = "\"stored_at\":\"+0000004100000000123\",\"hits\":\"00000000000000000000\",\
               \"last_used\":\"+0000004100000000123\"}}";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn what_lives_for_ever_has_no_exact_time() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    assert!(scene.text("key").starts_with(r#"{"value":"value","expires_at":0,"recoup":{"#));
}

#[test]
fn the_header_is_kept_as_it_was_sealed() {
    let scene = Scene::new();
    let rich = rich_draft("x".repeat(5_000)).seal(rich_sources(), START).unwrap();
    scene.store.put(&id("key"), &rich).unwrap();
    let json: Value = serde_json::from_str(&scene.text("key")).unwrap();
    let header: Value = serde_json::from_slice(&rich.head.header.to_json()).unwrap();
    assert_eq!(json["recoup"]["header"], header);
    assert_eq!(json["value"], "x".repeat(5_000), "plain, though the header has it packed");
}

#[test]
fn nothing_is_made_before_the_first_write() {
    let dir = tempfile::tempdir().unwrap();
    let deep = dir.path().join("not").join("there");
    let store = FileStore::at(&deep, Arc::new(ManualClock::at(START)));
    assert!(store.get(&id("key")).unwrap().is_none());
    assert_eq!(store.remove(&[id("key")]).unwrap(), 0);
    store.evict(&evict_plan(START)).unwrap();
    assert!(store.tallies(Some(&scopes()[0])).unwrap().is_empty());
    assert_eq!(store.usage(&scopes()[0]).unwrap().entries, 0);
    assert_eq!(names(dir.path()), [""; 0]);
    store.put(&id("key"), &record("value")).unwrap();
    assert_eq!((mode(&deep), mode(&deep.join("key.json"))), (0o700, 0o600));
}

#[test]
fn a_scope_is_a_private_sub_directory() {
    let scene = Scene::new();
    for scope in scopes() {
        scene.store.put(&id_in(&scope, "key"), &record("value")).unwrap();
    }
    let root = scene.dir.path();
    for dir in [format!("project/{}", "5a".repeat(16)), "tenant/same".into(), "session/same".into()]
    {
        let dir = root.join(dir);
        assert_eq!((names(&dir), mode(&dir)), (vec!["key.json".to_owned()], 0o700));
    }
    assert_eq!(names(root), ["key.json", "project", "session", "tenant"]);
}

#[test]
fn what_is_ours_alone_is_in_one_private_directory() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &mortal("value", 1_000)).unwrap();
    scene.store.touch(&[(id("key"), later(1))]).unwrap();
    scene.store.evict(&evict_plan(START)).unwrap();
    assert_eq!(names(scene.dir.path()), [".recoup", "key.json"]);
    let own = scene.dir.path().join(".recoup");
    assert_eq!(mode(&own), 0o700);
    assert_eq!(names(&own), ["counts.json", "lock", "next-death"]);
}

#[test]
fn keys_that_look_like_our_own_names_are_keys() {
    let scene = Scene::new();
    let longest = "k".repeat(128);
    let mut keys = [
        ".recoup", "-", "tenant", "x", "x.json", "x.json.tmp", "x.json.tmp-recoup-AbC12345",
        &longest,
    ];
    keys.sort_unstable();
    for key in keys {
        scene.store.put(&id(key), &record(key.to_owned())).unwrap();
    }
    scene.store.evict(&evict_plan(START)).unwrap();
    let shown: Vec<String> = scene.scanned().into_iter().map(|(key, _)| key).collect();
    assert_eq!(shown, keys);
    for key in keys {
        assert_eq!(body_of(&scene.store, &id(key)), Some(key.as_bytes().to_vec()));
    }
}

#[test]
fn what_is_not_text_is_refused_and_leaves_what_was_there() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("before")).unwrap();
    let error = scene.store.put(&id("key"), &record(vec![b'a', 0xff])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("byte 1 is not UTF-8"), "{error}");
    let mut draft = draft("short");
    draft.full = Some(Body::from(vec![0xc0]));
    let error =
        scene.store.put(&id("key"), &draft.seal(RecordedSources::default(), START).unwrap());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"before".to_vec()));
    assert_eq!(names(scene.dir.path()), ["key.json"]);
}

#[test]
fn every_character_comes_back() {
    let scene = Scene::new();
    let text: String = (0..=0x2_0000).filter_map(char::from_u32).collect();
    scene.store.put(&id("key"), &record(text.clone())).unwrap();
    assert!(body_of(&scene.store, &id("key")) == Some(text.into_bytes()));
}

/// Longer than the end that is read at first, and than the second one.
#[test]
fn heads_of_every_length_are_found_at_the_end() {
    let scene = Scene::new();
    for tags in [0, 300, 3_000, 30_000] {
        let mut draft = draft("v".repeat(20_000));
        draft.tags = (0..tags).map(|n| format!("tag \"{n}\" ,\"recoup\":{{\"header\":")).collect();
        let stored = draft.seal(RecordedSources::default(), START).unwrap();
        scene.store.put(&id("key"), &stored).unwrap();
        scene.store.touch(&[(id("key"), later(3))]).unwrap();
        assert_eq!(scene.scanned(), [("key".to_owned(), None)]);
        let head = scene.store.get(&id("key")).unwrap().unwrap().head.clone();
        assert_eq!((&head.header, head.hits), (&stored.head.header, 1), "{tags} tags");
        let usage = scene.store.usage(&scopes()[0]).unwrap();
        assert!(usage.bytes > 20_000 + tags * 30, "{tags} tags: {usage:?}");
    }
}

#[test]
fn a_value_that_looks_like_a_head_is_a_value() {
    let scene = Scene::new();
    scene.store.put(&id("inner"), &record("inside")).unwrap();
    let inner = scene.text("inner");
    scene.store.put(&id("outer"), &record(inner.clone())).unwrap();
    assert_eq!(body_of(&scene.store, &id("outer")), Some(inner.into_bytes()));
    let shown = scene.scanned();
    assert_eq!(shown, [("inner".to_owned(), None), ("outer".to_owned(), None)]);
}

#[test]
fn counting_hits_changes_neither_the_length_nor_the_rest_of_a_file() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    let before = scene.text("key");
    let inode = fs::metadata(scene.path("key")).unwrap().ino();
    for n in 0..12 {
        scene.store.touch(&[(id("key"), later(n))]).unwrap();
    }
    let after = scene.text("key");
    assert_eq!(after.len(), before.len());
    let counters = after.find(r#""hits""#).unwrap();
    assert_eq!(after[..counters], before[..counters]);
    assert!(after.contains(r#""hits":"00000000000000000012","last_used":"+0000004100000000134""#));
    assert_eq!(fs::metadata(scene.path("key")).unwrap().ino(), inode, "in place");
}

#[test]
fn times_before_1970_and_the_largest_counts_come_back() {
    let scene = Scene::new();
    let mut odd = record("value");
    odd.head.hits = u64::MAX;
    odd.head.stored_at = Timestamp::from_millis(i64::MIN);
    odd.head.last_used = Timestamp::from_millis(-1);
    scene.store.put(&id("key"), &odd).unwrap();
    assert_eq!(scene.store.get(&id("key")).unwrap().unwrap().head, odd.head);
    scene.store.touch(&[(id("key"), START)]).unwrap();
    let head = scene.store.get(&id("key")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used), (u64::MAX, START));
}

#[test]
fn it_says_what_it_is() {
    let store = FileStore::at("/some/where", Arc::new(ManualClock::at(START)));
    let info = store.info();
    assert_eq!((info.url.as_str(), info.durable), ("file:/some/where", true));
}
