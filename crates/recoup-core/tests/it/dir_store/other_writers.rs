//! Other hands in the directory while we use it: a tool that writes its own
//! entries without our lock, links, and files that are none.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use recoup_core::ErrorKind;
use recoup_core::entry::EntryEventKind;
use recoup_core::store::{EvictionPlan, ScanFilter, ScanFlow, Store as _};

use super::{Scene, theirs};
use crate::support::{START, body_of, evict_plan, id};

#[test]
fn a_tool_that_writes_in_between_loses_nothing_and_costs_us_nothing() {
    let scene = Scene::with(&["ours-0"]);
    for n in 1..5 {
        let body = format!("their {n}");
        scene.other_tool_sets(&format!("x-{n}"), &body, theirs(&body));
        scene.put(&format!("ours-{n}"), &format!("our {n}"));
        scene.fold(
            &n.to_string(),
            &[("x-1", EntryEventKind::Hit, 1), ("ours-1", EntryEventKind::Hit, 1)],
        );
    }
    let expected = ["ours-0", "ours-1", "ours-2", "ours-3", "ours-4", "x-1", "x-2", "x-3", "x-4"];
    assert_eq!(scene.listed(), expected);
    assert_eq!(scene.shown(), expected);
    for n in 1..5 {
        assert_eq!(scene.body(&format!("x-{n}")), Some(format!("their {n}")));
        assert_eq!(scene.body(&format!("ours-{n}")), Some(format!("our {n}")));
    }
    let hits = |key: &str| scene.index()["entries"][key]["hit_count"].clone();
    assert_eq!((hits("x-1"), hits("ours-1")), (4.into(), 4.into()));
}

/// It read the index before our put, and writes it after: our line is gone.
#[test]
fn a_tool_that_writes_an_old_index_back_harms_no_entry() {
    let scene = Scene::with(&["a"]);
    let old = scene.text("index.json");
    scene.put("b", "b");
    scene.write("index.json", &old);
    assert_eq!(scene.body("b"), Some("b".to_owned()));
    scene.put("c", "c");
    assert_eq!(scene.listed(), ["a", "b", "c"]);
}

/// Theirs count hits in the index, and so do we.
#[test]
fn hits_that_a_tool_counted_on_ours_are_kept() {
    let scene = Scene::with(&["a"]);
    let mut index = scene.index();
    index["entries"]["a"]["hit_count"] = 10.into();
    index["stats"]["hits"] = 10.into();
    scene.write("index.json", &index.to_string());
    scene.fold("1", &[("a", EntryEventKind::Hit, 2)]);
    assert_eq!(scene.index()["entries"]["a"]["hit_count"], 12);
    assert_eq!(scene.index()["stats"]["hits"], 12);
    assert_eq!(scene.store.get(&id("a")).unwrap().unwrap().head.hits, 2, "ours are ours");
}

/// What is read proves itself by its checksum; what is written replaces the link.
#[test]
fn a_link_is_read_through_and_replaced_by_a_write() {
    let scene = Scene::with(&["a"]);
    let aside = scene.dir.path().join("aside");
    fs::rename(scene.path("results/a.json"), &aside).unwrap();
    symlink(&aside, scene.path("results/a.json")).unwrap();
    assert_eq!(scene.body("a"), Some("a".to_owned()));
    scene.put("a", "new");
    assert_eq!(scene.body("a"), Some("new".to_owned()));
    assert_eq!(fs::read_to_string(&aside).unwrap(), "a", "what it led to is not ours");
    assert!(scene.path("results/a.json").symlink_metadata().unwrap().is_file());
}

#[test]
fn a_pipe_or_a_directory_in_a_files_place_is_damage_and_nothing_to_wait_for() {
    for name in ["results/a.json", ".recoup/heads/a.json"] {
        for pipe in [true, false] {
            let scene = Scene::with(&["a", "b"]);
            scene.remove(name);
            if pipe {
                let made = Command::new("mkfifo").arg(scene.path(name)).status().unwrap();
                assert!(made.success());
            } else {
                fs::create_dir(scene.path(name)).unwrap();
            }
            assert_eq!(scene.store.get(&id("a")).unwrap_err().kind(), ErrorKind::Corrupt);
            assert_eq!(scene.body("b"), Some("b".to_owned()));
            let mut seen = 0;
            let visit = &mut |_: &_, _: recoup_core::Result<&_>| {
                seen += 1;
                ScanFlow::Continue(())
            };
            scene.store.scan(&ScanFilter::default(), visit).unwrap();
            assert_eq!(seen, 2);
            scene.put("c", "c");
            if pipe {
                scene.put("a", "again");
                assert_eq!(scene.body("a"), Some("again".to_owned()));
            }
        }
    }
}

/// Whatever is in the place of a body, folding and evicting go on.
#[test]
fn what_is_no_file_stops_no_housekeeping() {
    for pipe in [true, false] {
        let scene = Scene::with(&["ours", "b"]);
        scene.other_tool_sets("x", "body", theirs("body"));
        for name in ["results/ours.json", "results/x.json"] {
            scene.remove(name);
            if pipe {
                assert!(Command::new("mkfifo").arg(scene.path(name)).status().unwrap().success());
            } else {
                fs::create_dir(scene.path(name)).unwrap();
            }
        }
        scene.fold("1", &[("ours", EntryEventKind::Corrupt, 1), ("x", EntryEventKind::Corrupt, 1)]);
        assert_eq!(
            scene.path(".recoup/heads/ours.json").exists(),
            !pipe,
            "nor is a directory ours"
        );
        if !pipe {
            let error = scene.store.remove(&[id("ours")]).unwrap_err();
            assert!(error.to_string().contains("results/ours.json"), "{error}");
        }
        let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(START) };
        assert_eq!(scene.store.evict(&plan).unwrap().least_used, 1);
        scene.put("c", "c");
        let left: &[&str] = if pipe { &["c", "x"] } else { &["c", "ours", "x"] };
        assert_eq!(scene.listed(), left);
    }
}

#[test]
fn a_pipe_in_the_place_of_the_index_is_put_aside() {
    let scene = Scene::with(&["a"]);
    scene.remove("index.json");
    assert!(Command::new("mkfifo").arg(scene.path("index.json")).status().unwrap().success());
    assert_eq!(scene.body("a"), Some("a".to_owned()));
    scene.put("b", "b");
    assert_eq!(scene.listed(), ["a", "b"]);
}

#[test]
fn the_directory_itself_may_be_behind_a_link() {
    let scene = Scene::with(&["a"]);
    let link = scene.dir.path().join("link");
    symlink(scene.root(), &link).unwrap();
    let other = super::directory(&link);
    assert_eq!(body_of(&other, &id("a")), Some(b"a".to_vec()));
    other.put(&id("b"), &crate::support::record("b")).unwrap();
    assert_eq!(scene.shown(), ["a", "b"]);
}
