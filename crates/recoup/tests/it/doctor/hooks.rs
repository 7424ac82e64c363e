//! Hooks that are not what they should be: each is named, with what to do.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{
    EVENTS, RECOUP, chmod, claude, hook, report, report_installed, script, settings, with_hooks,
    write,
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
fn one_that_does_not_end_is_ended_with_all_that_it_started() {
    let home = Home::new();
    let pid = home.path("pid");
    let text = format!("#!/bin/sh\n/bin/sleep 600 & echo $! > {}; wait\n", pid.display());
    let program = script(&home, "bin", &text);
    claude(&home, &settings(&["SessionStart", "Stop"], &hook(&program, &["hook"], 1)));
    let began = Instant::now();
    let report = report(&home, 1);
    // One second for one event, and three for its version.
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let found = report.has("hooks", "too-late", "fail");
    let words = "SessionStart: it did not finish within 1 s";
    assert!(found["what"].as_str().unwrap().contains(words), "{found}");
    let sleeper = fs::read_to_string(pid).unwrap();
    let alive = format!("/proc/{}/cmdline", sleeper.trim());
    let is_sleep = fs::read(&alive).is_ok_and(|line| line.starts_with(b"/bin/sleep"));
    assert!(!is_sleep, "it was left behind");
}

#[test]
fn an_exit_code_that_stops_the_client() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\ncat >/dev/null\nexit 2\n");
    claude(&home, &settings(&["Stop"], &hook(&program, &["hook"], 5)));
    let report = report(&home, 1);
    let found = report.has("hooks", "wrong-exit", "fail");
    assert!(found["what"].as_str().unwrap().contains("Stop: it exits with 2"), "{found}");
}

#[test]
fn answers_that_no_client_reads() {
    for (answer, words) in [
        ("welcome to recoup", "not JSON"),
        ("[]", "not a JSON object"),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"x"}}"#,
            "another event",
        ),
    ] {
        let home = Home::new();
        let text = format!("#!/bin/sh\ncat >/dev/null\necho '{answer}'\n");
        let program = script(&home, "bin", &text);
        claude(&home, &settings(&["SessionStart"], &hook(&program, &["hook"], 5)));
        let report = report(&home, 1);
        let found = report.has("hooks", "wrong-answer", "fail");
        assert!(found["what"].as_str().unwrap().contains(words), "{found}");
    }
}

#[test]
fn one_that_answers_and_gives_no_rules() {
    let home = Home::new();
    let text = "#!/bin/sh\n[ \"$1\" = --version ] && echo 'recoup 0.0.1'\ncat >/dev/null\nexit 0\n";
    let program = script(&home, "bin", text);
    claude(&home, &settings(&EVENTS, &hook(&program, &["hook"], 5)));
    let report = report(&home, 0);
    report.has("hooks", "no-rules", "warn");
    let other = report.has("hooks", "other-version", "warn");
    assert_eq!(other["facts"]["version"], "0.0.1");
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
    assert_eq!(fired["facts"]["fired"], 9);
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
    assert_eq!((&fired["facts"]["client"], &fired["facts"]["fired"]), (&json!("pi"), &json!(4)));
    assert!(fired["what"].as_str().unwrap().ends_with("rules are delivered"), "{fired}");
}

#[test]
fn other_copies_on_the_path_are_named() {
    let home = Home::new();
    script(&home, "bin", "#!/bin/sh\necho recoup 0.0.7\n");
    let mut command = home.command(&["doctor", "--json"]);
    command.env("PATH", format!("{}:/usr/bin:/bin", home.path("bin").display()));
    let said = finish(&mut command).expect(0).json();
    let program = &said["findings"][0];
    assert_eq!(program["code"], "another-on-path");
    assert!(
        program["what"].as_str().unwrap().contains("recoup 0.0.7 at ~/bin/recoup"),
        "{program}"
    );
}

#[test]
fn hooks_that_the_whole_team_has_are_left_to_them() {
    let home = Home::new();
    write(&home, ".claude/settings.json", "{}");
    let all = settings(&EVENTS, &hook(RECOUP, &["hook"], 10)).to_string();
    home.write(".claude/settings.json", all);
    report(&home, 0).has("hooks", "elsewhere", "skipped");
}

/// At the worst moment: the hook itself interrupts, as soon as it is there.
#[test]
fn who_is_interrupted_leaves_nothing_behind() {
    for round in 0..5 {
        let home = Home::new();
        let pid = home.path("pid");
        let text = format!(
            "#!/bin/sh\necho $$ > {}\nkill -INT $PPID\nexec /bin/sleep 600\n",
            pid.display()
        );
        let program = script(&home, "bin", &text);
        claude(&home, &settings(&["SessionStart"], &hook(&program, &["hook"], 25)));
        fs::create_dir(home.path("tmp")).unwrap();
        let mut command = heeding(&home, &["doctor"]);
        let output = command.env("TMPDIR", home.path("tmp")).output().unwrap();
        assert_eq!(output.status.signal(), Some(2), "it ends as it was asked to");
        assert_eq!(fs::read_dir(home.path("tmp")).unwrap().count(), 0, "round {round}");
        let line = format!("/proc/{}/cmdline", fs::read_to_string(&pid).unwrap().trim());
        let is_there = || fs::read(&line).is_ok_and(|line| line.starts_with(b"/bin/sleep"));
        let until = Instant::now() + Duration::from_secs(20);
        while is_there() {
            assert!(Instant::now() < until, "round {round}: the hook was left behind");
            thread::sleep(Duration::from_millis(10));
        }
    }
}
