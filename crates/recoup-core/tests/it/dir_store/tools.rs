//! Other tools between two steps of ours, or we between two of theirs: neither
//! loses anything, and what is known of an entry is what was last said of it.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use recoup_core::Error;
use recoup_core::cache::{MissReason, PeekOutcome};
use recoup_core::entry::{EntryEventKind, RecordedSources};
use recoup_core::key::Kind;
use recoup_core::store::{DirectoryStore, FaultLog, Store as _};
use serde_json::json;

use super::{Scene, theirs, with_full};
use crate::support::{START, draft, id, later, record};

#[test]
fn an_entry_that_was_restored_since_it_was_found_corrupt_stays() {
    let scene = Scene::with(&["a", "b"]);
    scene.store.put(&id("full"), &with_full("full")).unwrap();
    scene.write("results/b.json", "changed");
    let events = ["a", "b", "full"].map(|key| (key, EntryEventKind::Corrupt, 1));
    scene.fold("1", &events);
    assert_eq!(scene.body("a"), Some("a".to_owned()));
    assert_eq!(scene.body("b"), None);
    assert_eq!(scene.shown(), ["a", "full"]);
    scene.remove(&super::full_name("full"));
    scene.fold("2", &[("full", EntryEventKind::Corrupt, 1)]);
    assert_eq!(scene.shown(), ["a"]);
}

/// It has written its body, and its line is still to come.
#[test]
fn a_body_that_is_newer_than_the_damage_is_left_alone() {
    let scene = Scene::with(&["a"]);
    scene.write("results/a.json", "theirs");
    let at = u64::try_from(later(9_000).as_millis()).unwrap();
    let body = fs::File::options().write(true).open(scene.path("results/a.json")).unwrap();
    body.set_modified(SystemTime::UNIX_EPOCH + Duration::from_millis(at)).unwrap();
    scene.fold("1", &[("a", EntryEventKind::Corrupt, 1)]);
    assert_eq!(scene.text("results/a.json"), "theirs");
    scene.other_tool_sets("a", "theirs", theirs("theirs"));
    assert_eq!(scene.body("a"), Some("theirs".to_owned()));
}

/// Sets an entry at the moment at which we are told of a fault.
#[derive(Debug)]
struct Meddler(PathBuf);

impl FaultLog for Meddler {
    fn fault(&self, _: &str, _: &Error) {
        fs::write(self.0.join("results/x.json"), "theirs").unwrap();
        let index = json!({
            "schema_version": "1.0.0", "theirs": 1, "entries": {"x": theirs("theirs")},
            "stats": {"hits": 9, "misses": 0, "invalidations": 0},
        });
        fs::write(self.0.join("index.json"), index.to_string()).unwrap();
    }
}

#[test]
fn an_index_that_others_write_while_we_work_is_taken_in() {
    let scene = Scene::with(&["a"]);
    scene.write("index.json", "broken");
    let store = DirectoryStore::at(scene.root(), Arc::new(Meddler(scene.root())));
    store.put(&id("b"), &record("b")).unwrap();
    assert_eq!(scene.listed(), ["a", "b", "x"]);
    assert_eq!(scene.index()["theirs"], 1);
    assert_eq!(scene.index()["stats"]["hits"], 9);
    for (key, body) in [("a", "a"), ("b", "b"), ("x", "theirs")] {
        assert_eq!(scene.body(key).as_deref(), Some(body));
    }
    scene.put("c", "c");
    assert_eq!(scene.listed(), ["a", "b", "c", "x"]);
}

/// It has set what we were about to set: body and line are theirs.
#[test]
fn an_entry_that_others_set_while_we_work_is_theirs() {
    let scene = Scene::with(&["x"]);
    scene.write("index.json", "broken");
    let store = DirectoryStore::at(scene.root(), Arc::new(Meddler(scene.root())));
    store.put(&id("b"), &record("b")).unwrap();
    assert_eq!(scene.body("x"), Some("theirs".to_owned()));
    scene.put("c", "c");
    assert_eq!(scene.body("x"), Some("theirs".to_owned()));
    assert_eq!(scene.index()["entries"]["x"], theirs("theirs"));
}

/// Their sources count from then on, and not those that ours had.
#[test]
fn an_entry_that_others_set_with_the_same_body_is_theirs() {
    let scene = Scene::with(&["a", "b"]);
    let mut entry = theirs("a");
    entry["source_paths"] = json!(["gone.rs"]);
    scene.other_tool_sets("a", "a", entry.clone());
    for round in ["before", "after"] {
        let reason = scene.miss("a", scene.dir.path());
        assert!(matches!(reason, MissReason::SourceMissing(_)), "{round}: {reason:?}");
        scene.put("c", "c");
    }
    assert!(!scene.path(".recoup/heads/a.json").exists());
    assert_eq!(scene.index()["entries"]["a"], entry);
}

/// A tool that knows only its own fields and writes all lines anew.
#[test]
fn a_line_of_ours_without_our_field_is_ours_while_it_says_the_same() {
    let scene = Scene::with(&["a"]);
    let mut index = scene.index();
    index["entries"]["a"].as_object_mut().unwrap().remove("recoup");
    index["entries"]["a"]["hit_count"] = json!(4);
    scene.write("index.json", &index.to_string());
    scene.put("b", "b");
    assert!(scene.path(".recoup/heads/a.json").exists());
    assert!(scene.index()["entries"]["a"]["recoup"].is_object());
}

#[test]
fn a_short_life_outlives_the_loss_of_our_own_files() {
    let scene = Scene::new();
    for (key, ttl) in [("short", Some(1_500)), ("for-ever", None)] {
        let mut draft = draft(key);
        (draft.kind, draft.ttl) = (Kind::AgentRun, ttl);
        scene.store.put(&id(key), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    }
    fs::remove_dir_all(scene.path(".recoup")).unwrap();
    for (key, ttl) in [("short", Some(1_500)), ("for-ever", None)] {
        let head = scene.store.get(&id(key)).unwrap().unwrap().head.clone();
        assert_eq!((head.header.ttl, head.header.kind), (ttl, Kind::AgentRun));
        assert_eq!(head.header.created, START);
    }
}

#[test]
fn what_can_be_done_without_may_be_said_in_another_way() {
    for (name, value) in [
        ("hit_count", json!(null)),
        ("hit_count", json!("many")),
        ("source_paths", json!(null)),
        ("created_at", json!(4_099_999_990.5)),
        ("last_hit", json!("yesterday")),
        ("full_result_path", json!(false)),
    ] {
        let scene = Scene::new();
        let mut entry = theirs("body");
        entry[name] = value.clone();
        scene.other_tool_sets("x", "body", entry.clone());
        assert!(
            matches!(scene.peek("x", scene.dir.path()), PeekOutcome::Hit(_)),
            "{name}: {value}"
        );
        entry.as_object_mut().unwrap().remove(name);
        if name != "created_at" {
            scene.other_tool_sets("x", "body", entry);
            assert!(matches!(scene.peek("x", scene.dir.path()), PeekOutcome::Hit(_)), "no {name}");
        }
    }
}

/// Theirs is the same name in another directory.
#[test]
fn only_a_path_that_leads_here_shares_a_full_result() {
    for (path, shares) in [("/elsewhere/full/", false), ("full/", true), ("cache/full/", true)] {
        let scene = Scene::new();
        scene.store.put(&id("ours"), &with_full("full")).unwrap();
        let name = super::full_name("full");
        let mut entry = theirs("body");
        entry["full_result_path"] = json!(format!("{path}{}", name.trim_start_matches("full/")));
        scene.other_tool_sets("x", "body", entry);
        scene.store.remove(&[id("ours")]).unwrap();
        assert_eq!(scene.path(&name).exists(), shares, "{path}");
    }
}
