//! Folders that lead elsewhere, or can't be written to.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::{RULES, SKILLS, Scene, on_testing};
use crate::support::tree;

#[test]
fn a_project_whose_name_is_no_text_is_told_as_far_as_it_can_be() {
    let scene = Scene::asking(&[RULES, SKILLS]);
    let root = scene.home.path("").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&root).unwrap();
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.run_in(&root, &["memory", "add", text]).expect(0);
    }
    let report = scene.run_in(&root, &["memory", "sync", "--json"]).expect(1).json();
    let fault = &report["faults"][0];
    assert!(fault["dir"].as_str().unwrap().contains("caf"), "{report}");
    assert!(fault["why"].as_str().unwrap().contains("not UTF-8"), "{report}");
}

#[test]
fn a_linked_folder_is_not_followed() {
    for linked in [".claude", ".claude/skills", ".claude/skills/recoup-testing"] {
        let scene = Scene::in_git(&[SKILLS]);
        on_testing(&scene);
        let (target, link) = (scene.home.path("elsewhere"), scene.home.project().join(linked));
        fs::create_dir(&target).unwrap();
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&target, &link).unwrap();
        let output = scene.run(&["memory", "sync"]).expect(1);
        assert!(
            output.stderr.contains("is a symbolic link, which recoup does not follow"),
            "{}",
            output.stderr
        );
        assert!(tree(&target).is_empty(), "{linked}");
        let exclude = fs::read_to_string(scene.home.project().join(".git/info/exclude")).unwrap();
        assert!(!exclude.contains("recoup"), "and nothing is half done");
    }
}

#[test]
fn a_linked_index_is_not_written_through() {
    let scene = Scene::asking(&[RULES]);
    scene.add("use pnpm");
    fs::create_dir_all(scene.memory()).unwrap();
    let target = scene.home.path("theirs.md");
    fs::write(&target, "theirs\n").unwrap();
    symlink(&target, scene.memory().join("MEMORY.md")).unwrap();
    let output = scene.run(&["memory", "sync"]).expect(1);
    assert!(output.stderr.contains("is a symbolic link: recoup does not"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(&target).unwrap(), "theirs\n");
    assert_eq!(tree(&scene.memory()).len(), 1);
}

#[test]
fn what_can_not_be_written_is_said_and_the_rest_is_done() {
    if rustix::process::geteuid().is_root() {
        // Nothing is read-only to them; a file in a folder's place is in the way all the same.
        let scene = Scene::in_git(&[RULES, SKILLS]);
        on_testing(&scene);
        fs::write(scene.home.project().join(".claude"), "a file").unwrap();
        let output = scene.run(&["memory", "sync"]).expect(1);
        assert!(output.stderr.contains(".claude is not a directory"), "{}", output.stderr);
        assert!(scene.index().contains("vitest"), "rules are in step");
        return;
    }
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    fs::create_dir_all(scene.skills()).unwrap();
    fs::set_permissions(scene.skills(), fs::Permissions::from_mode(0o555)).unwrap();
    let output = scene.run(&["memory", "sync"]).expect(1);
    assert!(output.stderr.contains("cannot update "), "{}", output.stderr);
    assert!(scene.index().contains("vitest"), "rules are in step");
    fs::set_permissions(scene.skills(), fs::Permissions::from_mode(0o755)).unwrap();
    scene.sync();
    assert!(scene.skills().join("recoup-testing/SKILL.md").exists());
}

/// Others may be writing beside our files: `recoup init` has a lock of its own.
#[test]
fn where_others_may_be_writing_only_what_was_left_long_ago_is_swept() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    let dirs = [scene.home.project().join(".git/info"), scene.memory()];
    let left = dirs.clone().map(|dir| dir.join(".recoup-AbC123"));
    let fresh = dirs.map(|dir| dir.join(".recoup-AbC124"));
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    for path in left.iter().chain(&fresh) {
        fs::write(path, "{}").unwrap();
    }
    for path in &left {
        fs::File::options().write(true).open(path).unwrap().set_modified(old).unwrap();
    }
    // It can't be removed, and is in nobody's way.
    let dir = scene.memory().join(".recoup-AbC125");
    fs::create_dir(&dir).unwrap();
    fs::File::open(&dir).unwrap().set_modified(old).unwrap();
    scene.add("no test may sleep");
    scene.sync();
    assert!(scene.index().contains("no test may sleep"));
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
    assert_eq!(fresh.map(|path| path.exists()), [true, false], "git's directory, and our own");
}
