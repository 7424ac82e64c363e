//! Source files on one machine, under one root: any change of theirs makes the
//! entry a miss, whatever their times say.

use std::fs;
use std::os::unix::fs::symlink;

use recoup_core::ErrorKind;
use recoup_core::cache::{FillOutcome, FillRefusal, MissReason, PathContext, Ttl};
use recoup_core::store::ScanFilter;

use super::{Scene, mtime, set_mtime};
use crate::support::{draft, id, scanned};

fn filled(trusting: bool, contents: &str) -> Scene {
    let scene = Scene::for_files(trusting);
    scene.write("src/a.rs", contents);
    scene.write("src/b.rs", "another");
    scene.fill("key", "body", Ttl::Forever, &["src/a.rs", "src/b.rs"]);
    scene
}

fn assert_modified(scene: &Scene) {
    let reason = scene.miss("key");
    assert!(
        matches!(&reason, MissReason::SourceModified(path) if path == "src/a.rs"),
        "{reason:?}"
    );
    assert!(scene.store.get(&id("key")).unwrap().is_some(), "nothing is deleted");
}

#[test]
fn unchanged_sources_are_a_hit() {
    for trusting in [true, false] {
        assert!(filled(trusting, "before").hits("key"));
    }
}

#[test]
fn a_source_of_another_length_is_a_miss() {
    for trusting in [true, false] {
        let scene = filled(trusting, "before");
        scene.write("src/a.rs", "before and after");
        assert_modified(&scene);
    }
}

/// Right after the fill, of the same length, and with the old time put back:
/// only the contents tell.
#[test]
fn an_edit_in_the_same_moment_is_a_miss() {
    for _ in 0..30 {
        let scene = filled(false, "before");
        let then = mtime(&scene.path("src/a.rs"));
        scene.write("src/a.rs", "AFTER!");
        set_mtime(&scene.path("src/a.rs"), then);
        assert_modified(&scene);
    }
}

#[test]
fn a_source_that_is_gone_is_a_miss() {
    let scene = filled(true, "before");
    fs::remove_file(scene.path("src/a.rs")).unwrap();
    let missing =
        |path: &str| matches!(scene.miss("key"), MissReason::SourceMissing(p) if p == path);
    assert!(missing("src/a.rs"));
    fs::remove_dir_all(scene.path("src")).unwrap();
    scene.write("src", "a file where the directory was");
    assert!(missing("src/a.rs"));
}

#[test]
fn a_directory_in_a_sources_place_is_a_miss() {
    let scene = filled(true, "before");
    fs::remove_file(scene.path("src/a.rs")).unwrap();
    fs::create_dir(scene.path("src/a.rs")).unwrap();
    assert_modified(&scene);
}

#[test]
fn a_link_is_watched_where_it_leads() {
    for trusting in [true, false] {
        let scene = Scene::for_files(trusting);
        scene.write("one", "before");
        scene.write("two", "AFTER!");
        fs::create_dir(scene.path("src")).unwrap();
        symlink(scene.path("one"), scene.path("src/a.rs")).unwrap();
        scene.fill("key", "body", Ttl::Forever, &["src/a.rs"]);
        assert!(scene.hits("key"));
        fs::remove_file(scene.path("src/a.rs")).unwrap();
        symlink(scene.path("two"), scene.path("src/a.rs")).unwrap();
        assert_modified(&scene);
        fs::remove_file(scene.path("two")).unwrap();
        assert!(matches!(scene.miss("key"), MissReason::SourceMissing(_)), "a dangling link");
    }
}

#[test]
fn what_changed_during_the_work_is_not_stored() {
    type Change = fn(&Scene);
    let changes: [Change; 3] = [
        |scene| scene.write("src/a.rs", "while it was worked on"),
        |scene| scene.write("src/a.rs", "BEFORE"),
        |scene| fs::remove_file(scene.path("src/a.rs")).unwrap(),
    ];
    for change in changes {
        let scene = Scene::for_files(false);
        scene.write("src/a.rs", "before");
        let permit = scene.permit(&id("key"), &["src/a.rs"]);
        change(&scene);
        let filled = permit.fill(draft("body"), Ttl::Forever).unwrap();
        let FillOutcome::Refused(refusal @ FillRefusal::SourceChanged(_)) = filled else {
            panic!()
        };
        assert!(refusal.to_string().contains("src/a.rs"), "{refusal}");
        assert_eq!(scanned(&*scene.store, &ScanFilter::default()), []);
    }
}

#[test]
fn a_source_that_is_not_there_is_a_usage_error() {
    let scene = Scene::new();
    for missing in ["src/none.rs", "/nowhere/at/all"] {
        let error = scene.try_permit(&id("key"), &[missing]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
        assert!(error.to_string().contains(&format!("{missing:?}")), "{error}");
    }
}

#[test]
fn sources_are_kept_from_the_root_each_once_and_in_order() {
    let scene = Scene::for_files(true);
    scene.write("src/a.rs", "a");
    scene.write("src/sub/b.rs", "b");
    let view = PathContext { cwd: scene.path("src/sub"), ..scene.view() };
    let given = ["b.rs", "../a.rs", "./b.rs", "../../src/./a.rs", "gone/../b.rs"];
    let permit = scene.cache.permit(&id("key"), &view, &given.map(str::to_owned)).unwrap();
    let _ = permit.fill(draft("body"), Ttl::Forever).unwrap();
    let sources = scene.store.get(&id("key")).unwrap().unwrap().head.header.sources.clone();
    let paths: Vec<&str> = sources.files.iter().map(|source| source.path.as_str()).collect();
    assert_eq!(paths, ["src/a.rs", "src/sub/b.rs"]);
    assert!(scene.hits("key"), "also from another directory");
    scene.write("src/sub/b.rs", "changed");
    assert!(
        matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "src/sub/b.rs")
    );
}
