//! What other tools find: the index with its fields and formats, files with
//! their modes, and nothing for git.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use recoup_core::ErrorKind;
use recoup_core::entry::{EntryEventKind, RecordedSources, TimedSources};
use recoup_core::store::{EvictionPlan, Store as _};
use serde_json::json;

use super::{Scene, directory, full_name, with_full};
use crate::support::{
    START, draft, evict_plan, id, id_in, later, record, rich_draft, rich_sources, scopes,
};

#[test]
fn the_index_has_the_contracts_fields_and_one_of_ours() {
    let scene = Scene::new();
    let mut draft = draft("{\"verdict\":\"PASS\"}");
    draft.full = Some("the full result".into());
    scene.store.put(&id("full"), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    let rich = rich_draft("body").seal(rich_sources(), START).unwrap();
    scene.store.put(&id("rich"), &rich).unwrap();
    scene.fold("1", &[("rich", EntryEventKind::Hit, 3), ("gone", EntryEventKind::Absent, 1)]);
    let index = scene.text("index.json").replace(scene.root().to_str().unwrap(), "DIR");
    insta::assert_snapshot!(index, @r#"
    {
      "schema_version": "1.0.0",
      "created_at": "2099-12-03T16:53:20Z",
      "entries": {
        "full": {"created_at":4100000000,"cached_mtime":4100000000,"source_paths":[],"integrity_hash":"32e3c0215358a1f45d846a4a2d924cf7901caa608db81c166e70fc4ac2fecd9a","full_result_path":"DIR/full/fa7d8e21a036d69984504fb9f426a5c5e4c33ee13f7655ea465c6271cec09729.json","hit_count":0,"last_hit":null,"recoup":{"kind":"result","created":4100000000123,"expires_at":null}},
        "rich": {"created_at":4100000000,"cached_mtime":4100000000,"source_paths":["/outside","src/ä.rs","src/*.rs","docs"],"integrity_hash":"230d8358dc8e8890b4c58deeb62912ee2f20357ae92a5cc861b98e68fe31acb5","full_result_path":null,"hit_count":3,"last_hit":4100000005,"recoup":{"kind":"agent-run","created":4100000000123,"expires_at":4100086400124}}
      },
      "stats": {"hits":3,"misses":1,"invalidations":0}
    }
    "#);
}

/// Each word counts as `recoup cache stats` counts it.
#[test]
fn the_block_of_stats_counts_what_was_folded() {
    let scene = Scene::with(&["a"]);
    let one_of_each = EntryEventKind::ALL.map(|what| ("a", what, 1));
    scene.fold("1", &one_of_each);
    let stats = || scene.index()["stats"].clone();
    assert_eq!(stats(), json!({"hits": 1, "misses": 5, "invalidations": 2}));
    scene.fold("1", &one_of_each);
    scene.fold("2", &[("a", EntryEventKind::Hit, 10)]);
    assert_eq!(stats(), json!({"hits": 11, "misses": 5, "invalidations": 2}));
    scene.remove("index.json");
    scene.put("b", "b");
    assert_eq!(stats(), json!({"hits": 11, "misses": 5, "invalidations": 2}), "made again");
}

/// What is counted before the first entry shows once there is an index.
#[test]
fn counts_before_the_first_entry_are_not_lost() {
    let scene = Scene::new();
    scene.fold("1", &[("a", EntryEventKind::Absent, 2)]);
    assert!(!scene.path("index.json").exists(), "nothing is stored yet");
    scene.put("a", "a");
    assert_eq!(scene.index()["stats"]["misses"], 2);
}

#[test]
fn hits_and_the_last_of_them_show_after_a_fold() {
    let scene = Scene::with(&["a", "b"]);
    let hits = |key: &str| {
        let entry = &scene.index()["entries"][key];
        (entry["hit_count"].clone(), entry["last_hit"].clone())
    };
    assert_eq!(hits("a"), (json!(0), json!(null)));
    scene.fold("1", &[("a", EntryEventKind::Hit, 2)]);
    scene.fold("2", &[("a", EntryEventKind::Hit, 1)]);
    assert_eq!(hits("a"), (json!(3), json!(later(5_000).as_seconds())));
    assert_eq!(hits("b"), (json!(0), json!(null)));
    scene.put("a", "anew");
    assert_eq!(hits("a"), (json!(0), json!(null)));
}

#[test]
fn sources_are_listed_by_their_paths() {
    let scene = Scene::new();
    let older = Some(TimedSources { than: 1, paths: vec!["old.rs".to_owned()] });
    let sources = RecordedSources { older, ..rich_sources() };
    scene.store.put(&id("a"), &draft("a").seal(sources, START).unwrap()).unwrap();
    let paths = scene.index()["entries"]["a"]["source_paths"].clone();
    assert_eq!(paths, json!(["/outside", "src/ä.rs", "src/*.rs", "old.rs"]));
}

#[test]
fn bodies_and_full_results_are_kept_byte_for_byte() {
    let scene = Scene::new();
    for body in ["", "null", "a\n", "\"ünï\"\r\n\n", &"x".repeat(200_000)] {
        scene.put("key", body);
        assert_eq!(scene.text("results/key.json"), body);
        scene.store.put(&id("key"), &with_full(body)).unwrap();
        assert_eq!(scene.text(&full_name(body)), body);
    }
    let binary = record(vec![b'a', 0xff]);
    let error = scene.store.put(&id("key"), &binary).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(scene.body("key"), Some("short".to_owned()), "what was there stays");
}

#[test]
fn a_full_result_is_one_file_for_all_that_share_it() {
    let scene = Scene::new();
    let files = || fs::read_dir(scene.path("full")).unwrap().count();
    for key in ["a", "b", "c"] {
        scene.store.put(&id(key), &with_full("shared")).unwrap();
    }
    assert_eq!(files(), 1);
    let mut other_kind = rich_draft("short");
    other_kind.full = Some("shared".into());
    let other_kind = other_kind.seal(RecordedSources::default(), START).unwrap();
    scene.store.put(&id("other"), &other_kind).unwrap();
    scene.store.put(&id("a"), &with_full("another")).unwrap();
    assert_eq!(files(), 2);
    scene.put("b", "without");
    scene.store.evict(&EvictionPlan { max_entries: Some(0), ..evict_plan(START) }).unwrap();
    assert_eq!(scene.shown(), ["other"]);
    assert_eq!(files(), 1);
    assert_eq!(scene.text(&full_name("shared")), "shared");
    scene.store.remove(&[id("other")]).unwrap();
    assert_eq!(files(), 0);
}

#[test]
fn git_is_told_to_pass_over_it_unless_somebody_told_it_something_else() {
    let scene = Scene::with(&["a"]);
    assert_eq!(scene.text(".gitignore"), "*\n");
    scene.remove(".gitignore");
    scene.put("b", "b");
    assert!(!scene.path(".gitignore").exists(), "only the first time");
    let scene = Scene::new();
    scene.write(".gitignore", "mine");
    scene.put("a", "a");
    assert_eq!(scene.text(".gitignore"), "mine");
}

#[test]
fn files_and_directories_are_private() {
    let scene = Scene::new();
    for scope in scopes() {
        scene.store.put(&id_in(&scope, "a"), &with_full("full")).unwrap();
    }
    let mut looked_at = 0;
    let mut dirs = vec![scene.root()];
    while let Some(dir) = dirs.pop() {
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700, "{dir:?}");
        for entry in fs::read_dir(&dir).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                dirs.push(entry.path());
                continue;
            }
            let mode = entry.metadata().unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{:?}", entry.path());
            looked_at += 1;
        }
    }
    assert!(looked_at > 4 * 6);
}

#[test]
fn scopes_are_directories_of_the_same_layout() {
    let scene = Scene::new();
    for scope in scopes() {
        scene.store.put(&id_in(&scope, "a"), &record(scope.to_string())).unwrap();
    }
    assert_eq!(scene.text("results/a.json"), "global");
    assert_eq!(scene.text("tenant/same/results/a.json"), "tenant:same");
    assert!(scene.text("session/same/index.json").contains("\"a\""));
}

#[test]
fn nothing_is_created_by_looking() {
    let scene = Scene::new();
    let store = directory(scene.root());
    assert!(store.get(&id("a")).unwrap().is_none());
    assert!(store.full_payload(&id("a")).unwrap().is_none());
    assert_eq!(store.remove(&[id("a")]).unwrap(), 0);
    assert_eq!(store.usage(&scopes()[0]).unwrap().entries, 0);
    assert_eq!(store.tallies(Some(&scopes()[0])).unwrap(), []);
    store.evict(&evict_plan(START)).unwrap();
    assert_eq!(scene.shown(), [""; 0]);
    assert!(!scene.root().exists());
    assert_eq!(store.info().url, format!("dir:{}", scene.root().display()));
    assert!(store.info().durable);
}
