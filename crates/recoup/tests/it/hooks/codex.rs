//! Codex: hooks of the same layout, and `notify`.

use std::fs;

use serde_json::{Value, json};

use super::worker::settled;
use super::{Reply, add, changed, fixture, happened, hook, remembered};
use crate::support::Home;

#[track_caller]
pub(super) fn tell(home: &Home, name: &str, changes: Value) -> Reply {
    let here = json!({"cwd": home.project(), "transcript_path": null});
    let payload = changed(changed(fixture("codex", name), here), changes);
    let event = payload["hook_event_name"].as_str().unwrap().to_owned();
    let output = hook(home.command(&["hook", "--client", "codex"]), payload.to_string().as_bytes());
    Reply::checked(output, &event)
}

#[test]
fn a_session_is_given_its_rules_and_again_after_a_compaction() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    let same = json!({"session_id": "one"});
    tell(&home, "SessionStart-startup", same.clone()).has_rules(&["use pnpm"]);
    tell(&home, "SessionStart-resume", same.clone()).is_silent();
    tell(&home, "PreCompact-auto", same.clone()).is_silent();
    tell(&home, "SessionStart-compact", same).has_rules(&["use pnpm"]);
}

#[test]
fn what_is_said_is_remembered_once_though_notify_tells_it_again() {
    let home = Home::new();
    let said = json!({"prompt": "from now on use pnpm"});
    let reply = tell(&home, "UserPromptSubmit", said);
    assert_eq!(reply.notice, "recoup: will remember: use pnpm");
    let changes = json!({"cwd": home.project(), "input-messages": ["from now on use pnpm"]});
    let notice = changed(fixture("codex", "notify"), changes).to_string();
    for _ in 0..2 {
        let output = home.run(&["hook", "--client", "codex", &notice]).expect(0);
        assert_eq!((output.text().as_str(), output.stderr.as_str()), ("", ""));
    }
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(notes[0]["evidence"], 1);
    assert_eq!(happened(&home, "stopped").len(), 1);
}

#[test]
fn a_prompt_counts_once_whatever_stands_around_it() {
    let home = Home::new();
    tell(&home, "UserPromptSubmit", json!({"prompt": "never use var\n"}));
    let messages = ["never use var\n<system-reminder>be brief</system-reminder>\n"];
    for messages in [json!(["never use var\n"]), json!(messages)] {
        let changes = json!({"cwd": home.project(), "input-messages": messages});
        let notice = changed(fixture("codex", "notify"), changes).to_string();
        home.run(&["hook", "--client", "codex", &notice]).expect(0);
    }
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(notes[0]["evidence"], 1);
    assert_eq!(happened(&home, "prompted").len(), 1);
}

/// A line of a rollout that a person typed.
fn typed(text: &str) -> String {
    let payload = json!({"type": "user_message", "message": text});
    format!("{}\n", json!({"type": "event_msg", "payload": payload}))
}

#[test]
fn what_is_said_while_the_agent_works_is_found_in_the_rollout() {
    let home = Home::new();
    tell(&home, "UserPromptSubmit", json!({"prompt": "never use var"}));
    let rollout = home.path("rollout-x.jsonl");
    fs::write(&rollout, typed("never use var\n") + &typed("never push to main")).unwrap();
    tell(&home, "Stop", json!({"transcript_path": rollout})).is_silent();
    settled(&home);
    assert_eq!(remembered(&home, "active"), ["never push to main", "never use var"]);
    assert_eq!(happened(&home, "prompted").len(), 2);

    let by_agent = home.path("rollout-y.jsonl");
    let meta = json!({"type": "session_meta",
                      "payload": {"id": "x", "source": {"subagent": {"thread_spawn": {}}}}});
    fs::write(&by_agent, format!("{meta}\n") + &typed("never use eval")).unwrap();
    tell(&home, "Stop", json!({"session_id": "y", "transcript_path": by_agent})).is_silent();
    settled(&home);
    assert_eq!(remembered(&home, "candidate"), ["never use eval"]);
}

#[test]
fn notify_alone_tells_what_was_said_and_a_script_is_no_person() {
    let home = Home::new();
    let changes = json!({"cwd": home.project(), "input-messages": ["from now on use pnpm"]});
    let by_script = changed(fixture("codex", "notify"), changes);
    home.run(&["hook", &by_script.to_string()]).expect(0);
    assert_eq!(remembered(&home, "candidate"), ["use pnpm"]);
    let by_person = changed(by_script, json!({"client": "codex-tui", "turn-id": "another"}));
    home.run(&["hook", &by_person.to_string()]).expect(0);
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
}

#[test]
fn what_notify_can_not_show_is_told_at_the_next_event_that_can() {
    let home = Home::new();
    add(&home, &["staging runs on port 8443"]);
    let messages = ["from now on use pnpm", "which port does staging run on?"];
    let changes = json!({"cwd": home.project(), "client": "codex-tui", "input-messages": messages});
    let notice = changed(fixture("codex", "notify"), changes);
    home.run(&["hook", &notice.to_string()]).expect(0);
    let later = changed(notice, json!({"turn-id": "later", "input-messages": ["thanks"]}));
    home.run(&["hook", &later.to_string()]).expect(0);
    let thread = later["thread-id"].as_str().unwrap();
    let asked = json!({"session_id": thread, "prompt": "on which port does staging run?"});
    let reply = tell(&home, "UserPromptSubmit", asked);
    assert_eq!(reply.notice, "recoup: will remember: use pnpm");
    reply.has_rules(&["staging runs on port 8443"]);
    let again = json!({"session_id": thread, "prompt": "and another thing"});
    assert_eq!(tell(&home, "UserPromptSubmit", again).notice, "", "once");
}

#[test]
fn how_a_command_ended_is_known_from_the_transcript() {
    let home = Home::new();
    tell(&home, "PostToolUse", json!({})).is_silent();
    let rollout = home.path("rollout-x.jsonl");
    let arguments = json!({"command": "ls /nonexistent"}).to_string();
    let call = json!({"type": "function_call", "name": "shell_command", "call_id": "call_fake_00001_1", "arguments": arguments});
    let text = "Exit code: 2\nWall time: 0.1 seconds\nOutput:\nls: cannot access '/nonexistent': No such file or directory\n";
    let output =
        json!({"type": "function_call_output", "call_id": "call_fake_00001_1", "output": text});
    let line = |payload| json!({"timestamp": "2026-11-15T20:37:02.000Z", "type": "response_item", "payload": payload});
    fs::write(&rollout, format!("{}\n{}\n", line(call), line(output))).unwrap();
    for _ in 0..2 {
        tell(&home, "Stop", json!({"transcript_path": rollout})).is_silent();
        settled(&home);
    }
    let error = "ls: cannot access '/nonexistent': No such file or directory";
    assert_eq!(happened(&home, "failed"), [("ls".to_owned(), error.to_owned())]);
    assert_eq!(happened(&home, "succeeded"), []);
}

#[test]
fn what_codex_exec_was_told_by_a_script_only_waits() {
    let home = Home::new();
    let rollout = home.path("rollout-y.jsonl");
    let meta = json!({"type": "session_meta", "payload": {"id": "x", "originator": "codex_exec"}});
    fs::write(&rollout, format!("{meta}\n")).unwrap();
    let changes = json!({"prompt": "from now on use pnpm", "transcript_path": rollout});
    tell(&home, "UserPromptSubmit", changes).is_silent();
    assert_eq!(remembered(&home, "candidate"), ["use pnpm"]);
}
