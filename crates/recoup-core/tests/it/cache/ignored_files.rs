//! What is passed over below a directory or a glob: git's own files, and what
//! the repository says is none of its own.

use std::fs;

use recoup_core::cache::{MissReason, Ttl};

use super::Scene;
use crate::support::id;

/// A repository that ignores `build/` and logs.
fn scene() -> Scene {
    let scene = Scene::for_files(true);
    scene.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.write(".gitignore", "build/\n*.log\n");
    scene.write("src/a.rs", "a");
    scene.write("src/debug.log", "log");
    scene.write("build/out.js", "out");
    scene.write("build/deep/out.js", "out");
    scene
}

fn paths(scene: &Scene) -> Vec<String> {
    let sources = scene.store.get(&id("key")).unwrap().unwrap().head.header.sources.clone();
    sources.files.into_iter().map(|file| file.path).collect()
}

#[test]
fn gits_own_files_are_passed_over() {
    let scene = scene();
    scene.fill("key", "body", Ttl::Forever, &["."]);
    assert_eq!(paths(&scene), [".gitignore", "src/a.rs"]);
    scene.write(".git/index", "changes all the time");
    assert!(scene.hits("key"));
    scene.fill("key", "body", Ttl::Forever, &["**"]);
    assert_eq!(paths(&scene), [".gitignore", "src/a.rs"]);
}

#[test]
fn what_the_repository_ignores_is_passed_over() {
    for source in ["src", "src/*", "**/*"] {
        let scene = scene();
        scene.fill("key", "body", Ttl::Forever, &[source]);
        assert!(paths(&scene).contains(&"src/a.rs".to_owned()), "{source}");
        scene.write("src/debug.log", "more");
        scene.write("src/new.log", "");
        scene.write("build/new.js", "");
        assert!(scene.hits("key"), "{source}");
        scene.write("src/new.rs", "");
        assert!(
            matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "src/new.rs")
        );
    }
}

#[test]
fn an_ignore_file_above_the_directory_counts() {
    let scene = scene();
    scene.write("src/deep/b.rs", "b");
    scene.fill("key", "body", Ttl::Forever, &["src/deep"]);
    scene.write("src/deep/new.log", "");
    assert!(scene.hits("key"));
}

#[test]
fn what_is_ignored_counts_when_it_is_named_outright() {
    let scene = scene();
    scene.fill("key", "body", Ttl::Forever, &["src/debug.log"]);
    scene.write("src/debug.log", "more");
    assert!(matches!(scene.miss("key"), MissReason::SourceModified(_)));

    scene.fill("key", "body", Ttl::Forever, &["build"]);
    assert_eq!(paths(&scene), ["build/deep/out.js", "build/out.js"]);
    scene.write("build/deep/new.js", "");
    assert!(
        matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "build/deep/new.js")
    );
}

#[test]
fn a_new_rule_that_ignores_nothing_known_changes_nothing_but_its_own_file() {
    let scene = scene();
    scene.fill("key", "body", Ttl::Forever, &["src"]);
    scene.write(".gitignore", "build/\n*.log\n*.tmp\n");
    scene.write("src/new.tmp", "");
    assert!(scene.hits("key"));
    scene.write(".gitignore", "build/\n");
    assert!(
        matches!(scene.miss("key"), MissReason::SourceModified(path) if path == "src/debug.log")
    );
}

#[test]
fn outside_a_repository_an_ignore_file_is_a_file_like_any_other() {
    let scene = scene();
    fs::remove_dir_all(scene.path(".git")).unwrap();
    scene.fill("key", "body", Ttl::Forever, &["src"]);
    assert_eq!(paths(&scene), ["src/a.rs", "src/debug.log"]);
}
