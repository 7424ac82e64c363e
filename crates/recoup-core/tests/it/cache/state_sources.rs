//! `git:index`, `dir:list` and `dir:tree` as sources: what is staged, and the names in a directory.

use std::fs;
use std::path::Path;

use recoup_core::cache::{LookupRequest, MissReason, PathContext, PeekOutcome, Ttl};
use recoup_core::key::Kind;

use super::Scene;
use super::git_head::{commit, git, repository};
use crate::support::id;

fn fill(scene: &Scene, source: &str) {
    scene.fill("key", "body", Ttl::Forever, &[source]);
    assert!(scene.hits("key"), "{source}");
}

fn assert_stale(scene: &Scene, what: &str) {
    let reason = scene.miss("key");
    assert!(matches!(&reason, MissReason::SourceModified(_)), "{what}: {reason:?}");
}

#[test]
fn what_is_staged_makes_it_stale() {
    for format in ["2", "4"] {
        let scene = repository();
        let dir = scene.dir.path();
        git(dir, &["config", "index.version", format]);
        fill(&scene, "git:index");
        for name in ["a.txt", "longer-name.txt", "longer-name-2.txt"] {
            scene.write(name, "one");
            assert!(scene.hits("key"), "an edit stages nothing");
            git(dir, &["add", "."]);
            assert_stale(&scene, "a new file");
            fill(&scene, "git:index");
        }
        scene.write("a.txt", "two");
        git(dir, &["add", "."]);
        assert_stale(&scene, "another content");
        fill(&scene, "git:index");
        git(dir, &["update-index", "--chmod=+x", "longer-name.txt"]);
        assert_stale(&scene, "another mode");
        fill(&scene, "git:index");
        git(dir, &["add", "-N", "."]);
        git(dir, &["mv", "a.txt", "b.txt"]);
        assert_stale(&scene, "another name");
        fill(&scene, "git:index");
        git(dir, &["rm", "-q", "-f", "--cached", "b.txt"]);
        assert_stale(&scene, "a removal");
    }
}

#[test]
fn times_that_git_refreshes_leave_it_fresh() {
    let scene = repository();
    let dir = scene.dir.path();
    scene.write("a.txt", "one");
    git(dir, &["add", "."]);
    fill(&scene, "git:index");
    let before = fs::read(dir.join(".git/index")).unwrap();
    fs::File::open(dir.join("a.txt")).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    git(dir, &["status"]);
    assert_ne!(fs::read(dir.join(".git/index")).unwrap(), before, "it was refreshed");
    assert!(scene.hits("key"));
    commit(dir);
    assert!(scene.hits("key"), "a commit stages nothing");
}

#[test]
fn each_worktree_has_its_own_index() {
    let scene = repository();
    commit(scene.dir.path());
    let other = tempfile::tempdir().unwrap();
    let tree = other.path().join("tree");
    git(scene.dir.path(), &["worktree", "add", "-q", "-b", "side", tree.to_str().unwrap()]);
    fill(&scene, "git:index");
    fs::write(tree.join("new.txt"), "x").unwrap();
    git(&tree, &["add", "."]);
    assert!(scene.hits("key"), "not in the main worktree");
    let view = PathContext::at(&tree);
    let found = scene.cache.peek(&LookupRequest::new(Kind::Result, &id("key"), &view));
    assert!(matches!(found, PeekOutcome::Miss(MissReason::SourceModified(_))));
}

#[test]
fn a_split_index_counts_whole() {
    let scene = repository();
    let dir = scene.dir.path();
    scene.write("a.txt", "one");
    git(dir, &["add", "."]);
    git(dir, &["update-index", "--split-index"]);
    fill(&scene, "git:index");
    scene.write("b.txt", "one");
    git(dir, &["add", "."]);
    assert_stale(&scene, "a new file");
}

#[test]
fn ignored_files_and_empty_directories_are_in_a_listing() {
    let scene = repository();
    let dir = scene.dir.path();
    let at = |path: &str| dir.join(path);
    fs::create_dir_all(at("sub/deep")).unwrap();
    scene.write(".gitignore", "*.log\n");
    scene.write("sub/a.log", "ignored");
    let steps: [(&str, bool, &dyn Fn()); 6] = [
        ("a new ignored file", true, &|| scene.write("sub/b.log", "x")),
        ("an ignored file that grows", true, &|| scene.write("sub/b.log", "longer")),
        ("an empty directory", true, &|| fs::create_dir(at("sub/empty")).unwrap()),
        ("a file below", false, &|| scene.write("sub/deep/c.log", "x")),
        ("a directory that goes", true, &|| fs::remove_dir(at("sub/empty")).unwrap()),
        ("a file that goes", true, &|| fs::remove_file(at("sub/b.log")).unwrap()),
    ];
    for (what, is_listed, step) in steps {
        scene.fill("list", "body", Ttl::Forever, &["sub/dir:list"]);
        fill(&scene, "sub/dir:tree");
        step();
        assert_stale(&scene, what);
        assert_eq!(scene.hits("list"), !is_listed, "{what}");
    }
    fill(&scene, "sub/dir:list");
    scene.write("elsewhere.txt", "x");
    assert!(scene.hits("key"), "not in this directory");
}

#[test]
fn what_is_no_directory_has_no_listing() {
    let scene = Scene::for_files(true);
    scene.write("a.txt", "x");
    for source in ["a.txt/dir:list", "missing/dir:tree"] {
        let error = scene.try_permit(&id("key"), &[source]).unwrap_err();
        assert!(error.to_string().contains("dir:"), "{error}");
    }
    let outside = Path::new("/").join("dir:list");
    fill(&scene, outside.to_str().unwrap());
}
