//! The settings for Claude Code depend on its version, which it is asked for. The programs
//! here only say one; `claude_code/older.rs` has the real ones.

use std::fs;

use serde_json::{Value, json};

use super::{CLAUDE, EVENTS, Machine, SETTINGS};
use crate::support::finish;

impl Machine {
    /// One on which a program of that path is Claude Code, and does this.
    fn with_claude(path: &str, script: &str) -> Self {
        let this = Self::with_settings("{}\n");
        // By another process: ours forks all the time, and a fork that still has it open for
        // writing would keep it from being run.
        let line = "mkdir -p \"${0%/*}\" && printf '#!/bin/sh\\n%s\\n' \"$1\" > \"$0\" && chmod 755 \"$0\"";
        let path = this.path(path);
        finish(&mut this.home.prepared("sh", &["-c", line, path.to_str().unwrap(), script]))
            .expect(0);
        this
    }

    fn with_version(version: &str) -> Self {
        Self::with_claude("bin/claude", &format!("echo '{version} (Claude Code)'"))
    }

    fn hooks(&self) -> Value {
        self.json(SETTINGS)["hooks"].clone()
    }

    /// The events, and the one command of all of them.
    fn events_and_command(&self) -> (Vec<String>, Value) {
        let hooks = self.hooks();
        let hooks = hooks.as_object().unwrap();
        let commands: Vec<&Value> = hooks.values().map(|groups| &groups[0]["hooks"][0]).collect();
        assert!(commands.iter().all(|command| *command == commands[0]), "{hooks:?}");
        (hooks.keys().cloned().collect(), commands[0].clone())
    }

    #[track_caller]
    fn doctor(&self, code: i32) -> Vec<(String, String, String)> {
        let report = self.run(&["doctor", "--json"]).expect(code).json();
        let of_hooks = report["findings"].as_array().unwrap().iter();
        let of_hooks = of_hooks.filter(|it| it["check"] == "hooks");
        let text = |it: &Value, name: &str| it[name].as_str().unwrap().to_owned();
        of_hooks.map(|it| (text(it, "code"), text(it, "state"), text(it, "what"))).collect()
    }
}

fn sorted(events: &[&str]) -> Vec<String> {
    let mut events: Vec<String> = events.iter().map(|event| (*event).to_owned()).collect();
    events.sort();
    events
}

#[test]
fn an_event_is_written_only_for_a_version_that_knows_it() {
    let all = [&EVENTS[..], &["PostToolBatch"]].concat();
    let without = |names: &[&str]| {
        let known: Vec<&str> = all.iter().copied().filter(|it| !names.contains(it)).collect();
        sorted(&known)
    };
    let cases = [
        (
            "1.0.128",
            without(&["PostToolBatch", "StopFailure", "PostToolUseFailure", "SubagentStart"]),
        ),
        ("2.0.56", without(&["PostToolBatch", "StopFailure"])),
        ("2.1.77", without(&["PostToolBatch", "StopFailure"])),
        ("2.1.78", without(&["PostToolBatch"])),
        ("2.1.117", without(&["PostToolBatch"])),
        ("2.1.118", sorted(&all)),
        ("2.1.325", sorted(&all)),
        ("3.0.0", sorted(&all)),
    ];
    for (version, expected) in cases {
        let machine = Machine::with_version(version);
        machine.init(&[]);
        let mut events = machine.events_and_command().0;
        events.sort();
        assert_eq!(events, expected, "{version}");
        assert_eq!(machine.doctor(0)[0].0, "ok", "{version}");
        machine.uninstall(&[]);
        assert_eq!(machine.text(SETTINGS), "{}\n");
    }
}

#[test]
fn a_version_that_does_not_know_args_gets_a_line_for_the_shell() {
    for (version, knows) in [("2.1.138", false), ("2.1.139", true), ("2.0.77", false)] {
        let machine = Machine::with_version(version);
        let said = machine.init(&[]);
        let program = machine.program();
        let exec = json!({"type": "command", "command": program, "args": ["hook"], "timeout": 10});
        let line = json!({"type": "command", "command": format!("{program} hook"), "timeout": 10});
        let expected = if knows { &exec } else { &line };
        assert_eq!(machine.events_and_command().1, *expected, "{version}");
        let note = format!("version {version} does not support `args`");
        assert_eq!((said.text() + &said.stderr).contains(&note), !knows, "{version}");
    }
}

#[test]
fn a_client_that_does_not_say_its_version_gets_no_event_that_may_be_unknown() {
    let silent = ["exit 1", "echo soon", "echo 2.1.325; exit 3", "exec sleep 60"];
    for script in silent {
        let machine = Machine::with_claude("bin/claude", script);
        machine.init(&[]);
        let mut events = machine.events_and_command().0;
        events.sort();
        assert_eq!(events, sorted(&EVENTS), "{script}");
    }
}

#[test]
fn the_client_is_found_where_its_installers_put_it_and_not_in_the_project() {
    for path in [".claude/local/claude", ".local/bin/claude"] {
        let machine = Machine::with_claude(path, "echo '2.1.325 (Claude Code)'");
        machine.init(&CLAUDE);
        assert!(machine.hooks()["PostToolBatch"].is_array(), "{path}");
    }
    let machine = Machine::with_claude("project/bin/claude", "echo '2.1.325 (Claude Code)'");
    let mut command = machine.command(&["init", "--yes"]);
    let project = machine.path("project/bin");
    command.env(
        "PATH",
        format!("{}:{}:/usr/bin:/bin", project.display(), machine.path("bin").display()),
    );
    finish(&mut command).expect(0);
    assert!(machine.hooks()["PostToolBatch"].is_null());
}

#[test]
fn a_client_that_is_asked_writes_its_settings_elsewhere() {
    let script = "mkdir -p \"${CLAUDE_CONFIG_DIR:-$HOME/.claude}\"\n\
        echo x > \"${CLAUDE_CONFIG_DIR:-$HOME/.claude}/asked\"; echo x > here\n\
        [ -z \"$ANTHROPIC_API_KEY\" ] && echo 2.1.325";
    let machine = Machine::with_claude("bin/claude", script);
    let mut command = machine.command(&["init", "--dry-run"]);
    finish(command.env("ANTHROPIC_API_KEY", "not for it")).expect(0);
    assert!(!machine.path(".claude/asked").exists());
    assert!(!machine.path("project/here").exists());
    machine.init(&[]);
    assert!(machine.hooks()["PostToolBatch"].is_array());
}

#[test]
fn after_an_update_of_the_client_init_writes_what_the_new_version_knows() {
    let machine = Machine::with_version("2.1.117");
    machine.init(&[]);
    let old = machine.text(SETTINGS);
    let newer = Machine::with_version("2.1.325");
    newer.write(SETTINGS, &old);
    let [missing] = &newer.doctor(1)[1..] else { panic!("{:?}", newer.doctor(1)) };
    assert_eq!((&*missing.0, &*missing.1), ("events-missing", "fail"));
    assert!(missing.2.contains("PostToolBatch"), "{missing:?}");
    newer.run(&["doctor", "--fix"]).expect(0);
    assert!(newer.hooks()["PostToolBatch"].is_array());
    assert_eq!(newer.events_and_command().1["args"], json!(["hook"]));
}

#[test]
fn the_doctor_names_what_an_older_client_does_not_understand() {
    let newest = Machine::with_version("2.1.325");
    newest.init(&[]);
    let settings = newest.text(SETTINGS).replace(&newest.program(), "PROGRAM");
    let installed = |version: &str| {
        let machine = Machine::with_version(version);
        machine.write(SETTINGS, settings.replace("PROGRAM", &machine.program()));
        machine
    };
    let machine = installed("2.1.117");
    let found = machine.doctor(1);
    assert_eq!((&*found[1].0, &*found[1].1), ("unknown-event", "fail"), "{found:?}");
    let words = "version 2.1.117 does not support PostToolBatch, and ignores all of ~/.claude/settings.json";
    assert!(found[1].2.contains(words), "{found:?}");
    machine.run(&["doctor", "--fix"]).expect(0);
    assert!(machine.hooks()["PostToolBatch"].is_null() && machine.hooks()["Stop"].is_array());
    assert_eq!(machine.events_and_command().1["args"], Value::Null);

    let machine = installed("2.1.138");
    let found = machine.doctor(0);
    assert_eq!((&*found[1].0, &*found[1].1), ("unknown-args", "warn"), "{found:?}");
    let machine = installed("2.1.139");
    assert_eq!(machine.doctor(0).len(), 1);
    fs::remove_file(machine.path("bin/claude")).unwrap();
    assert_eq!(machine.doctor(0).len(), 1, "what nobody knows is not complained about");
}
