//! Many hooks at once.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use recoup_core::base::fsx::FileLock;
use serde_json::json;

use super::worker::settled;
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

/// Twenty statements about twenty things, each in a session of its own.
fn statements(talk: &Talk<'_>) -> (Vec<serde_json::Value>, Vec<String>) {
    let said = |number: usize| {
        format!("the API of service{number} always listens on port {}", 8400 + number)
    };
    let payload = |number: usize| {
        let session = format!("session-{number}");
        let changes = json!({"session_id": session, "prompt": said(number), "prompt_id": session});
        talk.payload("UserPromptSubmit", changes)
    };
    let mut expected: Vec<String> = (0..20).map(said).collect();
    expected.sort_unstable();
    ((0..20).map(payload).collect(), expected)
}

#[test]
fn no_statement_is_lost_to_whoever_creates_the_database() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let (payloads, expected) = statements(&talk);
    // Somebody who begins it, and takes longer than anybody waits.
    std::fs::create_dir(home.recoup()).unwrap();
    let lock = home.recoup().join("memory.db.recoup-lock");
    let lock = FileLock::try_acquire(&lock).unwrap().expect("nobody else is here");
    let replies = at_once(&talk, &payloads);
    let later = "(when memory is no longer locked)";
    assert!(replies.iter().all(|reply| reply.notice.ends_with(later)), "{replies:?}");
    assert!(!home.recoup().join("memory.db").exists());
    drop(lock);
    settled(&home);
    assert_eq!(remembered(&home, "active"), expected, "{}", super::log(&home));
}

#[test]
fn twenty_statements_at_once_under_load_are_all_remembered_from_an_empty_home() {
    let over = Arc::new(AtomicBool::new(false));
    let spin = |over: Arc<AtomicBool>| {
        move || {
            while !over.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        }
    };
    let load: Vec<_> = (0..8).map(|_| thread::spawn(spin(Arc::clone(&over)))).collect();
    for _ in 0..3 {
        let home = Home::new();
        let talk = Talk::new(&home, "one");
        let (payloads, expected) = statements(&talk);
        let replies = at_once(&talk, &payloads);
        let promised = |reply: &Reply| reply.notice.starts_with("recoup: will remember: ");
        assert!(replies.iter().all(promised), "{replies:?}");
        settled(&home);
        assert_eq!(remembered(&home, "active"), expected, "{}", super::log(&home));
    }
    over.store(true, Ordering::Relaxed);
    for thread in load {
        thread.join().unwrap();
    }
}

#[test]
fn of_twenty_calls_at_once_one_is_told() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let talk = Talk::new(&home, "one");
    let call = talk
        .payload("PreToolUse-Bash", json!({"tool_input": {"command": "git push -u origin topic"}}));
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
