//! Cursor runs the hooks in Claude Code's settings, with its own payloads, as its documentation
//! describes them.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{add, changed, happened, hook, log, remembered};
use crate::support::{Home, Output};

/// The command as it stands in Claude Code's settings.
const ARGS: [&str; 3] = ["hook", "--client", "claude-code"];

pub(super) fn payload(home: &Home, event: &str, changes: Value) -> Value {
    let common = json!({"hook_event_name": event, "conversation_id": "c1", "session_id": "c1",
        "generation_id": "g1", "model": "composer", "cursor_version": "2.6.0", "cwd": "",
        "workspace_roots": [home.project()], "user_email": null, "transcript_path": null});
    changed(common, changes)
}

/// As Cursor writes it, with a byte order mark.
fn bytes(payload: &Value) -> Vec<u8> {
    format!("\u{feff}{payload}\n").into_bytes()
}

fn answer(output: Output) -> Value {
    let output = output.expect(0);
    assert_eq!(output.stderr, "");
    if output.stdout.is_empty() { Value::Null } else { output.json() }
}

/// Not in the project: Cursor starts hooks elsewhere.
#[track_caller]
pub(super) fn tell(home: &Home, payload: &Value) -> Value {
    let elsewhere = home.path("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    let mut command = home.command(&ARGS);
    command.current_dir(elsewhere);
    answer(hook(command, &bytes(payload)))
}

/// Several hooks that are told of one event at the same time.
fn tell_several(home: &Home, payload: &Value) -> Vec<Value> {
    let start = |args: &[&str]| {
        let mut command = home.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(&bytes(payload)).unwrap();
        child
    };
    let children = [start(&ARGS), start(&["hook"]), start(&ARGS), start(&["hook"])];
    children.map(|child| answer(Output::new(child.wait_with_output().unwrap()))).to_vec()
}

#[test]
fn a_conversation_begins_with_the_rules() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let begins = json!({"is_background_agent": false, "composer_mode": "agent"});
    let reply = tell(&home, &payload(&home, "sessionStart", begins));
    let context = reply["additional_context"].as_str().unwrap();
    assert!(context.contains("\n- use pnpm\n"), "{reply}");
    assert_eq!(
        reply.as_object().unwrap().len(),
        1,
        "nothing is allowed, denied or stopped: {reply}"
    );
    let mut older = payload(&home, "sessionStart", json!({"conversation_id": "c2"}));
    older.as_object_mut().unwrap().remove("cursor_version");
    assert!(tell(&home, &older)["additional_context"].is_string(), "it does not say its version");
    assert_eq!(log(&home), "");
}

#[test]
fn what_is_typed_is_remembered_in_the_workspace() {
    let home = Home::new();
    let says = |changes| payload(&home, "beforeSubmitPrompt", changes);
    let reply = tell(&home, &says(json!({"prompt": "from now on use pnpm", "attachments": []})));
    assert_eq!(reply["continue"], true);
    let notice = reply["user_message"].as_str().unwrap();
    assert!(notice.starts_with("recoup: will remember: use pnpm (say \"forget that\""), "{notice}");
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "in the project of the workspace");
    let nowhere = json!({"prompt": "from now on use tabs", "workspace_roots": []});
    assert_eq!(tell(&home, &says(nowhere)), Value::Null, "no project is named: nothing is done");
    let alone = json!({"prompt": "from now on use bun", "is_background_agent": true,
        "generation_id": "g2", "cwd": home.project()});
    tell(&home, &says(alone));
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
    assert_eq!(remembered(&home, "candidate"), ["use bun"], "nobody was there");
}

#[test]
fn calls_are_taken_in_and_bring_the_rules_that_concern_them() {
    let home = Home::new();
    let failed = json!({"tool_name": "Shell", "tool_input": {"command": "ls /none", "cwd": ""},
        "tool_use_id": "t1", "failure_type": "error",
        "error_message": "ls: cannot access '/none'\nCommand failed with exit code 2"});
    assert_eq!(tell(&home, &payload(&home, "postToolUseFailure", failed.clone())), Value::Null);
    assert_eq!(happened(&home, "failed").len(), 1);
    let refused =
        changed(failed, json!({"failure_type": "permission_denied", "tool_use_id": "t2"}));
    tell(&home, &payload(&home, "postToolUseFailure", refused));
    assert_eq!(happened(&home, "failed").len(), 1, "it was not allowed, and has not failed");
    tell(&home, &payload(&home, "sessionStart", json!({})));
    add(&home, &["never push to main"]);
    let call = json!({"tool_name": "Shell", "tool_input": {"command": "git push origin main"},
        "tool_use_id": "t3", "tool_output": "{\"output\":\"done\",\"exitCode\":0}"});
    assert_eq!(tell(&home, &payload(&home, "preToolUse", call.clone())), Value::Null);
    let reply = tell(&home, &payload(&home, "postToolUse", call));
    assert!(
        reply["additional_context"].as_str().unwrap().contains("never push to main"),
        "{reply}"
    );
    assert_eq!(happened(&home, "succeeded").len(), 1);
}

#[test]
fn rules_come_back_after_a_compaction() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let call = |id: &str| {
        let call =
            json!({"tool_name": "Read", "tool_input": {"file_path": "/a"}, "tool_use_id": id});
        payload(&home, "postToolUse", call)
    };
    tell(&home, &payload(&home, "sessionStart", json!({})));
    assert_eq!(tell(&home, &call("t1")), Value::Null);
    assert_eq!(tell(&home, &payload(&home, "preCompact", json!({"trigger": "auto"}))), Value::Null);
    assert!(tell(&home, &call("t2")).to_string().contains("use pnpm"));
    assert_eq!(tell(&home, &call("t3")), Value::Null);
}

#[test]
fn an_event_that_several_hooks_are_told_of_is_heard_once() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let heard = |replies: Vec<Value>| replies.iter().filter(|reply| !reply.is_null()).count();
    assert_eq!(heard(tell_several(&home, &payload(&home, "sessionStart", json!({})))), 1);
    assert_eq!(happened(&home, "began").len(), 1);
    let says = json!({"prompt": "from now on use tabs"});
    assert_eq!(heard(tell_several(&home, &payload(&home, "beforeSubmitPrompt", says))), 1);
    assert_eq!(happened(&home, "prompted").len(), 1);
    tell_several(&home, &payload(&home, "preCompact", json!({})));
    let call = json!({"tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "t"});
    assert_eq!(heard(tell_several(&home, &payload(&home, "postToolUse", call))), 1);
    assert_eq!(happened(&home, "succeeded").len(), 1);
    tell_several(&home, &payload(&home, "stop", json!({"status": "completed"})));
    assert_eq!(happened(&home, "stopped").len(), 1);
}

#[test]
fn events_and_fields_that_nobody_knows_are_passed_over() {
    let home = Home::new();
    for event in ["workspaceOpen", "afterAgentThought", "subagentStart", "beforeReadFile", "newer"]
    {
        let odd = json!({"workspace_roots": 7, "tool_input": [1], "prompt": {}, "status": []});
        assert_eq!(tell(&home, &payload(&home, event, odd)), Value::Null);
    }
    let odd = json!({"tool_name": 1, "tool_input": null, "tool_output": {}});
    for event in ["sessionStart", "beforeSubmitPrompt", "postToolUse", "stop", "sessionEnd"] {
        tell(&home, &payload(&home, event, odd.clone()));
    }
    assert_eq!(log(&home), "");
}
