//! Switched off or paused nothing new is written anywhere, and what is there goes.

use std::fs;
use std::path::{Path, PathBuf};

use super::{RULES, SKILLS, Scene, USERS, git, on_testing, paths};
use crate::support::tree;

const OFF: [(&str, &str); 2] = [("RECOUP_RULES_SYNC", "0"), ("RECOUP_SKILLS_ENABLED", "0")];

fn synced(asked: &[(&'static str, &'static str)]) -> (Scene, String) {
    let scene = Scene::in_git(asked);
    on_testing(&scene);
    let id = scene.add("tests of the zebra project need staging");
    scene.sync();
    (scene, id)
}

#[test]
fn switched_off_a_new_statement_goes_nowhere() {
    let (mut scene, id) = synced(&[RULES, SKILLS]);
    for asked in [&[][..], &OFF] {
        scene.asked = asked.to_vec();
        scene.add("prefer walrus operators in tests");
        scene.assert_nowhere("walrus");
    }
    scene.run(&["memory", "edit", &id, "tests of the otter project"]).expect(0);
    scene.assert_nowhere("otter");
    scene.assert_nowhere("zebra");
    assert!(scene.index().contains("vitest"), "what is there stays until the next sync");
}

#[test]
fn switched_off_by_the_repository_a_new_statement_goes_nowhere() {
    let (scene, _) = synced(&[]);
    fs::create_dir_all(scene.home.recoup()).unwrap();
    let config = "[rules]\nsync = true\n[skills]\nenabled = true\n";
    fs::write(scene.home.recoup().join("config.toml"), config).unwrap();
    scene.sync();
    assert!(scene.index().contains("vitest"));
    scene.home.write("recoup.toml", "[rules]\nsync = false\n[skills]\nenabled = false\n");
    scene.add("prefer walrus operators in tests");
    scene.assert_nowhere("walrus");
}

#[test]
fn paused_no_new_words_are_written() {
    for pause in [&["pause"][..], &["pause", "--project"]] {
        let (scene, id) = synced(&[RULES, SKILLS]);
        scene.run(pause).expect(0);
        scene.run(&["memory", "edit", &id, "tests of the walrus"]);
        scene.assert_nowhere("walrus");
    }
}

fn other_project(scene: &Scene) -> PathBuf {
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.run_in(&other, &["memory", "add", text]).expect(0);
    }
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    assert!(scene.memory_of(&other).exists() && other.join(".claude").exists());
    other
}

fn is_clean(scene: &Scene, project: &Path) -> bool {
    !scene.memory_of(project).exists() && !project.join(".claude").exists()
}

#[test]
fn switched_off_by_the_user_everything_goes_from_all_projects() {
    let (mut scene, _) = synced(&[RULES, SKILLS]);
    let other = other_project(&scene);
    scene.asked.clear();
    let synced = |scene: &Scene| {
        let report = scene.run(&["doctor", "--json"]).json();
        let all = report["findings"].as_array().unwrap().clone();
        all.into_iter().find(|it| it["check"] == "synced").unwrap()
    };
    assert_eq!(synced(&scene)["state"], "warn", "{}", synced(&scene));
    scene.sync();
    assert!(is_clean(&scene, &other) && is_clean(&scene, &scene.home.project()));
    assert!(!scene.home.recoup().join("mirrors.json").exists());
    assert_ne!(synced(&scene)["state"], "warn");
}

#[test]
fn switched_off_by_a_repository_it_goes_from_that_one_alone() {
    let (scene, _) = synced(&[]);
    fs::create_dir_all(scene.home.recoup()).unwrap();
    let config = "[rules]\nsync = true\n[skills]\nenabled = true\n";
    fs::write(scene.home.recoup().join("config.toml"), config).unwrap();
    scene.sync();
    let other = other_project(&scene);
    scene.home.write("recoup.toml", "[rules]\nsync = false\n[skills]\nenabled = false\n");
    scene.sync();
    assert!(!is_clean(&scene, &other) && is_clean(&scene, &scene.home.project()));
}

#[test]
fn a_change_of_place_reaches_all_projects() {
    let (mut scene, _) = synced(&[SKILLS]);
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    scene.asked.push(USERS);
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    assert!(!scene.home.project().join(".claude").exists());
}

#[test]
fn init_with_a_no_takes_everything_out() {
    let (mut scene, _) = synced(&[RULES, SKILLS]);
    let other = other_project(&scene);
    scene.asked.clear();
    scene.init(&["--sync-rules", "no", "--skills", "off"]);
    assert!(is_clean(&scene, &other), "{:?}", tree(&other));
    scene.assert_nowhere("vitest");
}

#[test]
fn taken_out_while_it_is_on_it_is_said_that_it_comes_back() {
    let (mut scene, _) = synced(&[RULES]);
    let output = scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert!(
        output.stderr.contains("will write them again after the next answer"),
        "{}",
        output.stderr
    );
    scene.sync();
    scene.asked.clear();
    let output = scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert!(!output.stderr.contains("will write them again"), "{}", output.stderr);
    scene.asked.push(RULES);
    assert_eq!(paths(&scene.sync(), "written").len(), 5);
}
