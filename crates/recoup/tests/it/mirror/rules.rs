//! Rules in Claude Code's own memory.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{RULES, Scene, git, paths};
use crate::support::{RECOUP, tree};

#[test]
fn a_rule_is_a_file_and_a_line_in_the_index() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    let report = scene.sync();
    assert_eq!(paths(&report, "written"), ["MEMORY.md".to_owned(), format!("recoup-{id}.md")]);
    let line = format!("- [preference](recoup-{id}.md) — use pnpm\n");
    assert!(scene.index().contains(&line), "{}", scene.index());
    let file = scene.memory().join(format!("recoup-{id}.md"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.starts_with(&format!("---\nname: recoup-{id}\ndescription: \"use pnpm\"\n")),
        "{text}"
    );
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(scene.sync()["changes"], json!([]), "and that is that");
}

#[test]
fn the_index_of_others_stays_as_it_was() {
    for index in ["- [Mine](mine.md) — é\r\n\r\n- more\r\n", "no end", "", "# Title\n\n- x\n"] {
        let scene = Scene::asking(&[RULES]);
        let path = scene.memory().join("MEMORY.md");
        fs::create_dir_all(scene.memory()).unwrap();
        fs::write(&path, index).unwrap();
        fs::write(scene.memory().join("mine.md"), "mine").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let id = scene.add("use pnpm");
        scene.sync();
        assert!(scene.index().starts_with(index), "{}", scene.index());
        assert!(scene.index().contains("use pnpm"));
        scene.run(&["memory", "retire", &id]).expect(0);
        assert_eq!(scene.index(), index);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
        let left = tree(&scene.memory());
        assert_eq!(left, [path, scene.memory().join("mine.md")], "nothing else was touched");
    }
}

#[test]
fn switched_off_nothing_of_ours_stays() {
    let mut scene = Scene::asking(&[RULES]);
    scene.add("use pnpm");
    scene.sync();
    scene.asked.clear();
    let report = scene.sync();
    assert_eq!(paths(&report, "removed").len(), 2, "{report}");
    assert_eq!(tree(&scene.home.path(".claude")), Vec::<std::path::PathBuf>::new());
    assert!(!scene.home.recoup().join("mirrors.json").exists());
}

#[test]
fn thirty_rules_at_most_go_there() {
    let scene = Scene::asking(&[RULES]);
    for number in 0..35 {
        scene.add(&format!("call module number {number} by its name"));
    }
    scene.sync();
    assert_eq!(tree(&scene.memory()).len(), 31);
    assert_eq!(scene.index().matches("](recoup-").count(), 30);
}

#[test]
fn what_somebody_has_changed_is_left_and_told() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    scene.sync();
    let file = scene.memory().join(format!("recoup-{id}.md"));
    fs::write(&file, "my own words").unwrap();
    let output = scene.run(&["memory", "edit", &id, "use", "bun"]).expect(0);
    assert!(output.stderr.contains("was changed since recoup wrote it"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "my own words");
    assert_eq!(scene.sync()["left"], json!([file]));
    fs::remove_file(&file).unwrap();
    scene.sync();
    assert!(fs::read_to_string(&file).unwrap().contains("use bun"));
}

#[test]
fn a_file_of_that_name_that_is_not_ours_is_not_touched() {
    let scene = Scene::asking(&[RULES]);
    let id = scene.add("use pnpm");
    let file = scene.memory().join(format!("recoup-{id}.md"));
    fs::create_dir_all(scene.memory()).unwrap();
    fs::write(&file, "somebody else's").unwrap();
    assert_eq!(scene.sync()["left"], json!([file]));
    assert_eq!(fs::read_to_string(&file).unwrap(), "somebody else's");
}

#[test]
fn what_hooks_give_is_not_synced_as_well() {
    let scene = Scene::asking(&[RULES]);
    let hook = json!({"type": "command", "command": RECOUP, "args": ["hook"]});
    let settings = json!({"hooks": {"SessionStart": [{"hooks": [hook]}]}});
    let path = scene.home.path(".claude/settings.json");
    scene.add("use pnpm");
    scene.sync();
    assert!(scene.memory().exists());
    fs::write(&path, settings.to_string()).unwrap();
    let report = scene.sync();
    assert!(!scene.memory().exists(), "{report}");
    assert!(report["remarks"][0].as_str().unwrap().contains("hooks already deliver"), "{report}");

    // What there is no room for at the start of a session is.
    for number in 0..40 {
        scene.add(&format!("rule {number}: {}", "say it in plain and simple words ".repeat(9)));
    }
    scene.sync();
    let rules = scene.run(&["memory", "rules"]).expect(0).text();
    assert!(rules.contains("More rules are recorded"), "{rules}");
    let synced: Vec<String> = tree(&scene.memory())
        .iter()
        .filter(|path| !path.ends_with("MEMORY.md"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert!(!synced.is_empty());
    let both = (0..40).map(|number| format!("rule {number}: "));
    let both: Vec<String> = both
        .filter(|it| rules.contains(it) && synced.iter().any(|text| text.contains(it)))
        .collect();
    assert_eq!(both, Vec::<String>::new());
}

#[test]
fn worktrees_share_the_memory_of_the_main_one() {
    let scene = Scene::in_git(&[RULES]);
    let (main, side) = (scene.home.project(), scene.home.path("side"));
    git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&main, &["worktree", "add", "-q", side.to_str().unwrap()]);
    let id = scene.add("use pnpm");
    scene.run_in(&side, &["memory", "sync"]).expect(0);
    assert!(scene.memory().join(format!("recoup-{id}.md")).exists());
    assert_eq!(fs::read_dir(scene.home.path(".claude/projects")).unwrap().count(), 1);
}

#[test]
fn another_home_of_the_client_is_where_it_says() {
    let mut scene = Scene::asking(&[RULES, ("CLAUDE_CONFIG_DIR", "../other")]);
    let id = scene.add("use pnpm");
    let report = scene.sync();
    assert!(report["remarks"][0].as_str().unwrap().contains("does not exist"), "{report}");
    fs::create_dir(scene.home.path("other")).unwrap();
    scene.sync();
    let found = tree(&scene.home.path("other"));
    assert!(found.iter().any(|path| path.ends_with(format!("recoup-{id}.md"))), "{found:?}");
    scene.asked.clear();
    assert!(tree(&scene.home.path(".claude")).is_empty());
}

#[test]
fn where_the_client_reads_it_elsewhere_or_not_at_all_nothing_is_written() {
    let (off, moved) = (json!({"autoMemoryEnabled": false}), json!({"autoMemoryDirectory": "~/m"}));
    for (settings, words) in [(off, "disables"), (moved, "other projects would read")] {
        let scene = Scene::asking(&[RULES]);
        fs::write(scene.home.path(".claude/settings.json"), settings.to_string()).unwrap();
        scene.add("use pnpm");
        let report = scene.sync();
        assert!(report["remarks"][0].as_str().unwrap().contains(words), "{report}");
        assert!(!scene.memory().exists());
    }
}

#[test]
fn an_index_with_broken_marks_has_ours_once_and_theirs_as_it_was() {
    let scene = Scene::asking(&[RULES]);
    fs::create_dir_all(scene.memory()).unwrap();
    let broken = "<!-- recoup: begin -->\n- mine\n";
    fs::write(scene.memory().join("MEMORY.md"), broken).unwrap();
    scene.add("use pnpm");
    scene.sync();
    assert_eq!(scene.index().matches("recoup: begin").count(), 1, "{}", scene.index());
    assert!(scene.index().ends_with("<!-- recoup: end -->\n- mine\n"), "{}", scene.index());
    scene.run(&["memory", "sync", "--remove"]).expect(0);
    assert_eq!(scene.index(), "- mine\n");
}

#[test]
fn other_projects_rules_stay_theirs() {
    let scene = Scene::asking(&[RULES]);
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    scene.run_in(&other, &["memory", "add", "use yarn over there"]).expect(0);
    scene.run_in(&other, &["memory", "add", "--universal", "answer in English"]).expect(0);
    scene.sync();
    assert!(scene.index().contains("answer in English"));
    assert!(!scene.index().contains("yarn"));
}
