//! Entries of other tools: served when all that is known of them holds, and
//! otherwise left as they are.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use recoup_core::base::clock::Timestamp;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::cache::{MissReason, PeekOutcome};
use recoup_core::entry::{BodyDamage, EntryEventKind};
use recoup_core::key::{Kind, Scope};
use recoup_core::store::{EvictionPlan, Store as _};
use serde_json::{Value, json};

use super::{Scene, damaged, full_name, theirs, with_full};
use crate::support::{evict_plan, id, later};

fn hits(scene: &Scene, key: &str) -> bool {
    matches!(scene.peek(key, scene.dir.path()), PeekOutcome::Hit(_))
}

#[test]
fn they_are_served_shown_and_counted() {
    let scene = Scene::new();
    scene.other_tool_sets("x", "{\"a\":1}", theirs("{\"a\":1}"));
    let index = scene.text("index.json");
    assert!(hits(&scene, "x"));
    assert_eq!(scene.body("x"), Some("{\"a\":1}".to_owned()));
    assert_eq!(scene.shown(), ["x"]);
    let usage = scene.store.usage(&Scope::global()).unwrap();
    assert_eq!((usage.entries, usage.bytes), (1, 7));
    let head = scene.store.get(&id("x")).unwrap().unwrap().head.clone();
    assert_eq!(head.header.kind, Kind::Result);
    assert_eq!(head.header.ttl, Some(30 * 24 * 60 * 60 * 1_000));
    assert!(scene.store.full_payload(&id("x")).unwrap().is_none());
    assert_eq!(scene.text("index.json"), index);
    assert!(!scene.path(".recoup").exists(), "reads write nothing");
}

#[test]
fn a_newline_at_the_end_may_be_hashed_or_not() {
    for (stored, hashed, body) in [
        ("{}", "{}", "{}"),
        ("{}\n", "{}\n", "{}\n"),
        ("{}\n", "{}", "{}"),
        ("{}", "{}\n", "{}"),
        ("\n", "", ""),
    ] {
        let scene = Scene::new();
        scene.other_tool_sets("x", stored, theirs(hashed));
        assert_eq!(scene.body("x").as_deref(), Some(body), "{stored:?}");
        assert!(hits(&scene, "x"));
        let record = scene.store.get(&id("x")).unwrap().unwrap();
        scene.store.put(&id("copy"), &record).unwrap();
        assert_eq!(scene.body("copy").as_deref(), Some(body), "{stored:?}");
    }
}

#[test]
fn a_changed_body_is_corrupt() {
    let scene = Scene::new();
    scene.other_tool_sets("x", "changed", theirs("before"));
    let reason = scene.miss("x", scene.dir.path());
    assert!(matches!(reason, MissReason::Corrupt(BodyDamage::Mismatch)), "{reason:?}");
    assert!(damaged(&scene.store, &id("x")));
}

#[test]
fn what_is_said_in_another_way_is_not_served_and_kept() {
    let wrong = [
        json!(7),
        json!({}),
        json!({"integrity_hash": "short"}),
        json!({"created_at": "2026-01-22T00:00:00Z"}),
        json!({"cached_mtime": null}),
        json!({"source_paths": "src/a.ts"}),
    ];
    for change in wrong {
        let scene = Scene::new();
        let mut entry = theirs("body");
        match &change {
            Value::Object(fields) if !fields.is_empty() => {
                entry.as_object_mut().unwrap().extend(fields.clone());
            }
            other => entry = other.clone(),
        }
        scene.other_tool_sets("x", "body", entry.clone());
        assert_eq!(scene.body("x"), None, "{change}");
        assert_eq!(scene.shown(), [""; 0]);
        scene.put("ours", "ours");
        assert_eq!(scene.index()["entries"]["x"], entry);
        assert_eq!(scene.text("results/x.json"), "body");
    }
}

/// Theirs are as old as the second in which they were set.
#[test]
fn a_source_that_changed_in_the_same_second_is_stale() {
    let scene = Scene::new();
    let root = scene.dir.path();
    fs::create_dir(root.join("src")).unwrap();
    fs::write(root.join("src/a.ts"), "contents").unwrap();
    let changed = fs::metadata(root.join("src/a.ts")).unwrap().ctime();
    let set = |at: i64, path: &str| {
        let mut entry = theirs("body");
        entry["cached_mtime"] = json!(at);
        entry["source_paths"] = json!([path]);
        scene.other_tool_sets("x", "body", entry);
    };
    set(changed + 1, "src/a.ts");
    assert!(hits(&scene, "x"));
    set(changed, "src/a.ts");
    assert!(
        matches!(scene.miss("x", root), MissReason::SourceModified(path) if path == "src/a.ts")
    );
    set(changed + 1, "src/gone.ts");
    assert!(
        matches!(scene.miss("x", root), MissReason::SourceMissing(path) if path == "src/gone.ts")
    );
}

#[test]
fn they_expire_after_thirty_days() {
    let scene = Scene::new();
    let mut entry = theirs("body");
    entry["created_at"] = json!(entry["created_at"].as_i64().unwrap() - 30 * 24 * 60 * 60);
    scene.other_tool_sets("x", "body", entry);
    assert!(matches!(scene.miss("x", scene.dir.path()), MissReason::Expired { .. }));
}

/// Unknown fields at every level, in their order and with their spaces.
#[test]
fn everything_that_is_not_ours_is_kept_byte_for_byte() {
    let scene = Scene::new();
    let entry = format!(
        r#"{{ "created_at": 1, "note":  [1.50, "\u00e9"], "integrity_hash" : "{}",
             "cached_mtime": 1, "source_paths": [], "big": 123456789012345678901234567890 }}"#,
        Sha256Digest::of(b"body")
    );
    let stats = r#"{ "hits": 4, "misses": 2, "saved":  1.0, "invalidations": 0 }"#;
    let text = format!(
        r#"{{"zeta": {{ "a" :1}}, "entries": {{"x": {entry}}}, "created_at": "then", "stats": {stats}}}"#
    );
    scene.write("index.json", &text);
    scene.write("results/x.json", "body");
    for round in 0..3 {
        scene.put("ours", &round.to_string());
        let now = scene.text("index.json");
        for part in [r#""zeta": { "a" :1}"#, &entry, r#""created_at": "then""#] {
            assert!(now.contains(part), "{part} in {now}");
        }
        let names: Vec<usize> = ["zeta", "\"entries", "then", "stats", "saved"]
            .map(|name| now.find(name).unwrap())
            .to_vec();
        assert!(names.is_sorted(), "{now}");
    }
    scene.fold("1", &[("ours", EntryEventKind::Hit, 1), ("x", EntryEventKind::Hit, 2)]);
    let now = scene.text("index.json");
    assert!(now.contains(r#""note":[1.50, "\u00e9"]"#), "{now}");
    assert!(now.contains("123456789012345678901234567890"), "{now}");
    assert!(now.contains("\"saved\":1.0"), "{now}");
    let stats = &scene.index()["stats"];
    assert_eq!((&stats["hits"], &stats["misses"]), (&json!(7), &json!(2)));
    assert_eq!(scene.index()["entries"]["x"]["hit_count"], 2);
}

#[test]
fn they_are_never_evicted() {
    let scene = Scene::with(&["ours"]);
    scene.other_tool_sets("x", "body", theirs("body"));
    let plan = EvictionPlan {
        max_entries: Some(0),
        max_bytes: Some(0),
        ..evict_plan(Timestamp::from_millis(i64::MAX))
    };
    assert_eq!(scene.store.evict(&plan).unwrap().least_used, 1);
    assert_eq!(scene.shown(), ["x"]);
    assert_eq!(scene.listed(), ["x"]);
}

#[test]
fn they_can_be_removed_without_the_full_results_that_we_did_not_make() {
    let scene = Scene::new();
    scene.store.put(&id("ours"), &with_full("shared")).unwrap();
    for (key, name) in [("x", full_name("shared")), ("y", "full/abc123.json".to_owned())] {
        let mut entry = theirs("body");
        entry["full_result_path"] = json!(format!(".claude/cache/{name}"));
        scene.other_tool_sets(key, "body", entry);
    }
    scene.write("full/abc123.json", "theirs");
    assert_eq!(scene.store.remove(&[id("x"), id("y")]).unwrap(), 2);
    assert_eq!(scene.text("full/abc123.json"), "theirs");
    assert!(scene.path(&full_name("shared")).exists(), "one has it still");
    scene.store.remove(&[id("ours")]).unwrap();
    assert!(!scene.path(&full_name("shared")).exists());
}

/// A path in the index is a claim: nothing outside `full/` is ours to remove.
#[test]
fn no_path_or_key_in_the_index_leads_out_of_the_directory() {
    let scene = Scene::with(&["a"]);
    fs::write(scene.dir.path().join("victim.json"), "mine").unwrap();
    let mut entry = theirs("body");
    entry["full_result_path"] = json!("full/../../victim.json");
    scene.other_tool_sets("x", "body", entry.clone());
    scene.store.remove(&[id("x")]).unwrap();
    entry["full_result_path"] = json!(scene.dir.path().join("victim.json"));
    scene.other_tool_sets("x", "body", entry);
    scene.store.remove(&[id("x")]).unwrap();
    let mut index = scene.index();
    index["entries"]["../../victim"] = theirs("mine");
    scene.write("index.json", &index.to_string());
    scene.put("b", "b");
    assert_eq!(scene.shown(), ["a", "b"]);
    assert_eq!(fs::read_to_string(scene.dir.path().join("victim.json")).unwrap(), "mine");
}

#[test]
fn ours_can_take_their_place_and_theirs_ours() {
    let scene = Scene::new();
    scene.other_tool_sets("x", "theirs", theirs("theirs"));
    scene.put("x", "ours");
    assert_eq!(scene.body("x"), Some("ours".to_owned()));
    scene.other_tool_sets("x", "theirs again", theirs("theirs again"));
    assert_eq!(scene.body("x"), Some("theirs again".to_owned()));
    scene.put("y", "y");
    assert_eq!(scene.body("x"), Some("theirs again".to_owned()));
    assert!(!scene.path(".recoup/heads/x.json").exists(), "it is theirs now");
    scene.put("x", "ours again");
    assert_eq!(scene.body("x"), Some("ours again".to_owned()));
    assert_eq!(scene.store.remove(&[id("x")]).unwrap(), 1);
    assert_eq!(scene.listed(), ["y"]);
}

/// They may be in the middle of a write when they look damaged.
#[test]
fn what_looked_damaged_goes_only_if_it_still_does() {
    let scene = Scene::new();
    scene.other_tool_sets("sound", "body", theirs("body"));
    scene.other_tool_sets("bad", "changed", theirs("before"));
    scene.fold("1", &[("sound", EntryEventKind::Corrupt, 1), ("bad", EntryEventKind::Corrupt, 1)]);
    assert_eq!(scene.shown(), ["sound"]);
    assert_eq!(scene.listed(), ["sound"]);
}

#[test]
fn hits_on_theirs_are_counted_in_the_index() {
    let scene = Scene::new();
    scene.other_tool_sets("x", "body", theirs("body"));
    scene.fold("1", &[("x", EntryEventKind::Hit, 2)]);
    let entry = &scene.index()["entries"]["x"];
    assert_eq!(entry["hit_count"], 2);
    assert_eq!(entry["last_hit"], later(5_000).as_seconds());
    let head = scene.store.get(&id("x")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used.as_seconds()), (2, later(5_000).as_seconds()));
}
