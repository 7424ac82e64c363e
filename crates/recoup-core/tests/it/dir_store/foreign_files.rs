//! What is in the directory and not ours: links, files and directories of the
//! user's, another program's index. Nothing of it is written over or removed.

use std::fs;
use std::os::unix::fs::symlink;

use recoup_core::ErrorKind;
use recoup_core::entry::EntryEventKind;
use recoup_core::key::Scope;
use recoup_core::store::{EvictionPlan, ScanFilter, ScanFlow, Store as _};

use super::{Scene, directory, full_name, with_full};
use crate::support::{START, evict_plan, id, id_in, record};

fn tenant() -> Scope {
    Scope::parse("tenant:x").unwrap()
}

/// Everything that is below `dir`, with its contents.
fn files_in(dir: &std::path::Path) -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            found.extend(files_in(&entry));
        } else {
            found.push((entry.clone(), fs::read_to_string(&entry).unwrap()));
        }
    }
    found.sort();
    found
}

#[test]
fn no_directory_of_ours_may_be_a_link() {
    let places = ["results", "full", ".recoup", ".recoup/heads", "tenant", "tenant/x"];
    for place in places {
        let scene = Scene::new();
        let scope = if place.starts_with("tenant") { tenant() } else { Scope::global() };
        let key = id_in(&scope, "a");
        scene.store.put(&key, &with_full("full")).unwrap();
        let aside = scene.dir.path().join("aside");
        fs::rename(scene.path(place), &aside).unwrap();
        symlink(&aside, scene.path(place)).unwrap();
        let before = files_in(&aside);
        if place != "full" {
            assert!(scene.store.get(&key).unwrap_err().to_string().contains("symbolic link"));
        }
        let errors = [
            scene.store.full_payload(&key).map(drop).unwrap_err(),
            scene.store.put(&key, &record("new")).unwrap_err(),
            scene.store.put(&id_in(&scope, "b"), &record("new")).unwrap_err(),
            scene.store.remove(std::slice::from_ref(&key)).map(drop).unwrap_err(),
            scene.store.usage(&scope).map(drop).unwrap_err(),
        ];
        for error in errors {
            assert_eq!(error.kind(), ErrorKind::Invalid, "{place}: {error}");
            let path = scene.path(place).display().to_string();
            assert!(error.to_string().contains(&format!("{path} is a symbolic link")), "{error}");
        }
        let mut shown = 0;
        let count = &mut |_: &_, _: recoup_core::Result<&_>| {
            shown += 1;
            ScanFlow::Continue(())
        };
        let filter = ScanFilter { scope: Some(scope), ..ScanFilter::default() };
        assert!(scene.store.scan(&filter, count).is_err());
        assert_eq!(shown, 0);
        assert_eq!(files_in(&aside), before, "{place}");
    }
}

/// A link below one scope is nothing to the others.
#[test]
fn a_link_holds_no_other_scope_up() {
    let scene = Scene::with(&["a"]);
    symlink(scene.dir.path(), scene.path("tenant")).unwrap();
    let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(START) };
    assert_eq!(scene.store.evict(&plan).unwrap().least_used, 1);
    assert_eq!(scene.shown(), [""; 0]);
}

#[test]
fn a_file_in_the_place_of_the_directory_is_an_error_and_not_nothing() {
    let scene = Scene::new();
    let file = scene.dir.path().join("file");
    fs::write(&file, "the user's").unwrap();
    let store = directory(&file);
    let errors = [
        store.get(&id("a")).map(drop).unwrap_err(),
        store.put(&id("a"), &record("a")).unwrap_err(),
        store.remove(&[id("a")]).map(drop).unwrap_err(),
        store.usage(&Scope::global()).map(drop).unwrap_err(),
        store.tallies(Some(&Scope::global())).map(drop).unwrap_err(),
        store.evict(&evict_plan(START)).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().contains("file is not a directory"), "{error}");
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "the user's");
}

#[test]
fn a_directory_in_a_files_place_is_not_removed() {
    for name in ["results/a.json", ".recoup/heads/a.json"] {
        let scene = Scene::with(&["a"]);
        scene.remove(name);
        scene.write(&format!("{name}/theirs"), "theirs");
        let error = scene.store.remove(&[id("a")]).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
        assert_eq!(scene.text(&format!("{name}/theirs")), "theirs");
    }
}

#[test]
fn an_index_of_somebody_elses_is_left_alone() {
    for text in ["[]", "[1, 2]", "7", "\"text\"", "{\"name\": \"project\", \"version\": 3}"] {
        let scene = Scene::with(&["a"]);
        scene.write("index.json", text);
        assert_eq!(scene.body("a"), Some("a".to_owned()), "{text}");
        let error = scene.store.put(&id("b"), &record("b")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.to_string().contains("index.json is not the index of a cache"), "{error}");
        assert!(scene.store.remove(&[id("a")]).is_err());
        scene.fold("1", &[("a", EntryEventKind::Hit, 1)]);
        assert_eq!(scene.text("index.json"), text);
        assert_eq!(scene.faults.count(), 0);
    }
    let scene = Scene::new();
    scene.write("index.json/theirs", "theirs");
    assert!(scene.store.put(&id("b"), &record("b")).is_err());
    assert_eq!(scene.text("index.json/theirs"), "theirs");
}

#[test]
fn a_full_result_that_we_did_not_make_is_shared_and_not_removed() {
    let scene = Scene::new();
    scene.write(&full_name("full"), "full");
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    scene.store.put(&id("a"), &record("without")).unwrap();
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    scene.store.remove(&[id("a")]).unwrap();
    assert_eq!(scene.text(&full_name("full")), "full");
    scene.write(&full_name("other"), "something else");
    let error = scene.store.put(&id("a"), &with_full("other")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert_eq!(scene.text(&full_name("other")), "something else");
    assert_eq!(scene.body("a"), None);
}

#[test]
fn a_full_result_that_is_gone_is_damage() {
    let scene = Scene::new();
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    scene.remove(&full_name("full"));
    assert_eq!(scene.store.full_payload(&id("a")).unwrap_err().kind(), ErrorKind::Corrupt);
    scene.store.put(&id("a"), &with_full("full")).unwrap();
    assert!(scene.store.full_payload(&id("a")).unwrap().is_some());
}

/// As a writer leaves it that is killed after it let go of a full result's last
/// entry, and before it removed it.
#[test]
fn a_full_result_of_ours_that_nobody_has_goes_with_the_next_healing() {
    let scene = Scene::with(&["a"]);
    scene.store.put(&id("b"), &with_full("full")).unwrap();
    let without = scene.text(".recoup/heads/a.json");
    scene.write(".recoup/heads/b.json", &without);
    scene.write("results/b.json", "a");
    scene.remove(".recoup/catalogue");
    scene.write("full/theirs.json", "theirs");
    scene.put("c", "c");
    assert!(!scene.path(&full_name("full")).exists());
    assert_eq!(fs::read_dir(scene.path(".recoup/made")).unwrap().count(), 0);
    assert_eq!(scene.text("full/theirs.json"), "theirs");
    assert_eq!(scene.body("b"), Some("a".to_owned()));
}

#[test]
fn what_can_be_made_again_fails_no_write() {
    let helpers = [".recoup/catalogue", ".recoup/deaths.json", ".recoup/counts.json"];
    for name in helpers {
        let scene = Scene::new();
        fs::create_dir_all(scene.path(name).join("theirs")).unwrap();
        scene.put("a", "a");
        scene.store.put(&id("a"), &with_full("full")).unwrap();
        let plan = EvictionPlan { max_entries: Some(5), ..evict_plan(START) };
        scene.store.evict(&plan).unwrap();
        assert_eq!(scene.store.tallies(Some(&Scope::global())).unwrap(), []);
        assert_eq!(scene.shown(), ["a"]);
        assert_eq!(scene.store.remove(&[id("a")]).unwrap(), 1);
    }
}

#[test]
fn in_a_projects_root_git_is_told_of_our_names_only() {
    let scene = Scene::new();
    scene.write(".git/HEAD", "ref: refs/heads/main");
    scene.put("a", "a");
    let ignored = scene.text(".gitignore");
    assert!(!ignored.lines().any(|line| line == "*"), "{ignored}");
    for name in ["/index.json", "/results/", "/full/", "/.recoup/", "/early-exit/"] {
        assert!(ignored.lines().any(|line| line == name), "{name} in {ignored}");
    }
}
