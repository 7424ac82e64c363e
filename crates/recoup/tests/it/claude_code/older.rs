//! Versions that users still have: what `recoup init` writes for them is read, and what an
//! earlier recoup wrote erases no prompt.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::RULE;
use super::client::Client;
use crate::install::EVENTS;
use crate::model::{Answer, Script};
use crate::support::{Output, RECOUP, finish};

/// The programs that `xtask` installs beside the newest, and whether each knows `args`.
const OLDER: [(&str, bool); 3] =
    [("claude-2.1.100", false), ("claude-2.1.138", false), ("claude-2.1.139", true)];

/// The user's prompt, and the part of it that is to be kept.
const SAID: &str = "From now on, always use tabs in Makefiles.";
const KEPT: &str = "lways use tabs in Makefiles";

/// A client with the rule in recoup's memory, on a machine where it is called `claude`.
fn older(program: &str) -> Client {
    let script = Script::default().on("list", Answer::bash("ls /nowhere"));
    let client = Client::of_program(program, script);
    let version = program.strip_prefix("claude-").unwrap_or(program);
    let there = finish(&mut client.home.prepared(program, &["--version"])).expect(0).text();
    assert!(there.starts_with(version) || program == "claude", "{program} is {there}");
    fs::create_dir_all(client.home.path("bin")).unwrap();
    symlink(RECOUP, client.home.path("bin/recoup")).unwrap();
    let claude = client.home.path("bin/claude");
    // By another process: a fork of ours that has it open for writing would keep it from
    // being run.
    let line =
        format!("printf '#!/bin/sh\\nexec {program} \"$@\"\\n' > \"$0\" && chmod 755 \"$0\"");
    finish(&mut client.home.prepared("sh", &["-c", &line, claude.to_str().unwrap()])).expect(0);
    recoup(&client, &["memory", "add", "--universal", RULE]).expect(0);
    client
}

/// recoup as a shell finds it, which finds that client too.
fn recoup(client: &Client, args: &[&str]) -> Output {
    let mut path = OsString::from(client.home.path("bin"));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    finish(client.home.command(args).env("PATH", path))
}

fn write_settings(client: &Client, settings: &Value) {
    fs::create_dir_all(client.home.path(".claude")).unwrap();
    fs::write(client.home.path(".claude/settings.json"), settings.to_string()).unwrap();
}

/// The prompt arrives at the model, with the rule; and what was said arrives in memory.
#[track_caller]
fn assert_heard(client: &Client) {
    for prompt in [SAID, "list what is there"] {
        client.ask(&[], prompt);
        let asked = client.asked();
        let ours: Vec<_> = asked.iter().filter(|request| request.newest_says(prompt)).collect();
        assert!(!ours.is_empty(), "{prompt:?} was erased");
        assert!(ours.iter().any(|request| request.count(RULE) == 1), "{prompt:?} has no rule");
    }
    let kept = recoup(client, &["memory", "list"]).expect(0).text();
    assert!(kept.contains(KEPT), "{kept}");
}

#[test]
#[ignore = "needs the real Claude Code, old and new: cargo xtask test --full"]
fn what_init_writes_is_read_by_each_version() {
    for (program, knows_args) in OLDER.into_iter().chain([("claude", true)]) {
        let client = older(program);
        write_settings(&client, &json!({ "env": { "RECOUP_CAPTURE_HEADLESS": "true" } }));
        recoup(&client, &["init", "--yes", "--client", "claude-code"]).expect(0);
        let settings = fs::read(client.home.path(".claude/settings.json")).unwrap();
        let settings: Value = serde_json::from_slice(&settings).unwrap();
        let hook = &settings["hooks"]["Stop"][0]["hooks"][0];
        assert_eq!(hook["args"].is_array(), knows_args, "{program}: {hook}");
        assert_heard(&client);
        let said = recoup(&client, &["doctor", "--json"]).json();
        let findings = said["findings"].as_array().unwrap().iter();
        let of_hooks: Vec<&Value> = findings
            .filter(|it| it["check"] == "hooks" && it["facts"]["client"] == "claude-code")
            .collect();
        assert!(of_hooks.iter().all(|it| it["state"] == "ok"), "{program}: {of_hooks:#?}");
    }
}

/// As `init` of an earlier recoup did, whatever the version.
#[test]
#[ignore = "needs the real Claude Code, old and new: cargo xtask test --full"]
fn arguments_that_a_version_drops_erase_no_prompt() {
    for (program, _) in OLDER {
        let client = older(program);
        let hook = json!({"type": "command", "command": RECOUP, "args": ["hook"], "timeout": 10});
        let hooks = EVENTS.map(|event| (event.to_owned(), json!([{ "hooks": [hook] }])));
        let env = json!({ "RECOUP_CAPTURE_HEADLESS": "true" });
        write_settings(&client, &json!({ "env": env, "hooks": Value::from_iter(hooks) }));
        assert_heard(&client);
    }
}

/// The proof that the table of events is needed.
#[test]
#[ignore = "needs the real Claude Code, old and new: cargo xtask test --full"]
fn one_unknown_event_makes_an_older_version_skip_all_settings() {
    let client = older("claude-2.1.100");
    let hook = json!({"type": "command", "command": format!("{RECOUP} hook"), "timeout": 10});
    let all = |events: &[&str]| {
        let hooks = events.iter().map(|event| ((*event).to_owned(), json!([{ "hooks": [hook] }])));
        json!({ "hooks": hooks.collect::<Value>() })
    };
    write_settings(&client, &all(&["SessionStart", "PostToolBatch"]));
    client.ask(&[], "hello");
    assert!(client.asked().iter().all(|request| request.count(RULE) == 0));
    write_settings(&client, &all(&["SessionStart"]));
    client.ask(&[], "hello");
    assert!(client.asked().iter().any(|request| request.count(RULE) == 1));
}
