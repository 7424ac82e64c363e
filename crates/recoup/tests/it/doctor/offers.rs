//! What is offered helps: `--fix` only where it can be done, and otherwise what stands in the
//! way and what to do.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::{EVENTS, Report, chmod, hook, script, settings};
use crate::install::{CLAUDE, Machine, SETTINGS};
use crate::support::finish;

/// What the installed program says.
fn report(machine: &Machine, args: &[&str]) -> Report {
    Report(machine.run(&[&["doctor", "--json"], args].concat()).json())
}

/// A machine whose hooks name a program that is gone.
fn with_a_program_that_is_gone() -> Machine {
    let machine = Machine::new();
    let gone = machine.path("gone/recoup");
    machine.write(SETTINGS, settings(&EVENTS, &hook(&gone, &["hook"], 10)).to_string());
    machine
}

#[track_caller]
fn is_in_the_way(machine: &Machine, words: &str) {
    let before = machine.files();
    let said = report(machine, &["--fix"]);
    let found = said.has("hooks", "program-missing", "fail");
    assert_eq!((&found["fixable"], &said.0["repairs"]), (&json!(false), &json!([])), "{found:#}");
    assert!(found["remedy"].as_str().unwrap().contains(words), "{found:#}");
    assert!(machine.files() == before, "nothing was touched");
}

#[test]
fn what_can_be_mended_is_offered() {
    let machine = with_a_program_that_is_gone();
    let before = report(&machine, &[]);
    assert_eq!(before.has("hooks", "program-missing", "fail")["fixable"], true);
    let after = report(&machine, &["--fix"]);
    assert_eq!(after.of("hooks"), [("ok", "ok")]);
}

#[test]
fn settings_that_can_not_be_written() {
    let machine = with_a_program_that_is_gone();
    chmod(&machine.path(SETTINGS), 0o444);
    is_in_the_way(&machine, "settings.json is read-only: make it writable");
}

#[test]
fn another_file_of_the_client_that_can_not_be_read() {
    let machine = with_a_program_that_is_gone();
    machine.write(".claude.json", "{\"mcpServers\": oops");
    is_in_the_way(&machine, "~/.claude.json, line 1, column 16");
}

#[test]
fn a_link_out_of_the_repository() {
    let machine = with_a_program_that_is_gone();
    let project = machine.home.project();
    fs::create_dir_all(project.join(".claude")).unwrap();
    fs::rename(machine.path(SETTINGS), machine.path("mine.json")).unwrap();
    symlink(machine.path("mine.json"), project.join(".claude/settings.local.json")).unwrap();
    is_in_the_way(&machine, "is a symbolic link out of the project");
}

#[test]
fn a_program_that_would_not_last() {
    let machine = with_a_program_that_is_gone();
    fs::remove_file(machine.path("bin/recoup")).unwrap();
    is_in_the_way(&machine, "the next build replaces it");
}

/// The server of the user counts on hooks that this project has switched off: no `init` mends
/// that.
#[test]
fn who_has_switched_hooks_off_is_told_how_they_run_again() {
    let machine = Machine::new();
    machine.init(&CLAUDE);
    let local = machine.home.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    let said = report(&machine, &["--fix"]);
    assert_eq!(said.0["repairs"], json!([]), "{:#}", said.0);
    let states = [("hooks", "switched-off", "fail"), ("mcp", "without-hooks", "warn")];
    for (check, code, state) in states {
        let found = said.has(check, code, state);
        assert_eq!(found["fixable"], false);
        let remedy = "remove `disableAllHooks` from .claude/settings.local.json";
        assert_eq!(found["remedy"], remedy, "{found:#}");
    }
    fs::write(local, r#"{"disableAllHooks": false}"#).unwrap();
    let off = machine.text(SETTINGS).replacen('{', "{\"disableAllHooks\": true,", 1);
    machine.write(SETTINGS, off);
    assert_eq!(report(&machine, &[]).of("hooks"), [("ok", "ok")], "the stronger file counts");
}

#[test]
fn codex_with_hooks_switched_off_has_a_server_that_gives_the_rules() {
    let machine = Machine::new();
    machine.write(".codex/config.toml", "[features]\nhooks = false\n");
    machine.init(&["--client", "codex"]);
    let said = report(&machine, &["--fix"]);
    said.has("hooks", "switched-off", "fail");
    assert_eq!(said.of("mcp"), [("ok", "ok")], "{:#}", said.0);
    assert_eq!(said.0["repairs"], json!([]));
}

#[test]
fn another_server_of_our_name() {
    let machine = Machine::new();
    let other = r#"{"mcpServers": {"recoup": {"command": "docker", "args": ["run", "secret"]}}}"#;
    machine.write(".claude.json", other);
    let said = report(&machine, &["--fix"]);
    let found = said.has("mcp", "name-taken", "warn");
    assert_eq!((&found["fixable"], &said.0["repairs"]), (&json!(false), &json!([])));
    let text = found.to_string();
    assert!(text.contains("docker") && text.contains("rename it in ~/.claude.json"));
    assert!(!text.contains("secret"), "{found:#}");
}

/// A program called `npx` that starts what it is told.
fn npx(machine: &Machine) {
    let text = "#!/bin/sh\n[ \"$1\" = -y ] && shift 2\nexec \"$RECOUP_HERE\" \"$@\"\n";
    let text = text.replace("$RECOUP_HERE", crate::support::RECOUP);
    let path = script(&machine.home, "made", &text);
    fs::rename(path, machine.path("bin/npx")).unwrap();
}

#[test]
fn a_hook_that_something_else_starts_is_judged_by_that() {
    let machine = Machine::new();
    let forms: [Value; 2] = [
        json!({"type": "command", "command": "npx -y recoup hook", "timeout": 10}),
        json!({"type": "command", "command": "npx", "args": ["-y", "recoup", "hook"], "timeout": 10}),
    ];
    // With no other npx than that.
    let report = |machine: &Machine| {
        let mut command = machine.command(&["doctor", "--json"]);
        Report(finish(command.env("PATH", machine.path("bin"))).json())
    };
    // Where npx finds it is nobody else's to know.
    fs::rename(machine.path("bin/recoup"), machine.path("recoup-elsewhere")).unwrap();
    for form in forms {
        let _ = fs::remove_file(machine.path("bin/npx"));
        machine.write(SETTINGS, settings(&EVENTS, &form).to_string());
        let missing = report(&machine);
        let found = missing.has("hooks", "program-missing", "fail");
        assert!(found["what"].as_str().unwrap().contains("npx does not exist"), "{found:#}");
        assert_eq!(found["fixable"], false);
        npx(&machine);
        // What it starts depends on the directory: it is there, and not run.
        let there = report(&machine);
        assert_eq!(there.of("hooks"), [("withheld", "skipped")], "{:#}", there.0);
    }
}

#[test]
fn what_was_written_by_hand_beside_ours_is_taken_out() {
    let machine = Machine::new();
    machine.init(&["--client", "codex"]);
    let by_hand = "\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"recoup hook\"\ntimeout = 5\n";
    let config = machine.text(".codex/config.toml");
    machine.write(".codex/config.toml", format!("{config}{by_hand}"));
    let before = report(&machine, &[]);
    let found = before.has("hooks", "twice", "warn");
    assert_eq!((&found["fixable"], &found["facts"]["events"]), (&json!(true), &json!(1)));
    report(&machine, &["--fix"]);
    assert_eq!(machine.text(".codex/config.toml"), config);
}
