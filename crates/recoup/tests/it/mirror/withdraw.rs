//! Everything out again.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use serde_json::json;

use super::{RULES, SKILLS, Scene, git, on_testing};
use crate::support::{finish, tree};

#[test]
fn all_that_was_put_anywhere_is_taken_out() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    fs::write(scene.home.path(".claude/CLAUDE.md"), "mine").unwrap();
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q"]);
    // The memory and what it needs, the same before and after.
    on_testing(&scene);
    let all = || {
        let all = [scene.home.path(".claude"), scene.home.project(), other.clone()];
        let read = |path: std::path::PathBuf| (path.clone(), fs::read(path).unwrap_or_default());
        all.iter().flat_map(|dir| tree(dir)).map(read).collect::<Vec<_>>()
    };
    let before = all();
    scene.sync();
    for text in ["write a test first", "run all tests", "no test may sleep"] {
        scene.run_in(&other, &["memory", "add", text]).expect(0);
    }
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    assert_ne!(all(), before);
    let dry = scene.run(&["memory", "sync", "--remove", "--dry-run"]).expect(0).text();
    assert!(dry.contains("remove "), "{dry}");
    assert_ne!(all(), before);
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(all(), before);
    assert!(!scene.home.recoup().join("mirrors.json").exists());
}

#[test]
fn what_is_somebody_elses_by_now_stays() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let [id, ..] = on_testing(&scene);
    scene.sync();
    let (rule, skill) =
        (scene.memory().join(format!("recoup-{id}.md")), scene.skills().join("mine/SKILL.md"));
    fs::write(&rule, "mine now").unwrap();
    fs::create_dir_all(skill.parent().unwrap()).unwrap();
    fs::write(&skill, "mine").unwrap();
    let report = scene.run(&["memory", "sync", "--remove", "--json"]).expect(0).json();
    assert_eq!(report["left"], json!([rule]));
    assert_eq!(tree(&scene.memory()), [rule]);
    assert_eq!(tree(&scene.skills()), [skill.parent().unwrap().to_owned(), skill]);
}

#[test]
fn uninstalling_takes_it_out_and_the_doctor_knows_of_it() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    let synced = || {
        let report = scene.run(&["doctor", "--json"]).json();
        let all = report["findings"].as_array().unwrap().clone();
        all.into_iter().find(|it| it["check"] == "synced").unwrap()
    };
    assert!(synced()["facts"]["files"].as_u64().unwrap() > 0);
    let dry = scene.run(&["uninstall", "--dry-run"]).expect(0).text();
    assert!(dry.contains("--- ") && dry.contains("MEMORY.md"), "{dry}");
    assert!(!tree(&scene.memory()).is_empty(), "nothing was done yet");
    scene.run(&["uninstall", "--client", "codex", "--yes"]).expect(0);
    assert!(!tree(&scene.memory()).is_empty(), "that was about another client");
    scene.run(&["uninstall", "--yes"]).expect(0);
    assert!(!scene.memory().exists() && !scene.skills().exists());
    assert_eq!(synced()["facts"]["files"], 0);
    scene.sync();
    scene.run(&["uninstall", "--purge", "--yes"]).expect(0);
    assert!(!scene.memory().exists() && !scene.home.recoup().exists());
}

#[test]
fn a_project_that_is_gone_is_no_fault() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    fs::remove_dir_all(scene.home.project()).unwrap();
    let home = scene.home.path("");
    scene.run_in(&home, &["memory", "sync", "--remove"]).expect(0);
    assert!(tree(&scene.home.path(".claude")).is_empty());
    assert!(!scene.home.recoup().join("mirrors.json").exists());
}

#[test]
fn nothing_was_ever_put_anywhere() {
    let scene = Scene::asking(&[]);
    let output = scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!((output.text(), &*output.stderr), (String::new(), "Nothing to change\n"));
}

#[test]
fn whoever_is_killed_in_between_leaves_nothing_that_is_not_known() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    // In git's own directory others may be writing: what is left there goes a minute later.
    let is_left = |path: &Path| path.to_string_lossy().contains("/.git/info/.recoup-");
    let all = || {
        let mut all = [tree(&scene.home.path(".claude")), tree(&scene.home.project())].concat();
        all.retain(|path| !is_left(path));
        all
    };
    let (before, mut cut_short) = (all(), 0);
    for step in 0..24 {
        let mut child = scene.command(&["memory", "sync"]).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(1_500 * step));
        child.kill().unwrap();
        cut_short += u32::from(!child.wait().unwrap().success());
        scene.run(&["memory", "sync", "--remove"]).expect(0);
        assert_eq!(all(), before, "step {step}");
    }
    assert!(cut_short > 0, "nobody was killed in time");
    scene.sync();
    assert!(scene.index().contains("vitest"));
}

#[test]
fn a_damaged_register_is_set_aside_and_made_anew() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    let path = scene.home.recoup().join("mirrors.json");
    let before = fs::read(&path).unwrap();
    let read = |bytes: &[u8]| serde_json::from_slice::<serde_json::Value>(bytes).unwrap();
    fs::write(&path, "{").unwrap();
    assert_eq!(scene.sync()["changes"], json!([]));
    let after = read(&fs::read(&path).unwrap());
    for place in 0..2 {
        assert_eq!(after["places"][place]["files"], read(&before)["places"][place]["files"]);
    }
    let aside = tree(&scene.home.recoup()).into_iter();
    let aside: Vec<_> =
        aside.filter(|it| it.to_string_lossy().contains("mirrors.json.damaged-")).collect();
    assert_eq!(aside.len(), 1, "{aside:?}");
    fs::write(&path, "{").unwrap();
    scene.run(&["uninstall", "--purge", "--yes"]).expect(0);
    scene.assert_nowhere("vitest");
    assert!(!scene.home.recoup().exists(), "{:?}", tree(&scene.home.recoup()));
}

#[test]
fn a_register_of_a_newer_version_is_named_and_nothing_else_waits_for_it() {
    let scene = Scene::asking(&[RULES]);
    scene.add("use pnpm");
    scene.sync();
    let path = scene.home.recoup().join("mirrors.json");
    let newer = r#"{"version": 9, "places": []}"#;
    fs::write(&path, newer).unwrap();
    let output = scene.run(&["memory", "sync"]).expect(1);
    assert!(output.stderr.contains("newer version of recoup"), "{}", output.stderr);
    scene.init(&[]);
    let output = scene.run(&["uninstall", "--yes"]).expect(1);
    assert!(output.stderr.contains("newer version of recoup"), "{}", output.stderr);
    assert!(!scene.home.path(".claude/settings.json").exists(), "hooks are out all the same");
    assert_eq!(fs::read_to_string(&path).unwrap(), newer);
}

#[test]
fn a_purge_names_what_it_leaves_and_does_not_say_that_nothing_is_left() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    let skill = scene.skills().join("recoup-testing/SKILL.md");
    fs::write(&skill, fs::read_to_string(&skill).unwrap() + "mine\n").unwrap();
    let index = scene.index().replace("<!-- recoup: end -->\n", "");
    fs::write(scene.memory().join("MEMORY.md"), index).unwrap();
    let output = scene.run(&["uninstall", "--purge", "--yes"]).expect(1);
    assert!(
        output.stderr.contains(&format!("{} was changed", skill.display())),
        "{}",
        output.stderr
    );
    assert!(
        !output.stderr.contains("all memories and cached results are deleted"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("the next sync write"), "{}", output.stderr);
    assert!(!scene.memory().exists(), "a mark that is missing keeps nothing");
}

#[test]
fn uninstalled_from_claude_code_alone_it_goes_too() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    scene.run(&["uninstall", "--client", "claude-code", "--yes"]).expect(0);
    scene.assert_nowhere("vitest");
}

#[test]
fn only_what_was_written_is_told() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    fs::write(scene.home.path(".claude/projects"), "a file where a directory belongs").unwrap();
    let report = scene.run(&["memory", "sync", "--json"]).expect(1).json();
    let changes = report["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 4, "a skill of three files, and it is hidden: {report}");
    for change in changes {
        let path = std::path::PathBuf::from(change["path"].as_str().unwrap());
        assert!(path.is_file(), "{path:?} is told and not there: {report}");
    }
    fs::remove_file(scene.home.path(".claude/projects")).unwrap();
    assert_eq!(super::paths(&scene.sync(), "written").len(), 4, "three rules and the index");
}

/// Somebody is syncing: whoever only looks waits for nobody, and leaves no trace.
#[test]
fn looking_takes_no_lock() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    let lock = scene.home.recoup().join("mirrors.lock");
    let synced = |report: &serde_json::Value| {
        let found = report["findings"].as_array().unwrap().iter();
        found.filter(|it| it["check"] == "synced").cloned().collect::<Vec<_>>()
    };
    let held = super::hold(&lock);
    let mut doctor = scene.command(&["doctor", "--json"]);
    let report = finish(doctor.env("PATH", "/usr/bin:/bin")).json();
    assert_eq!(synced(&report)[0]["state"], "ok", "{:?}", synced(&report));
    let would = scene.run(&["memory", "sync", "--remove", "--dry-run"]).expect(0);
    assert!(would.text().contains("MEMORY.md"), "{}", would.text());
    drop(held);
    fs::remove_file(&lock).unwrap();
    finish(scene.command(&["doctor"]).env("PATH", "/usr/bin:/bin"));
    assert!(!lock.exists());
}
