//! What is forgotten is gone from everywhere at once.

use std::fs;

use serde_json::json;

use super::{RULES, SKILLS, Scene, on_testing};

#[test]
fn forgotten_it_is_gone_from_rules_index_and_skills() {
    let scene = Scene::in_git(&[RULES, SKILLS]);
    let ids = on_testing(&scene);
    scene.add("every bug has a regression test");
    scene.sync();
    let skill = scene.skills().join("recoup-testing/SKILL.md");
    assert!(fs::read_to_string(&skill).unwrap().contains("vitest"));
    scene.run(&["memory", "forget", &ids[0], "--yes"]).expect(0);
    scene.assert_nowhere("vitest");
    scene.assert_nowhere(&ids[0]);
    assert!(fs::read_to_string(&skill).unwrap().contains("regression"), "the others stay");
    assert!(scene.index().contains("regression"));
    let register = fs::read_to_string(scene.home.recoup().join("mirrors.json")).unwrap();
    assert!(!register.contains("vitest") && !register.contains(&ids[0]), "{register}");
}

#[test]
fn also_from_other_projects_and_with_sync_switched_off_meanwhile() {
    let mut scene = Scene::in_git(&[RULES]);
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    let output =
        scene.run(&["memory", "add", "--universal", "--json", "answer in Klingon"]).expect(0);
    let id = output.json()["id"].as_str().unwrap().to_owned();
    scene.sync();
    scene.run_in(&other, &["memory", "sync"]).expect(0);
    assert!(scene.memory_of(&other).exists() && scene.memory().exists());
    scene.asked.clear();
    scene.run(&["memory", "forget", &id, "--yes"]).expect(0);
    scene.assert_nowhere("Klingon");
}

#[test]
fn while_memory_is_paused_it_is_gone_too() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    scene.sync();
    scene.run(&["pause"]).expect(0);
    scene.run(&["memory", "forget", &id, "--yes"]).expect(0);
    scene.assert_nowhere("pnpm");
}

#[test]
fn what_can_not_be_reached_is_named() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    scene.sync();
    let file = scene.memory().join(format!("recoup-{id}.md"));
    fs::write(&file, "as I said: use pnpm").unwrap();
    let output = scene.run(&["memory", "forget", &id, "--yes", "--json"]).expect(0);
    assert_eq!(output.json()["unreached"], json!([file]));
    assert!(!scene.memory().join("MEMORY.md").exists(), "the index is ours to change");
}

#[test]
fn edited_restored_and_superseded_at_once() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    scene.sync();
    scene.run(&["memory", "edit", &id, "use", "yarn"]).expect(0);
    assert!(scene.index().contains("use yarn") && !scene.index().contains("pnpm"));
    scene.add("use bun");
    assert!(scene.index().contains("use bun") && !scene.index().contains("yarn"));
    scene.run(&["memory", "restore", &id]).expect(0);
    assert!(scene.index().contains("use yarn") && !scene.index().contains("bun"));
}

#[test]
fn what_is_wrong_with_our_own_notes_about_it_hides_nothing() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    scene.sync();
    let file = scene.memory().join(format!("recoup-{id}.md"));
    fs::write(&file, "as I said: use pnpm").unwrap();
    // It can't be removed as the file that it should be.
    fs::create_dir(scene.home.recoup().join("mirrors.due")).unwrap();
    let output = scene.run(&["memory", "forget", &id, "--yes", "--json"]).expect(0);
    assert_eq!(output.json()["unreached"], json!([file]));
    assert_eq!(scene.run(&["memory", "list", "--json"]).expect(0).json(), json!([]));
}

#[test]
fn transcripts_of_claude_code_that_still_have_it_are_named() {
    let scene = Scene::asking(&[]);
    let (id, other) = (scene.add("say \"use vitest\""), scene.add("use pnpm"));
    let transcripts = scene.memory().parent().unwrap().to_owned();
    fs::create_dir_all(&transcripts).unwrap();
    let line = json!({"type": "user", "message": {"content": "always say \"use vitest\" here"}});
    fs::write(transcripts.join("s1.jsonl"), format!("{{}}\n{line}\n")).unwrap();
    let told = scene.run(&["memory", "forget", &other, "--yes"]).expect(0).stderr;
    assert!(!told.contains("transcripts"), "they do not have it: {told}");
    let told = scene.run(&["memory", "forget", &id, "--yes"]).expect(0).stderr;
    let named = format!(
        "{} may still contain it: it has Claude Code's own transcripts",
        transcripts.display()
    );
    assert!(told.contains(&named), "{told}");
    assert!(transcripts.join("s1.jsonl").exists(), "they are not ours");
}
