//! Sources seen from elsewhere: another worktree or machine hits when the
//! contents agree, and misses, without deleting anything, when they do not.

use std::fs;

use recoup_core::cache::{LookupRequest, MissReason, PathContext, PeekOutcome, Ttl};
use recoup_core::entry::SnapshotPlace;
use recoup_core::key::Kind;
use tempfile::TempDir;

use super::{Scene, set_mtime};
use crate::support::{draft, id};

fn view_of(dir: &TempDir) -> PathContext {
    PathContext { root: dir.path().to_owned(), cwd: dir.path().to_owned() }
}

fn worktree(contents: &str) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("src")).unwrap();
    fs::write(dir.path().join("src/a.rs"), contents).unwrap();
    dir
}

fn filled() -> Scene {
    let scene = Scene::for_files(true);
    scene.write("src/a.rs", "contents");
    scene.fill("key", "body", Ttl::Forever, &["src/a.rs"]);
    scene
}

fn peek_from(scene: &Scene, dir: &TempDir) -> PeekOutcome {
    scene.cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &view_of(dir)))
}

#[test]
fn a_worktree_with_the_same_contents_hits() {
    let scene = filled();
    let other = worktree("contents");
    set_mtime(&other.path().join("src/a.rs"), std::time::SystemTime::UNIX_EPOCH);
    assert!(matches!(peek_from(&scene, &other), PeekOutcome::Hit(_)));
}

#[test]
fn a_worktree_with_other_contents_misses_and_nothing_is_deleted() {
    let scene = filled();
    for contents in ["CONTENTS", "longer contents", ""] {
        let other = worktree(contents);
        let peek = peek_from(&scene, &other);
        assert!(matches!(peek, PeekOutcome::Miss(MissReason::SourceModified(_))), "{contents:?}");
    }
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(peek_from(&scene, &empty), PeekOutcome::Miss(MissReason::SourceMissing(_))));
    assert!(scene.hits("key"), "it is still good where it was made");
}

#[test]
fn a_project_that_was_moved_still_hits() {
    let scene = filled();
    let new_home = tempfile::tempdir().unwrap();
    fs::rename(scene.path("src"), new_home.path().join("src")).unwrap();
    assert!(matches!(peek_from(&scene, &new_home), PeekOutcome::Hit(_)));
    assert!(matches!(scene.miss("key"), MissReason::SourceMissing(_)));
}

/// Another machine's times and inodes mean nothing here, not even when its
/// project has the same path.
#[test]
fn the_entry_of_another_machine_is_compared_by_contents() {
    let scene = filled();
    let mut record = (*scene.store.get(&id("key")).unwrap().unwrap()).clone();
    let sources = &mut record.head.header.sources;
    let root = sources.place.as_ref().unwrap().root.clone();
    sources.place = Some(SnapshotPlace { machine: "another".to_owned(), root });
    sources.files[0].stat.mtime += 1;
    sources.files[0].stat.inode += 1;
    scene.store.put(&id("key"), &record).unwrap();
    assert!(scene.hits("key"));
    fs::write(scene.path("src/a.rs"), "CONTENTS").unwrap();
    assert!(matches!(scene.miss("key"), MissReason::SourceModified(_)));
}

#[test]
fn a_source_outside_the_root_is_kept_with_its_whole_path() {
    let scene = Scene::for_files(true);
    let outside = worktree("outside");
    let file = outside.path().join("src/a.rs");
    let given = file.to_str().unwrap();
    scene.fill("key", "body", Ttl::Forever, &[given]);
    assert!(scene.hits("key"));
    let sources = scene.store.get(&id("key")).unwrap().unwrap().head.header.sources.clone();
    assert_eq!(sources.files[0].path, given);
    let other = tempfile::tempdir().unwrap();
    assert!(
        matches!(peek_from(&scene, &other), PeekOutcome::Hit(_)),
        "the same file from anywhere"
    );
    fs::write(&file, "OUTSIDE").unwrap();
    assert!(matches!(scene.miss("key"), MissReason::SourceModified(path) if path == given));
}

#[test]
fn an_entry_without_sources_hits_everywhere() {
    let scene = Scene::for_files(true);
    let _ = scene.permit(&id("key"), &[]).fill(draft("body"), Ttl::Forever).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    assert!(matches!(peek_from(&scene, &elsewhere), PeekOutcome::Hit(_)));
    assert_eq!(scene.store.get(&id("key")).unwrap().unwrap().head.header.sources.place, None);
}
