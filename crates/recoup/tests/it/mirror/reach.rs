//! Forgetting reaches what was written wherever it is, and whatever has become of what is
//! around it; and says which file still has the words.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::{RULES, SKILLS, Scene, git, hold, on_testing};
use crate::support::tree;

const ZEBRA: &str = "tests of the zebra project need staging";

/// Four statements on testing, synced; the id of the one about zebras.
fn synced(scene: &Scene) -> String {
    on_testing(scene);
    let id = scene.add(ZEBRA);
    scene.sync();
    id
}

fn forget(scene: &Scene, id: &str) -> Value {
    scene.run(&["memory", "forget", id, "--yes", "--json"]).expect(0).json()["unreached"].clone()
}

fn skill(scene: &Scene, name: &str) -> PathBuf {
    scene.skills().join("recoup-testing").join(name)
}

fn append(path: &PathBuf, text: &str) {
    let before = fs::read_to_string(path).unwrap();
    fs::write(path, before + text).unwrap();
}

#[test]
fn a_changed_neighbour_does_not_keep_the_words() {
    for neighbour in [".gitignore", "manifest.json"] {
        let scene = Scene::in_git(&[RULES, SKILLS]);
        let id = synced(&scene);
        append(&skill(&scene, neighbour), "\n");
        let unreached = forget(&scene, &id);
        scene.assert_nowhere("zebra");
        let expected = if neighbour == "manifest.json" {
            json!([skill(&scene, neighbour)])
        } else {
            json!([])
        };
        assert_eq!(unreached, expected, "its id is still in a changed manifest");
        assert!(fs::read_to_string(skill(&scene, "SKILL.md")).unwrap().contains("vitest"));
        assert!(skill(&scene, neighbour).exists(), "and the neighbour is left");
    }
}

#[test]
fn what_git_publishes_loses_the_words_too_and_gains_none() {
    let scene = Scene::in_git(&[SKILLS]);
    let id = synced(&scene);
    git(&scene.home.project(), &["add", "-f", ".claude/skills/recoup-testing/SKILL.md"]);
    scene.add("every walrus has a test");
    let text = || fs::read_to_string(skill(&scene, "SKILL.md")).unwrap();
    assert!(!text().contains("walrus"), "nothing is added to what is published");
    assert_eq!(forget(&scene, &id), json!([skill(&scene, "SKILL.md")]), "git still has it");
    assert!(!text().contains("zebra") && text().contains("vitest"), "{}", text());
}

#[test]
fn retired_and_edited_words_leave_what_git_publishes() {
    let scene = Scene::in_git(&[SKILLS]);
    let id = synced(&scene);
    let other = scene.add("every walrus has a test");
    git(&scene.home.project(), &["add", "-f", ".claude/skills/recoup-testing/SKILL.md"]);
    scene.run(&["memory", "retire", &id]).expect(0);
    scene.assert_nowhere("zebra");
    scene.run(&["memory", "edit", &other, "every", "otter", "has", "a", "test"]).expect(0);
    scene.assert_nowhere("walrus");
    scene.assert_nowhere("otter");
}

#[test]
fn words_that_were_escaped_are_found_in_what_somebody_has_changed() {
    let scene = Scene::in_git(&[SKILLS]);
    on_testing(&scene);
    let id = scene.add("ask @alice before <mocking> in tests");
    scene.sync();
    append(&skill(&scene, "SKILL.md"), "- mine\n");
    assert_eq!(forget(&scene, &id), json!([skill(&scene, "SKILL.md")]));
}

#[test]
fn an_index_without_our_marks_loses_our_lines_all_the_same() {
    let scene = Scene::asking(&[RULES]);
    let id = synced(&scene);
    let path = scene.memory().join("MEMORY.md");
    let lines = scene.index();
    let lines: Vec<&str> = lines.lines().filter(|line| !line.contains("recoup: ")).collect();
    fs::write(&path, lines.join("\n") + "\n- theirs\n").unwrap();
    assert_eq!(forget(&scene, &id), json!([]));
    scene.assert_nowhere("zebra");
    assert_eq!(scene.index().matches("vitest").count(), 1, "{}", scene.index());
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(scene.index(), "- theirs\n");
}

#[test]
fn without_a_register_it_is_found_by_looking() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let id = synced(&scene);
    fs::remove_file(scene.home.recoup().join("mirrors.json")).unwrap();
    assert_eq!(forget(&scene, &id), json!([]));
    scene.assert_nowhere("zebra");
    assert!(scene.index().contains("vitest"));
    fs::remove_file(scene.home.recoup().join("mirrors.json")).unwrap();
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    scene.assert_nowhere("vitest");
    assert!(!scene.memory().join("MEMORY.md").exists(), "{:?}", tree(&scene.memory()));
    assert!(!scene.skills().join("recoup-testing").exists());
}

#[test]
fn without_a_register_other_projects_are_found_too() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    let add = |text: &str| {
        let output = scene.run(&["memory", "add", "--universal", "--json", text]).expect(0);
        output.json()["id"].as_str().unwrap().to_owned()
    };
    add("write a test first");
    add("run all tests before you stop");
    let id = add(ZEBRA);
    scene.sync();
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    assert!(other.join(".claude/skills/recoup-testing/SKILL.md").exists());
    fs::remove_file(scene.home.recoup().join("mirrors.json")).unwrap();
    scene.run(&["memory", "forget", &id, "--yes"]).expect(0);
    scene.assert_nowhere("zebra");
    let left = tree(&other).into_iter().filter(|path| path.is_file());
    let left = left.map(|path| fs::read(path).unwrap()).collect::<Vec<_>>().concat();
    assert!(!String::from_utf8_lossy(&left).contains("zebra"));
}

#[test]
fn with_a_damaged_register_everything_is_reached() {
    for damaged in ["{\"ver", "", "[]", "{\"version\": 1, \"places\": 3}"] {
        let scene = Scene::in_git(&[RULES, SKILLS]);
        let id = synced(&scene);
        fs::write(scene.home.recoup().join("mirrors.json"), damaged).unwrap();
        assert_eq!(forget(&scene, &id), json!([]), "{damaged}");
        scene.assert_nowhere("zebra");
        assert!(scene.index().contains("vitest"));
    }
}

#[test]
fn while_somebody_holds_the_register_the_files_are_named_and_the_next_sync_reaches_them() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let id = synced(&scene);
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    let held = hold(&scene.home.recoup().join("mirrors.lock"));
    let unreached = forget(&scene, &id);
    drop(held);
    let named: Vec<String> = serde_json::from_value(unreached).unwrap();
    assert_eq!(named.len(), 4, "a rule, the index, a skill and its manifest: {named:?}");
    assert!(scene.run(&["memory", "show", &id]).code != Some(0), "it is forgotten all the same");
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    scene.assert_nowhere("zebra");
    scene.assert_nowhere(&id);
    assert!(scene.index().contains("vitest"), "and the others stay");
}

#[test]
fn an_index_that_can_not_be_changed_does_not_keep_the_rest() {
    type Spoil = fn(&PathBuf);
    let spoils: [(&str, Spoil); 3] = [
        ("large", |path| append(path, &"x".repeat(1 << 20))),
        ("link", |path| {
            let other = path.with_file_name("other.md");
            fs::rename(path, &other).unwrap();
            std::os::unix::fs::symlink(&other, path).unwrap();
        }),
        ("directory", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
    ];
    for (name, spoil) in spoils {
        let scene = Scene::in_git(&[RULES, SKILLS]);
        let id = synced(&scene);
        let index = scene.memory().join("MEMORY.md");
        spoil(&index);
        let output = scene.run(&["memory", "forget", &id, "--yes"]).expect(0);
        assert!(!scene.memory().join(format!("recoup-{id}.md")).exists(), "{name}");
        assert!(
            !fs::read_to_string(skill(&scene, "SKILL.md")).unwrap().contains("zebra"),
            "{name}"
        );
        let dir = format!("{} may still", scene.memory().display());
        assert!(
            !output.stderr.contains(&dir),
            "{name}: nobody deletes a directory: {}",
            output.stderr
        );
        let words = format!("{} may still contain it: it is in lines", index.display());
        assert_eq!(
            output.stderr.contains(&words),
            name != "directory",
            "{name}: {}",
            output.stderr
        );
    }
}

#[test]
fn an_exclude_file_with_a_mark_missing_does_not_keep_the_words() {
    let scene = Scene::in_git(&[SKILLS]);
    let id = synced(&scene);
    let exclude = scene.home.project().join(".git/info/exclude");
    let text = fs::read_to_string(&exclude).unwrap().replace("# recoup: end\n", "");
    fs::write(&exclude, &text).unwrap();
    assert_eq!(forget(&scene, &id), json!([]));
    scene.assert_nowhere("zebra");
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert!(!fs::read_to_string(&exclude).unwrap().contains("recoup"));
}

/// Another note may say the same and more.
#[test]
fn what_another_note_says_is_not_taken_for_the_forgotten() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let id = synced(&scene);
    scene.add(&format!("{ZEBRA}, and port 8443 in tests"));
    scene.sync();
    assert_eq!(forget(&scene, &id), json!([]));
    assert!(scene.index().contains("8443"));
}

/// Whoever still has the note can say it again; whoever has not, has no file of it either.
#[test]
fn whoever_is_killed_in_between_leaves_no_words_without_the_note() {
    let (mut cut_short, mut kept) = (0, 0);
    for step in 0..16 {
        let scene = Scene::in_git(&[RULES, SKILLS]);
        let id = synced(&scene);
        let mut command = scene.command(&["memory", "forget", &id, "--yes"]);
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(2_000 * step));
        child.kill().unwrap();
        cut_short += u32::from(!child.wait().unwrap().success());
        if scene.run(&["memory", "show", &id]).code == Some(0) {
            kept += 1;
            assert_eq!(forget(&scene, &id), json!([]));
        }
        scene.assert_nowhere("zebra");
        assert!(scene.index().contains("vitest"));
    }
    assert!(cut_short > 0 && kept > 0, "nobody was killed in time");
}
