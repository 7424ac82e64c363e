//! Many hooks at once.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::json;

use super::{Reply, Talk, add, happened, remembered};
use crate::support::{Home, Output};

/// Starts all hooks before any is waited for.
fn at_once(talk: &Talk<'_>, payloads: &[serde_json::Value]) -> Vec<Reply> {
    let mut children = Vec::new();
    for payload in payloads {
        let mut command = talk.home.command(&["hook"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        children.push((child, payload["hook_event_name"].as_str().unwrap()));
    }
    let replies = children.into_iter().map(|(child, event)| {
        Reply::checked(Output::new(child.wait_with_output().unwrap()), event)
    });
    replies.collect()
}

#[test]
fn twenty_hooks_at_once_all_get_through_from_an_empty_home() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let call = |number: usize| {
        let id = format!("call-{number}");
        talk.payload("PostToolUse-Bash", json!({"tool_use_id": id}))
    };
    let payloads: Vec<_> = (0..20).map(call).collect();
    at_once(&talk, &payloads);
    assert_eq!(happened(&home, "succeeded").len(), 20, "{}", super::log(&home));
}

#[test]
fn of_twenty_calls_at_once_one_is_told() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let talk = Talk::new(&home, "one");
    let call =
        talk.payload("PreToolUse-Bash", json!({"tool_input": {"command": "git push origin main"}}));
    let replies = at_once(&talk, &vec![call; 20]);
    assert_eq!(replies.iter().filter(|reply| !reply.context.is_empty()).count(), 1);
}

#[test]
fn what_is_said_in_twenty_sessions_at_once_is_one_memory() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let said = |number: usize| {
        let session = format!("session-{number}");
        talk.payload(
            "UserPromptSubmit",
            json!({"session_id": session, "prompt": "from now on use pnpm"}),
        )
    };
    let payloads: Vec<_> = (0..20).map(said).collect();
    let replies = at_once(&talk, &payloads);
    assert!(replies.iter().all(|reply| reply.notice.ends_with(": use pnpm")), "{replies:?}");
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(notes[0]["evidence"], 20);
}
