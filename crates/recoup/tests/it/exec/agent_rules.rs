//! A client that has our hooks tells its agent what is remembered: that is part of what
//! its answer stands for. The client is a script named `claude`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::runs;
use crate::support::{Home, Output, finish};

/// Hooks as an installation leaves them.
const HOOKS: &str = r#"{"hooks": {"SessionStart": [
    {"hooks": [{"type": "command", "command": "/opt/bin/recoup", "args": ["hook"], "timeout": 5}]}
]}}"#;

/// A home in which `claude`, `codex` and `pi` are programs that count their runs.
struct Scene {
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let home = Home::new();
        for name in ["claude", "codex", "pi"] {
            let program = home.path("bin").join(name);
            let script = format!("#!/bin/sh\necho run >> {}\necho answer\n", runs_file(&home));
            write(&program, &script);
            fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        Self { home }
    }

    fn with_hooks() -> Self {
        let scene = Self::new();
        write(&scene.home.path(".claude/settings.json"), HOOKS);
        scene
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.home.command(args);
        let path = std::env::var("PATH").unwrap();
        command.env("PATH", format!("{}:{path}", self.home.path("bin").display()));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// Whether `recoup exec -- COMMAND` really runs it.
    #[track_caller]
    fn runs(&self, command: &[&str]) -> bool {
        let before = runs(&self.home);
        let said = self.run(&[&["exec", "--"], command].concat()).expect(0);
        assert_eq!((said.text().as_str(), said.stderr.as_str()), ("answer\n", ""));
        runs(&self.home) > before
    }

    /// The id of what is remembered now.
    fn remember(&self, args: &[&str]) -> String {
        let added = self.run(&[&["memory", "add", "--json"], args].concat()).expect(0).json();
        added["id"].as_str().unwrap().to_owned()
    }

    /// What is said about a command that is no hit, without keys and times.
    fn explain(&self, command: &[&str]) -> String {
        let output = self.run(&[&["explain", "exec", "--"], command].concat());
        let is_miss = output.text().starts_with("miss: ");
        let told = output.expect(i32::from(is_miss)).text();
        told.lines().filter(|line| !line.starts_with("nearest: ")).collect::<Vec<_>>().join("\n")
    }

    fn explain_json(&self, command: &[&str]) -> Value {
        self.run(&[&["explain", "--json", "exec", "--"], command].concat()).json()
    }
}

fn runs_file(home: &Home) -> String {
    home.path("runs").display().to_string()
}

fn write(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

const ASK: [&str; 3] = ["claude", "-p", "review src"];

#[test]
fn without_our_hooks_nothing_that_is_remembered_counts() {
    let scene = Scene::new();
    write(
        &scene.home.path(".claude/settings.json"),
        &HOOKS.replace("/opt/bin/recoup", "/opt/bin/another"),
    );
    assert!(scene.runs(&ASK));
    scene.remember(&["don't use var"]);
    assert!(!scene.runs(&ASK));
    let key = scene.explain_json(&ASK)["key"].as_str().unwrap().to_owned();
    let shown = scene.run(&["cache", "show", "--key", &key, "--json"]).expect(0).json();
    let names: Vec<&Value> =
        shown["parts"].as_array().unwrap().iter().map(|part| &part["name"]).collect();
    assert_eq!(names, ["executable", "directory", "arguments"]);
}

#[test]
fn what_is_synced_counts_without_hooks_too() {
    let scene = Scene::new();
    write(&scene.home.path("recoup/config.toml"), "[rules]\nsync = true\n");
    assert!(scene.runs(&ASK));
    scene.remember(&["don't use var"]);
    assert!(scene.runs(&ASK));
    assert!(!scene.runs(&ASK));
    assert!(scene.runs(&["codex", "exec", "review src"]));
    scene.remember(&["answer in English"]);
    assert!(!scene.runs(&["codex", "exec", "review src"]), "it reads nothing that is synced");
}

#[test]
fn a_correction_makes_an_answer_a_miss_and_is_named() {
    let scene = Scene::with_hooks();
    scene.remember(&["use npm"]);
    assert!(scene.runs(&ASK));
    assert!(!scene.runs(&ASK));
    let id = scene.remember(&["--kind", "correction", "don't use var"]);
    insta::assert_snapshot!(scene.explain(&ASK), @"
    miss: no entry for this key
      rules: “don't use var” is new
    ");
    assert!(scene.runs(&ASK));
    assert!(!scene.runs(&ASK));

    scene.run(&["memory", "retire", &id]).expect(0);
    assert!(!scene.runs(&ASK), "what it was told before is what it is told now");
    assert_eq!(runs(&scene.home), 2);
}

#[test]
fn what_is_gone_is_named_and_a_change_of_mind_is_both() {
    let scene = Scene::with_hooks();
    let tabs = scene.remember(&["indent with tabs"]);
    scene.remember(&["use npm"]);
    assert!(scene.runs(&ASK));
    scene.remember(&["use pnpm"]);
    insta::assert_snapshot!(scene.explain(&ASK), @"
    miss: no entry for this key
      rules: “use pnpm” is new
      rules: “use npm” is gone
    ");
    assert!(scene.runs(&ASK));
    scene.run(&["memory", "retire", &tabs]).expect(0);
    insta::assert_snapshot!(scene.explain(&ASK), @"
    miss: no entry for this key
      rules: “indent with tabs” is gone
    ");
}

#[test]
fn programs_are_told_each_rule_by_itself() {
    let scene = Scene::with_hooks();
    assert!(scene.runs(&ASK));
    let long = format!("don't use var {}", "in any of the old scripts ".repeat(20));
    let id = scene.remember(&[&long]);
    let explained = scene.explain_json(&ASK);
    let differences = explained["nearest"]["differences"].as_array().unwrap();
    assert_eq!(differences.len(), 1);
    let rule = &differences[0];
    assert_eq!((&rule["part"], &rule["code"]), (&"rules".into(), &"rule_new".into()));
    assert_eq!(rule["rule"], id);
    let now = rule["now"].as_str().unwrap();
    assert!(long.starts_with(now.trim_end_matches('…')), "{now}");
    assert!((80..=81).contains(&now.chars().count()), "{now}");
    assert!(rule.get("was").is_none());
}

#[test]
fn hooks_that_came_since_are_said() {
    let scene = Scene::new();
    scene.remember(&["use npm"]);
    assert!(scene.runs(&ASK));
    scene.home.write(".claude/settings.local.json", HOOKS);
    insta::assert_snapshot!(scene.explain(&ASK), @"
    miss: no entry for this key
      rules: hooks now deliver them to the agent, but did not before
      rules: “use npm” is new
    ");
    assert!(scene.runs(&ASK));
    fs::remove_file(scene.home.project().join(".claude/settings.local.json")).unwrap();
    assert!(!scene.runs(&ASK));
    insta::assert_snapshot!(scene.explain(&["claude", "-p", "review lib"]), @"
    miss: no entry for this key
      arguments: differs in the last word: “lib”, was “src”
    ");
}

#[test]
fn of_very_many_rules_some_are_named() {
    let scene = Scene::with_hooks();
    assert!(scene.runs(&ASK));
    for n in 0..13 {
        scene.remember(&["--topic", &format!("t{n}"), &format!("call file {n} by its name")]);
    }
    let told = scene.explain(&ASK);
    assert_eq!(told.lines().count(), 12, "{told}");
    assert!(told.ends_with("\n  rules: and 3 more"), "{told}");
    let all = scene.explain_json(&ASK)["nearest"]["differences"].as_array().unwrap().len();
    assert_eq!(all, 13);
}

#[test]
fn a_rule_counts_where_it_holds() {
    let scene = Scene::with_hooks();
    let other = scene.home.path("other");
    fs::create_dir(&other).unwrap();
    assert!(scene.runs(&ASK));
    let words = ["memory", "add", "use yarn"];
    finish(scene.command(&words).current_dir(&other)).expect(0);
    assert!(!scene.runs(&ASK), "that is another project's");
    scene.remember(&["--universal", "write short answers"]);
    assert!(scene.runs(&ASK));
}

#[test]
fn what_holds_no_longer_or_not_yet_is_not_told() {
    let scene = Scene::with_hooks();
    let id = scene.remember(&["use npm"]);
    scene.run(&["memory", "retire", &id]).expect(0);
    assert!(scene.runs(&ASK));
    scene.run(&["memory", "restore", &id]).expect(0);
    assert!(scene.runs(&ASK));
    scene.run(&["memory", "edit", &id, "use npm for scripts only"]).expect(0);
    assert_eq!(
        scene.explain(&ASK).lines().last().unwrap(),
        "  rules: “use npm for scripts only” was reworded"
    );
    assert!(scene.runs(&ASK));
}

#[test]
fn evidence_for_a_rule_makes_no_miss() {
    let scene = Scene::with_hooks();
    scene.remember(&["use npm"]);
    scene.remember(&["indent with tabs"]);
    let first = || scene.run(&["memory", "rules"]).expect(0).text();
    let before = first();
    assert!(scene.runs(&ASK));
    (0..4).for_each(|_| drop(scene.remember(&["use npm"])));
    assert_ne!(first(), before, "it has moved up");
    assert!(!scene.runs(&ASK));
}

#[test]
fn what_there_is_room_for_counts() {
    let scene = Scene::with_hooks();
    let long =
        |n: usize| format!("call number {n} by its name {}", "and not otherwise ".repeat(40));
    let add = |n: usize| scene.remember(&["--topic", &format!("t{n}"), &long(n)]);
    (0..12).for_each(|n| drop(add(n)));
    let told = scene.run(&["memory", "rules"]).expect(0).text();
    assert!(!told.contains("number 0 ") && told.contains("More rules"), "{told}");
    assert!(scene.runs(&ASK));
    add(0);
    let told = scene.run(&["memory", "rules"]).expect(0).text();
    assert!(told.contains("number 0 "), "{told}");
    assert_eq!(
        scene.explain(&ASK).lines().last().unwrap(),
        "  rules: the same rules in a different order"
    );
    assert!(scene.runs(&ASK));
}

#[test]
fn wrappers_do_not_hide_a_client() {
    let scene = Scene::with_hooks();
    let commands: [&[&str]; 4] = [
        &["env", "A=1", "claude", "-p", "x"],
        &["timeout", "60", "claude", "-p", "x"],
        &["sh", "-c", "cd . && claude -p x"],
        &["sh", "-c", "true | nice claude"],
    ];
    for command in commands {
        assert!(scene.runs(command), "{command:?}");
    }
    scene.remember(&["use npm"]);
    for command in commands {
        assert!(scene.runs(command), "{command:?}");
    }
    let plain = ["sh", "-c", "echo answer"];
    scene.runs(&plain);
    scene.remember(&["use tabs"]);
    assert!(scene.explain(&plain).starts_with("hit: "));
}

#[test]
fn settings_are_looked_for_where_the_client_does() {
    let scene = Scene::new();
    let moved = scene.home.path("moved");
    write(&moved.join("settings.json"), HOOKS);
    let run = |memory: &str| {
        scene.remember(&[memory]);
        let before = runs(&scene.home);
        let mut command = scene.command(&["exec", "--", "claude", "-p", "x"]);
        finish(command.env("CLAUDE_CONFIG_DIR", &moved)).expect(0);
        runs(&scene.home) > before
    };
    assert!(run("use npm"));
    assert!(run("use tabs"));
    fs::remove_file(moved.join("settings.json")).unwrap();
    assert!(run("write short answers"), "it has no hooks any more");
    assert!(!run("test everything"));
}

#[test]
fn a_subdirectory_belongs_to_its_project() {
    let scene = Scene::new();
    scene.home.write(".git/HEAD", "ref: refs/heads/main\n");
    scene.home.write(".claude/settings.json", HOOKS);
    let inner = scene.home.write("src/inner/file", "").parent().unwrap().to_owned();
    let run = || {
        let before = runs(&scene.home);
        finish(scene.command(&["exec", "--", "claude", "-p", "x"]).current_dir(&inner)).expect(0);
        runs(&scene.home) > before
    };
    assert!(run());
    assert!(!run());
    scene.remember(&["use npm"]);
    assert!(run());
}

#[test]
fn codex_and_pi_have_hooks_of_their_own() {
    let scene = Scene::new();
    write(
        &scene.home.path(".codex/config.toml"),
        "[[hooks.SessionStart]]\n[[hooks.SessionStart.hooks]]\ntype = 'command'\ncommand = 'recoup hook'\n",
    );
    write(
        &scene.home.path(".pi/agent/extensions/recoup.ts"),
        r#"export default (pi) => pi.on("input", () => pi.exec("recoup", ["hook"]));"#,
    );
    for client in ["codex", "pi", "claude"] {
        assert!(scene.runs(&[client, "x"]));
    }
    scene.remember(&["use npm"]);
    assert!(scene.runs(&["codex", "x"]));
    assert!(scene.runs(&["pi", "x"]));
    assert!(!scene.runs(&["claude", "x"]), "it has none");
}

#[test]
fn where_nobody_knows_what_it_is_told_nothing_is_given_out_or_kept() {
    let scene = Scene::with_hooks();
    scene.remember(&["use npm"]);
    assert!(scene.runs(&ASK));
    let sql = rusqlite::Connection::open(scene.home.recoup().join("memory.db")).unwrap();
    sql.pragma_update(None, "user_version", 1_000_000).unwrap();
    drop(sql);

    for _ in 0..2 {
        let before = runs(&scene.home);
        let said = scene.run(&[&["exec", "--"][..], &ASK].concat()).expect(0);
        assert_eq!(said.text(), "answer\n");
        assert_eq!(said.stderr.matches("warning: ").count(), 1, "{}", said.stderr);
        let why = "not cached: reading the rules for its agent: ";
        assert!(said.stderr.contains(why), "{}", said.stderr);
        assert_eq!(runs(&scene.home), before + 1);
    }
    scene.run(&[&["exec", "--only-if-cached", "--"][..], &ASK].concat()).expect(124);
    let said = scene.run(&[&["explain", "exec", "--"][..], &ASK].concat()).expect(1);
    assert!(said.stderr.contains("reading the rules for its agent"), "{}", said.stderr);
    let said = scene.run(&[&["exec", "--no-cache", "--"][..], &ASK].concat()).expect(0);
    assert_eq!(said.stderr, "", "nothing is asked of memory");
    let said = scene.run(&["exec", "--", "echo", "x"]).expect(0);
    assert_eq!(said.stderr, "", "nor of other commands");
}

#[test]
fn what_is_kept_can_be_looked_at() {
    let scene = Scene::with_hooks();
    assert!(scene.runs(&ASK));
    let key = |scene: &Scene| scene.explain_json(&ASK)["key"].as_str().unwrap().to_owned();
    let show = |scene: &Scene| scene.run(&["cache", "show", "--key", &key(scene)]).expect(0).text();
    let line = |text: &str, name: &str| {
        let found = text.lines().find(|line| line.split_whitespace().next() == Some(name));
        found.unwrap_or_else(|| panic!("{name}: {text}")).to_owned()
    };
    assert!(line(&show(&scene), "rules").ends_with("none"));
    let id = scene.remember(&["use npm"]);
    assert!(scene.runs(&ASK));
    assert!(line(&show(&scene), "rules").ends_with(&id));
    let listed = scene.run(&["cache", "ls", "--json"]).expect(0).text();
    assert!(listed.contains(&id), "{listed}");
    let listed = scene.run(&["cache", "ls"]).expect(0).text();
    assert!(!listed.contains(&id), "{listed}");
}

#[test]
fn what_a_rule_says_is_in_memory_alone() {
    let scene = Scene::with_hooks();
    let id = scene.remember(&["greet the zanzibarian admiral"]);
    assert!(scene.runs(&ASK));
    scene.run(&["memory", "forget", &id, "--yes"]).expect(0);
    assert_eq!(scene.explain(&ASK), format!("miss: no entry for this key\n  rules: {id} is gone"));
    assert!(scene.runs(&ASK));
    for path in crate::support::tree(&scene.home.recoup()).iter().filter(|path| path.is_file()) {
        let content = String::from_utf8_lossy(&fs::read(path).unwrap()).to_lowercase();
        assert!(!content.contains("zanzibar"), "{}", path.display());
    }
}
