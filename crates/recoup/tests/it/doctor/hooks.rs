//! Hooks that are not what they should be: each is named, with what to do.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};
use serde_json::json;

use super::{
    EVENTS, RECOUP, Report, chmod, claude, hook, report, report_installed, script, settings,
    with_hooks, write,
};
use crate::support::{Home, finish, heeding};

#[test]
fn a_program_that_is_gone() {
    let home = Home::new();
    claude(&home, &settings(&EVENTS, &hook(home.path("gone/recoup"), &["hook"], 10)));
    let report = report_installed(&home, 1);
    let found = report.has("hooks", "program-missing", "fail");
    assert_eq!(found["fixable"], true);
    assert!(found["what"].as_str().unwrap().contains("gone/recoup does not exist"), "{found}");
}

#[test]
fn a_program_that_can_not_be_run() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\nexit 0\n");
    chmod(&program, 0o644);
    claude(&home, &settings(&EVENTS, &hook(&program, &["hook"], 10)));
    report(&home, 1).has("hooks", "not-executable", "fail");
}

#[test]
fn another_program_of_our_name_is_named_with_this_one() {
    let home = Home::new();
    let program = script(&home, "other", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
    claude(&home, &settings(&EVENTS, &hook(&program, &["hook"], 5)));
    let said = report(&home, 0);
    let found = said.has("hooks", "other-program", "warn");
    let what = found["what"].as_str().unwrap();
    let start = "Claude Code (user): ~/.claude/settings.json names ~/other/recoup, but this";
    assert!(what.starts_with(start) && what.ends_with(RECOUP), "{found:#}");
    assert!(found["remedy"].as_str().unwrap().contains("`recoup init --client claude-code`"));
    assert_eq!(said.of("hooks").len(), 1, "this program is not what the client calls");
    assert!(!home.path("ran").exists());
    fs::remove_file(&program).unwrap();
    std::os::unix::fs::symlink(RECOUP, &program).unwrap();
    assert_eq!(report(&home, 0).of("hooks"), [("ok", "ok")], "the same file by another name");
}

#[test]
fn events_and_time_outs_that_an_older_version_did_not_have() {
    let home = Home::new();
    claude(&home, &settings(&EVENTS[..3], &hook(RECOUP, &["hook"], 10)));
    let first = report_installed(&home, 1);
    let found = first.has("hooks", "events-missing", "fail");
    assert_eq!((&found["fixable"], &found["facts"]["missing"]), (&json!(true), &json!(8)));
    assert!(found["what"].as_str().unwrap().contains("SubagentStop"), "{found}");
    let bare = json!({"type": "command", "command": RECOUP, "args": ["hook"]});
    claude(&home, &settings(&EVENTS, &bare));
    let second = report(&home, 0);
    assert_eq!(second.has("hooks", "no-timeout", "warn")["facts"]["untimed"], EVENTS.len());
}

#[test]
fn hooks_that_miss_something() {
    let home = Home::new();
    let mut all = settings(&EVENTS, &hook(RECOUP, &["hook"], 10));
    all["hooks"]["SessionStart"][0]["matcher"] = json!("startup");
    all["hooks"]["PreToolUse"][0]["matcher"] = json!("*");
    all["hooks"]["Stop"][0]["hooks"][0]["async"] = json!(true);
    claude(&home, &all);
    let report = report_installed(&home, 0);
    let found = report.has("hooks", "limited", "warn");
    assert!(
        found["what"].as_str().unwrap().contains("for SessionStart, Stop, recoup does not"),
        "{found}"
    );
    assert_eq!(found["fixable"], true);
}

#[test]
fn a_line_for_the_shell_is_read_by_one() {
    let home = Home::new();
    let line = format!("'{RECOUP}' hook --client claude-code");
    let hook = json!({"type": "command", "command": line, "timeout": 10});
    claude(&home, &settings(&EVENTS, &hook));
    let report = report(&home, 0);
    assert_eq!(report.of("hooks"), [("ok", "ok")]);
}

#[test]
fn hooks_that_are_switched_off() {
    let home = Home::new();
    with_hooks(&home);
    let off = json!({"disableAllHooks": true});
    let path = home.write(".claude/settings.local.json", off.to_string());
    let said = report(&home, 1);
    let found = said.has("hooks", "switched-off", "fail");
    assert!(found["what"].as_str().unwrap().contains("hooks are disabled"), "{found}");
    let answers = said.has("hooks", "ok", "ok");
    assert!(!answers["what"].as_str().unwrap().contains("delivered"), "{answers}");
    fs::remove_file(path).unwrap();
    assert_eq!(report(&home, 0).of("hooks"), [("ok", "ok")]);
}

#[test]
fn the_user_and_the_project_both_call_us() {
    let home = Home::new();
    with_hooks(&home);
    let line = format!("{RECOUP} hook");
    let other = json!({"type": "command", "command": line, "timeout": 10});
    let local = settings(&EVENTS, &other).to_string();
    home.write(".claude/settings.local.json", &local);
    let report = report(&home, 0);
    assert_eq!(report.has("hooks", "twice", "warn")["facts"]["events"], EVENTS.len());
}

#[test]
fn settings_that_the_client_can_not_read() {
    let home = Home::new();
    write(&home, ".claude/settings.json", "{\"hooks\": {\n  oops");
    let report = report(&home, 1);
    let found = report.has("hooks", "malformed", "fail");
    assert!(found["what"].as_str().unwrap().contains("~/.claude/settings.json"), "{found}");
}

#[test]
fn codex_must_be_told_that_it_may() {
    let home = Home::new();
    let line = format!("{RECOUP} hook --client codex");
    let hook = json!({"type": "command", "command": line, "timeout": 3});
    let events = [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "SubagentStart",
        "SubagentStop", "PreCompact", "Stop", "SessionEnd",
    ];
    let path = write(&home, ".codex/hooks.json", settings(&events, &hook).to_string());
    let first = report(&home, 0);
    first.has("hooks", "not-allowed", "warn");
    let fired = first.has("hooks", "ok", "ok");
    assert_eq!(fired["facts"]["fired"], 7, "as many as were recorded");
    let state = |events: &[&str]| {
        let entry = |event: &&str| {
            let key = format!("{}:{event}:0:0", path.display());
            format!("[hooks.state.{key:?}]\ntrusted_hash = \"sha256:00\"\n")
        };
        let all: String = events.iter().map(entry).collect();
        write(&home, ".codex/config.toml", all);
    };
    let names = [
        "session_start", "user_prompt_submit", "pre_tool_use", "post_tool_use", "subagent_start",
        "subagent_stop", "pre_compact", "stop", "session_end",
    ];
    state(&names[..7]);
    assert_eq!(report(&home, 0).has("hooks", "not-allowed", "warn")["facts"]["waiting"], 2);
    state(&names);
    assert_eq!(report(&home, 0).of("hooks"), [("ok", "ok")]);
}

#[test]
fn the_extension_of_pi() {
    let home = Home::new();
    let asset = include_str!("../../../assets/pi/recoup.ts");
    let text = asset.replace("?? \"recoup\"", &format!("?? {RECOUP:?}"));
    assert_ne!(asset, text);
    write(&home, ".pi/agent/extensions/recoup.ts", &text);
    let report = report(&home, 0);
    let fired = report.has("hooks", "ok", "ok");
    assert_eq!((&fired["facts"]["client"], &fired["facts"]["fired"]), (&json!("pi"), &json!(6)));
    assert!(fired["what"].as_str().unwrap().ends_with("rules are delivered"), "{fired}");
}

#[test]
fn another_program_first_on_the_path_is_named_and_not_run() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
    let mut command = home.command(&["doctor", "--json"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", program.parent().unwrap().display()));
    let said = Report(finish(&mut command).expect(0).json());
    let first = said.has("program", "another-on-path", "warn");
    assert!(first["what"].as_str().unwrap().ends_with("on the PATH is ~/bin/recoup"), "{first}");
    assert!(!home.path("ran").exists());
}

#[test]
fn hooks_that_the_whole_team_has_are_left_to_them() {
    let home = Home::new();
    write(&home, ".claude/settings.json", "{}");
    let all = settings(&EVENTS, &hook(RECOUP, &["hook"], 10)).to_string();
    home.write(".claude/settings.json", all);
    report(&home, 0).has("hooks", "elsewhere", "skipped");
}

#[test]
fn who_is_interrupted_leaves_nothing_behind() {
    for round in 0..5 {
        let home = Home::new();
        with_hooks(&home);
        fs::create_dir(home.path("tmp")).unwrap();
        let left = || fs::read_dir(home.path("tmp")).unwrap().count();
        let mut command = heeding(&home, &["doctor"]);
        command.env("TMPDIR", home.path("tmp")).env("PATH", "/usr/bin:/bin");
        let mut child = command.spawn().unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        while left() == 0 {
            assert!(Instant::now() < until, "round {round}: nothing was made");
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_millis(3 * round));
        let pid = Pid::from_child(&child);
        rustix::process::kill_process(pid, Signal::INT).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(2), "it ends as it was asked to");
        assert_eq!(left(), 0, "round {round}");
    }
}
