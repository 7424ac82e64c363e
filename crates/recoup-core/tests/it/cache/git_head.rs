//! `git:HEAD` as a source: another commit makes the entry a miss, and nothing else does.

use std::path::Path;
use std::process::Command;

use recoup_core::ErrorKind;
use recoup_core::cache::{LookupRequest, MissReason, PathContext, PeekOutcome, Ttl};
use recoup_core::key::Kind;

use super::Scene;
use crate::support::id;

pub(super) fn git(dir: &Path, arguments: &[&str]) {
    let run = Command::new("git")
        .current_dir(dir)
        .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
        .args(arguments)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .output()
        .unwrap();
    assert!(run.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&run.stderr));
}

pub(super) fn commit(dir: &Path) {
    git(dir, &["commit", "-q", "--allow-empty", "-m", "one more"]);
}

pub(super) fn repository() -> Scene {
    let scene = Scene::for_files(true);
    git(scene.dir.path(), &["init", "-q", "-b", "main"]);
    scene
}

fn assert_stale(scene: &Scene, what: &str) {
    let reason = scene.miss("key");
    let is_head = matches!(&reason, MissReason::SourceModified(path) if path == "git:HEAD");
    assert!(is_head, "{what}: {reason:?}");
}

fn fill(scene: &Scene) {
    scene.fill("key", "body", Ttl::Forever, &["git:HEAD"]);
    assert!(scene.hits("key"));
}

#[test]
fn a_commit_makes_it_stale() {
    let scene = repository();
    let dir = scene.dir.path();
    fill(&scene);
    commit(dir);
    assert_stale(&scene, "the first commit");
    fill(&scene);
    commit(dir);
    assert_stale(&scene, "another");
    fill(&scene);
    git(dir, &["reset", "-q", "--hard", "HEAD~1"]);
    assert_stale(&scene, "back again");
}

#[test]
fn the_same_commit_stays_fresh_however_it_is_named() {
    let scene = repository();
    let dir = scene.dir.path();
    commit(dir);
    fill(&scene);
    git(dir, &["pack-refs", "--all"]);
    assert!(scene.hits("key"), "packed");
    git(dir, &["checkout", "-q", "-b", "other"]);
    assert!(scene.hits("key"), "another branch");
    git(dir, &["checkout", "-q", "--detach"]);
    assert!(scene.hits("key"), "detached");
    scene.write("untracked.txt", "x");
    assert!(scene.hits("key"), "an edit is no commit");
    commit(dir);
    assert_stale(&scene, "a detached commit");
}

#[test]
fn a_packed_branch_that_moves_makes_it_stale() {
    let scene = repository();
    let dir = scene.dir.path();
    commit(dir);
    git(dir, &["pack-refs", "--all"]);
    fill(&scene);
    commit(dir);
    git(dir, &["pack-refs", "--all"]);
    assert_stale(&scene, "packed again");
}

#[test]
fn each_worktree_has_its_own_head() {
    let scene = repository();
    commit(scene.dir.path());
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().join("tree");
    git(scene.dir.path(), &["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    fill(&scene);
    let peek = |dir: &Path| {
        let view = PathContext::at(dir);
        scene.cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &view))
    };
    assert!(matches!(peek(&tree), PeekOutcome::Hit(_)), "the same commit");
    commit(&tree);
    assert!(matches!(peek(&tree), PeekOutcome::Miss(MissReason::SourceModified(_))));
    assert!(scene.hits("key"), "not in the main worktree");
}

#[test]
fn a_commit_during_the_work_is_a_refusal() {
    let scene = repository();
    commit(scene.dir.path());
    let permit = scene.permit(&id("key"), &["git:HEAD"]);
    commit(scene.dir.path());
    let filled = permit.fill(crate::support::draft("body"), Ttl::Forever).unwrap();
    assert!(matches!(filled, recoup_core::cache::FillOutcome::Refused(_)), "{filled:?}");
}

#[test]
fn outside_of_a_repository_it_is_an_error() {
    let scene = Scene::new();
    let error = scene.try_permit(&id("key"), &["git:HEAD"]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Absent);
    assert!(error.to_string().contains("git:HEAD"), "{error}");
}

#[test]
fn another_repository_is_named_by_its_directory() {
    let scene = repository();
    commit(scene.dir.path());
    let other = tempfile::tempdir().unwrap();
    git(other.path(), &["init", "-q"]);
    commit(other.path());
    std::fs::create_dir(other.path().join("sub")).unwrap();
    let source = format!("{}/sub/git:HEAD", other.path().display());
    scene.fill("key", "body", Ttl::Forever, &[&source]);
    commit(scene.dir.path());
    assert!(scene.hits("key"), "not in this repository");
    commit(other.path());
    assert!(matches!(scene.miss("key"), MissReason::SourceModified(_)));
    let missing = format!("{}/missing/git:HEAD", other.path().display());
    assert!(scene.try_permit(&id("key"), &[&missing]).is_err());
}

#[test]
fn any_change_of_references_in_tables_makes_it_stale() {
    let scene = Scene::for_files(true);
    let dir = scene.dir.path();
    let made = Command::new("git")
        .current_dir(dir)
        .args(["init", "-q", "--ref-format=reftable"])
        .output()
        .unwrap();
    if !made.status.success() {
        return; // an older git
    }
    commit(dir);
    fill(&scene);
    commit(dir);
    assert_stale(&scene, "tables");
}
