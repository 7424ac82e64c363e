//! An index, a catalogue or a head that others lost, broke or edited: reads go
//! on without writing, and the next write puts it right.

use std::fs;

use recoup_core::ErrorKind;
use recoup_core::key::Scope;
use recoup_core::store::{EvictionPlan, Store as _};
use serde_json::json;

use super::{Scene, full_name, theirs, with_full};
use crate::support::{START, evict_plan, id, later, record, record_at, rich_draft, rich_sources};

/// Everything that may happen to an index, and whether it is kept aside.
const BROKEN: [(&str, bool); 9] = [
    ("", false),
    (" \n", false),
    ("{", true),
    ("{\"entries\":{\"a\":", true),
    ("not JSON", true),
    ("{}", false),
    ("{\"entries\":[1]}", true),
    ("{\"entries\":{},\"stats\":7}", false),
    ("{\"entries\":{\"a\":7,\"b\":{\"created_at\":\"x\"}},\"created_at\":[]}", false),
];

#[test]
fn a_broken_index_harms_no_read_and_is_made_again_by_a_write() {
    for (text, kept) in BROKEN {
        let scene = Scene::with(&["a", "b"]);
        let before = scene.index();
        scene.write("index.json", text);
        assert_eq!(scene.body("a"), Some("a".to_owned()), "{text}");
        assert_eq!(scene.shown(), ["a", "b"], "{text}");
        assert_eq!(scene.store.usage(&Scope::global()).unwrap().entries, 2);
        assert_eq!(scene.text("index.json"), text, "reads write nothing");
        scene.put("c", "c");
        assert_eq!(scene.listed(), ["a", "b", "c"], "{text}");
        assert_eq!(scene.index()["entries"]["a"], before["entries"]["a"], "{text}");
        assert_eq!(scene.index()["created_at"], before["created_at"], "{text}");
        assert_eq!(scene.index()["stats"], before["stats"], "{text}");
        let expected = if kept { vec![text.to_owned()] } else { Vec::new() };
        assert_eq!(set_aside(&scene), expected);
        assert_eq!(scene.faults.count(), expected.len(), "the caller is told once");
    }
}

/// What was kept of indexes that could not be read.
fn set_aside(scene: &Scene) -> Vec<String> {
    let files = fs::read_dir(scene.root()).unwrap().map(|file| file.unwrap().file_name());
    let names = files.map(|name| name.into_string().unwrap());
    let mut kept: Vec<_> = names.filter(|name| name.starts_with("index.json.broken-")).collect();
    kept.sort();
    kept.iter().map(|name| scene.text(name)).collect()
}

#[test]
fn every_broken_index_is_kept_and_told_of() {
    let scene = Scene::with(&["a"]);
    for text in ["first", "second"] {
        scene.write("index.json", text);
        scene.put("b", "b");
        assert_eq!(scene.listed(), ["a", "b"]);
        let faults = scene.faults.take();
        assert_eq!((faults.len(), faults[0].1), (1, ErrorKind::Corrupt));
        assert!(faults[0].2.contains("index.json.broken-"), "{faults:?}");
    }
    assert_eq!(set_aside(&scene), ["first", "second"]);
}

#[test]
fn a_missing_index_is_made_again_by_any_write() {
    type Write = fn(&Scene);
    let writes: [Write; 4] = [
        |scene| scene.put("a", "a"),
        |scene| assert_eq!(scene.store.remove(&[id("gone")]).unwrap(), 0),
        |scene| scene.fold("1", &[("a", recoup_core::entry::EntryEventKind::Hit, 1)]),
        |scene| assert_eq!(scene.store.evict(&evict_plan(START)).unwrap().expired, 0),
    ];
    for write in writes {
        let scene = Scene::with(&["a", "b"]);
        scene.remove("index.json");
        assert_eq!(scene.shown(), ["a", "b"]);
        write(&scene);
        assert_eq!(scene.listed(), ["a", "b"]);
    }
}

#[test]
fn an_entry_that_was_taken_off_or_changed_in_the_index_is_put_right() {
    let scene = Scene::new();
    let rich = rich_draft("a").seal(rich_sources(), START).unwrap();
    scene.store.put(&id("a"), &rich).unwrap();
    scene.put("b", "b");
    let before = scene.index();
    let mut edited = before.clone();
    edited["entries"].as_object_mut().unwrap().remove("a");
    edited["entries"]["b"]["integrity_hash"] = json!("0".repeat(64));
    edited["entries"]["b"]["theirs"] = json!({"kept": true});
    edited["entries"]["gone"] = theirs("gone");
    scene.write("index.json", &edited.to_string());
    assert_eq!(scene.body("b"), Some("b".to_owned()));
    scene.put("c", "c");
    assert_eq!(scene.index()["entries"]["a"], before["entries"]["a"]);
    let mut b = before["entries"]["b"].clone();
    b["theirs"] = json!({"kept": true});
    assert_eq!(scene.index()["entries"]["b"], b);
    assert_eq!(scene.listed(), ["a", "b", "c"]);
}

#[test]
fn a_body_that_others_removed_takes_its_entry_along() {
    let scene = Scene::with(&["a", "b"]);
    scene.remove("results/a.json");
    assert_eq!(scene.body("a"), None);
    assert_eq!(scene.shown(), ["b"]);
    assert_eq!(scene.store.usage(&Scope::global()).unwrap().entries, 1);
    scene.put("c", "c");
    assert_eq!(scene.listed(), ["b", "c"]);
    assert!(!scene.path(".recoup/heads/a.json").exists());
    scene.put("a", "again");
    assert_eq!(scene.body("a"), Some("again".to_owned()));
}

/// As the other tool's `clear` does it.
#[test]
fn a_directory_that_others_emptied_is_empty() {
    let scene = Scene::with(&["a", "b"]);
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    fs::remove_dir_all(scene.path("results")).unwrap();
    scene.write("index.json", "{\"entries\":{}}");
    assert_eq!(scene.shown(), [""; 0]);
    scene.put("c", "c");
    assert!(!scene.path(&full_name("full")).exists());
    assert_eq!(scene.listed(), ["c"]);
    assert_eq!(fs::read_dir(scene.path(".recoup/heads")).unwrap().count(), 1);
}

/// Nothing is known of what they depend on.
#[test]
fn bodies_without_head_and_line_are_neither_served_nor_deleted() {
    let scene = Scene::with(&["a"]);
    scene.write("results/stray.json", "stray");
    scene.write("full/stray.json", "stray");
    assert_eq!(scene.body("stray"), None);
    assert_eq!(scene.store.remove(&[id("stray")]).unwrap(), 0);
    scene.put("b", "b");
    let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(later(1 << 50)) };
    scene.store.evict(&plan).unwrap();
    assert_eq!(scene.listed(), [""; 0]);
    assert_eq!(scene.text("results/stray.json"), "stray");
    assert_eq!(scene.text("full/stray.json"), "stray");
    let error = scene.store.put(&id("stray"), &record("ours")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("results/stray.json is not a cache entry"), "{error}");
    assert_eq!(scene.text("results/stray.json"), "stray");
    scene.remove("results/stray.json");
    scene.put("stray", "ours now");
    assert_eq!(scene.body("stray"), Some("ours now".to_owned()));
}

#[test]
fn a_lost_or_broken_catalogue_is_made_again() {
    let scene = Scene::new();
    for n in 0..4 {
        scene.store.put(&id(&n.to_string()), &record_at(later(n), "x")).unwrap();
    }
    let usage = scene.store.usage(&Scope::global()).unwrap();
    let whole = scene.text(".recoup/catalogue");
    let cut = &whole[..=whole.trim_end().rfind('\n').unwrap()];
    for text in [None, Some(""), Some("{}"), Some("["), Some(cut), Some(&whole[..whole.len() - 9])]
    {
        match text {
            None => scene.remove(".recoup/catalogue"),
            Some(text) => scene.write(".recoup/catalogue", text),
        }
        scene.write(".recoup/deaths.json", text.unwrap_or("x"));
        assert_eq!(scene.store.usage(&Scope::global()).unwrap(), usage);
        let plan = EvictionPlan { max_entries: Some(4), ..evict_plan(later(100)) };
        assert_eq!(scene.store.evict(&plan).unwrap().least_used, 0);
        assert_eq!(scene.store.usage(&Scope::global()).unwrap(), usage);
    }
    scene.remove(".recoup/catalogue");
    let plan = EvictionPlan { max_entries: Some(1), ..evict_plan(later(100)) };
    assert_eq!(scene.store.evict(&plan).unwrap().least_used, 3);
    assert_eq!(scene.shown(), ["3"]);
}

#[test]
fn a_broken_head_keeps_its_line_and_its_full_result_until_it_goes() {
    let scene = Scene::new();
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    scene.remove(".recoup/heads/a.json");
    scene.write(".recoup/heads/a.json", "{");
    scene.put("b", "b");
    assert_eq!(scene.store.get(&id("a")).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(scene.listed(), ["a", "b"]);
    assert!(scene.path(&full_name("full")).exists());
    assert_eq!(scene.store.remove(&[id("a")]).unwrap(), 1);
    assert!(!scene.path(&full_name("full")).exists());
    assert_eq!(scene.listed(), ["b"]);
}

#[test]
fn a_head_of_a_later_version_is_left_alone() {
    let scene = Scene::with(&["a", "b"]);
    let head = scene.text(".recoup/heads/a.json").replace("\"format\":1", "\"format\":99");
    scene.remove(".recoup/heads/a.json");
    scene.write(".recoup/heads/a.json", &head);
    assert_eq!(scene.store.get(&id("a")).unwrap_err().kind(), ErrorKind::TooNew);
    scene.put("b", "b");
    let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(later(1 << 50)) };
    scene.store.evict(&plan).unwrap();
    assert_eq!(scene.text(".recoup/heads/a.json"), head);
    assert_eq!(scene.text("results/a.json"), "a");
    assert_eq!(scene.listed(), ["a"]);
}
