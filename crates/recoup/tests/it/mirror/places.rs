//! Homes, repositories and registers that are not where or what they were.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;

use serde_json::json;

use super::{RULES, SKILLS, Scene, USERS, git, on_testing, paths};
use crate::support::{finish, tree};

#[test]
fn a_home_by_another_name_is_the_same_home() {
    let scene = Scene::asking(&[SKILLS]);
    let home = scene.home.path("");
    let link = scene.home.path("link");
    symlink(&home, &link).unwrap();
    git(&home, &["init", "-q"]);
    for text in ["use vitest", "put tests in `t/`", "never mock the clock in a test"] {
        scene.run_in(&home, &["memory", "add", text]).expect(0);
    }
    for name in ["HOME", "CLAUDE_CONFIG_DIR"] {
        let mut command = scene.command(&["memory", "sync", "--json"]);
        let dir = if name == "HOME" { link.clone() } else { link.join(".claude") };
        command.current_dir(&home).env(name, dir).env("RECOUP_HOME", scene.home.recoup());
        let report = finish(&mut command).expect(0).json();
        assert!(report["remarks"].to_string().contains("visible to all projects"), "{report}");
        assert!(!home.join(".claude/skills").exists(), "{name}: {report}");
    }
}

#[test]
fn another_directory_of_the_client_leaves_the_first_alone() {
    let scene = Scene::asking(&[RULES]);
    scene.add("use pnpm");
    scene.sync();
    let mut command = scene.command(&["memory", "add", "answer in English"]);
    finish(command.env("CLAUDE_CONFIG_DIR", "/none")).expect(0);
    assert!(scene.index().contains("pnpm") && scene.index().contains("English"), "and is in step");
}

#[test]
fn a_repository_that_was_moved_keeps_its_skills_in_step() {
    let scene = Scene::in_git(&[SKILLS]);
    let (old, new) = (scene.home.project(), scene.home.path("moved"));
    git(&old, &["remote", "add", "origin", "https://example.com/me/it.git"]);
    on_testing(&scene);
    scene.sync();
    fs::rename(&old, &new).unwrap();
    let report = scene.run_in(&new, &["memory", "sync", "--json"]).expect(0).json();
    assert_eq!(report["left"], json!([]), "{report}");
    scene.run_in(&new, &["memory", "add", "every walrus has a test"]).expect(0);
    let skill = new.join(".claude/skills/recoup-testing/SKILL.md");
    assert!(fs::read_to_string(&skill).unwrap().contains("walrus"));
    scene.run_in(&new, &["memory", "sync", "--remove"]).expect(0);
    assert!(!skill.exists());
}

#[test]
fn a_repository_that_is_another_by_its_new_place_has_no_skills_of_the_old() {
    let scene = Scene::in_git(&[SKILLS]);
    let (old, new) = (scene.home.project(), scene.home.path("moved"));
    on_testing(&scene);
    scene.sync();
    fs::rename(&old, &new).unwrap();
    scene.run_in(&new, &["memory", "sync"]).expect(0);
    let folder = new.join(".claude/skills/recoup-testing");
    let exclude = fs::read_to_string(new.join(".git/info/exclude")).unwrap();
    assert!(!folder.exists() && !exclude.contains("recoup"), "{exclude}");
}

#[test]
fn a_folder_that_somebody_has_changed_stays_hidden_in_its_new_place() {
    let scene = Scene::in_git(&[SKILLS]);
    let (old, new) = (scene.home.project(), scene.home.path("moved"));
    on_testing(&scene);
    scene.sync();
    fs::rename(&old, &new).unwrap();
    fs::write(new.join(".claude/skills/recoup-testing/SKILL.md"), "vitest, I say").unwrap();
    scene.run_in(&new, &["memory", "sync"]).expect(0);
    let exclude = fs::read_to_string(new.join(".git/info/exclude")).unwrap();
    assert!(exclude.contains("/.claude/skills/recoup-*/"), "{exclude}");
}

#[test]
fn two_projects_with_one_name_share_only_what_holds_everywhere() {
    let scene = Scene::asking(&[RULES]);
    let (one, other) = (scene.home.path("a.b"), scene.home.path("a_b"));
    for (dir, text) in [(&one, "use pnpm"), (&other, "use yarn")] {
        fs::create_dir(dir).unwrap();
        scene.run_in(dir, &["memory", "add", text]).expect(0);
    }
    scene.run(&["memory", "add", "--universal", "answer in English"]).expect(0);
    scene.run_in(&one, &["memory", "sync"]).expect(0);
    for dir in [&other, &one, &one, &other] {
        let report = scene.run_in(dir, &["memory", "sync", "--json"]).expect(0).json();
        assert!(report["remarks"].to_string().contains("several projects"), "{report}");
        let index = fs::read_to_string(scene.memory_of(&one).join("MEMORY.md")).unwrap();
        assert!(index.contains("English"), "{index}");
        assert!(!index.contains("pnpm") && !index.contains("yarn"), "{index}");
    }
    fs::remove_dir_all(&other).unwrap();
    scene.run_in(&one, &["memory", "sync"]).expect(0);
    let index = fs::read_to_string(scene.memory_of(&one).join("MEMORY.md")).unwrap();
    assert!(index.contains("pnpm"), "the other is gone: {index}");
}

#[test]
fn a_colleagues_skill_that_came_with_the_repository_is_theirs() {
    let scene = Scene::in_git(&[SKILLS]);
    on_testing(&scene);
    scene.sync();
    let folder = scene.skills().join("recoup-testing");
    git(&scene.home.project(), &["add", "-f", ".claude/skills/recoup-testing"]);
    // Another machine: nothing is known of it, and other things are remembered.
    fs::remove_dir_all(scene.home.recoup()).unwrap();
    let before = fs::read_to_string(folder.join("SKILL.md")).unwrap();
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.add(text);
    }
    scene.sync();
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(fs::read_to_string(folder.join("SKILL.md")).unwrap(), before);
    assert!(folder.join("manifest.json").exists() && folder.join(".gitignore").exists());
}

#[test]
fn a_name_that_is_no_text_does_not_spoil_other_places() {
    let scene = Scene::asking(&[RULES, SKILLS, USERS]);
    let root = scene.home.path("").join(OsStr::from_bytes(b"z\xff"));
    fs::create_dir(&root).unwrap();
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.run_in(&root, &["memory", "add", "--universal", text]).expect(0);
    }
    let report = scene.run_in(&root, &["memory", "sync", "--json"]).expect(1).json();
    assert_eq!(report["faults"].as_array().unwrap().len(), 1, "{report}");
    assert!(
        report["faults"][0]["why"].as_str().unwrap().contains("/z\u{fffd}: its name is not UTF-8"),
        "{report}"
    );
    assert!(scene.home.path(".claude/skills/recoup-testing/SKILL.md").exists(), "{report}");
}

#[test]
fn a_skill_of_somebodys_own_by_that_name_is_not_called_changed() {
    let scene = Scene::in_git(&[SKILLS]);
    let own = scene.home.write(".claude/skills/recoup-testing/SKILL.md", "mine");
    on_testing(&scene);
    let output = scene.run(&["memory", "sync"]).expect(0);
    assert!(output.stderr.contains("was not written by recoup"), "{}", output.stderr);
    assert!(!output.stderr.contains("delete it"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(own).unwrap(), "mine");
    let seen = git(&scene.home.project(), &["status", "--porcelain"]);
    assert_eq!(seen, "?? .claude/\n", "git still sees it");
}

#[test]
fn the_users_folder_may_be_a_link_and_a_projects_git_may_not() {
    let scene = Scene::asking(&[SKILLS, USERS]);
    let dotfiles = scene.home.path("dotfiles");
    fs::create_dir(&dotfiles).unwrap();
    symlink(&dotfiles, scene.home.path(".claude/skills")).unwrap();
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.run(&["memory", "add", "--universal", text]).expect(0);
    }
    scene.sync();
    assert!(dotfiles.join("recoup-testing/SKILL.md").exists());
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert!(tree(&dotfiles).is_empty() && scene.home.path(".claude/skills").is_symlink());

    let scene = Scene::in_git(&[SKILLS]);
    let (info, target) = (scene.home.project().join(".git/info"), scene.home.path("info"));
    fs::rename(&info, &target).unwrap();
    symlink(&target, &info).unwrap();
    let before = fs::read(target.join("exclude")).unwrap();
    on_testing(&scene);
    scene.run(&["memory", "sync"]).expect(1);
    assert_eq!(fs::read(target.join("exclude")).unwrap(), before);
    assert!(!scene.skills().join("recoup-testing").exists(), "what is not hidden is not written");
}

#[test]
fn only_what_is_in_the_skills_folder_itself_is_published_there() {
    for version in ["2", "4"] {
        let scene = Scene::in_git(&[SKILLS]);
        scene.home.write("sub/x.claude/skills/recoup-foo/SKILL.md", "x");
        scene.home.write(".claude/skills/other/SKILL.md", "x");
        git(&scene.home.project(), &["add", "."]);
        git(&scene.home.project(), &["update-index", "--index-version", version]);
        on_testing(&scene);
        let report = scene.sync();
        assert_eq!(report["remarks"], json!([]), "{report}");
        assert!(scene.skills().join("recoup-testing/SKILL.md").exists());
    }
}

#[test]
fn a_line_that_somebody_has_changed_is_left_and_told() {
    let scene = Scene::asking(&[RULES]);
    scene.add("use vitest");
    scene.add("answer in English");
    scene.sync();
    let path = scene.memory().join("MEMORY.md");
    fs::write(&path, scene.index().replace("— use vitest", "— EDITED by me\n")).unwrap();
    let output = scene.run(&["memory", "sync"]).expect(0);
    assert!(output.stderr.contains("has lines about recoup's files"), "{}", output.stderr);
    assert!(scene.index().contains("— EDITED by me\n\n"), "{}", scene.index());
    assert!(!scene.index().contains("vitest"), "and is not said twice: {}", scene.index());
    assert!(scene.index().contains("answer in English"));
    assert_eq!(paths(&scene.sync(), "written"), Vec::<String>::new(), "and that is that");
}

#[test]
fn the_most_particular_settings_of_the_client_count() {
    let scene = Scene::asking(&[RULES]);
    let settings = scene.home.path(".claude/settings.json");
    fs::write(settings, r#"{"autoMemoryEnabled": false}"#).unwrap();
    scene.home.write(".claude/settings.local.json", r#"{"autoMemoryEnabled": true}"#);
    scene.add("use pnpm");
    scene.sync();
    assert!(scene.index().contains("pnpm"));
}

/// Whether git has such a folder already can't be told: then nothing private goes there.
#[test]
fn what_git_has_is_not_guessed() {
    let make_huge = |scene: &Scene| {
        let index = scene.home.project().join(".git/index");
        let file = fs::File::options().write(true).open(index).unwrap();
        file.set_len(257 << 20).unwrap();
    };
    let remove = |scene: &Scene| {
        let index = scene.home.project().join(".git/index");
        fs::remove_file(&index).unwrap();
        fs::create_dir(&index).unwrap();
    };
    let split =
        |scene: &Scene| drop(git(&scene.home.project(), &["update-index", "--split-index"]));
    let spoil = |scene: &Scene| fs::write(scene.home.project().join(".git/index"), "?").unwrap();
    let ways: [&dyn Fn(&Scene); 4] = [&make_huge, &remove, &split, &spoil];
    for (n, change) in ways.into_iter().enumerate() {
        let scene = Scene::in_git(&[SKILLS]);
        scene.home.write(".claude/skills/recoup-foo/SKILL.md", "x");
        git(&scene.home.project(), &["add", "-A"]);
        change(&scene);
        on_testing(&scene);
        let report = scene.sync();
        assert!(!scene.skills().join("recoup-testing").exists(), "{n}: {report}");
        let remark = report["remarks"][0].as_str().unwrap();
        assert!(remark.contains("no skills are added"), "{n}: {report}");
    }
}
