//! What somebody has deleted of it: the doctor says so, and the next sync writes it again.

use std::fs;

use serde_json::Value;

use super::{RULES, SKILLS, Scene, on_testing};

/// What the doctor says about it, by code.
fn found(scene: &Scene) -> Vec<Value> {
    let report = scene.run(&["doctor", "--json"]).json();
    let all = report["findings"].as_array().unwrap().clone();
    all.into_iter().filter(|it| it["check"] == "synced").collect()
}

fn codes(found: &[Value]) -> Vec<&str> {
    found.iter().map(|it| it["code"].as_str().unwrap()).collect()
}

#[test]
fn files_that_were_deleted_by_hand_are_missed_until_the_next_sync() {
    let mut scene = Scene::in_git(&[RULES, SKILLS]);
    on_testing(&scene);
    scene.sync();
    assert_eq!(codes(&found(&scene)), ["ok"]);

    let skill = scene.skills().join("recoup-testing/SKILL.md");
    fs::remove_file(&skill).unwrap();
    let said = found(&scene);
    assert_eq!(codes(&said), ["ok", "missing"]);
    assert_eq!(said[1]["state"], "warn");
    let what = said[1]["what"].as_str().unwrap();
    assert_eq!(what, "~/project/.claude/skills/recoup-testing/SKILL.md is missing");
    assert!(said[1]["remedy"].as_str().unwrap().contains("`recoup memory sync`"), "{said:?}");

    fs::remove_dir_all(scene.memory()).unwrap();
    let said = found(&scene);
    assert_eq!(codes(&said), ["ok", "missing"]);
    assert_eq!(said[1]["facts"]["files"], 4, "{said:?}");
    assert!(said[1]["what"].as_str().unwrap().ends_with("and 3 more are missing"), "{said:?}");

    scene.sync();
    assert_eq!(codes(&found(&scene)), ["ok"]);
    assert!(skill.exists());

    // Who wants none of it does not miss it.
    fs::remove_file(&skill).unwrap();
    scene.asked.clear();
    assert!(!codes(&found(&scene)).contains(&"missing"));
}

/// Its files went with it.
#[test]
fn nothing_is_missed_in_a_project_that_is_gone() {
    let scene = Scene::in_git(&[SKILLS]);
    on_testing(&scene);
    scene.sync();
    fs::remove_dir_all(scene.home.project()).unwrap();
    let elsewhere = scene.home.path("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let report = scene.run_in(&elsewhere, &["doctor", "--json"]).json();
    let all = report["findings"].as_array().unwrap();
    assert!(all.iter().all(|it| it["code"] != "missing"), "{report:#}");
}
