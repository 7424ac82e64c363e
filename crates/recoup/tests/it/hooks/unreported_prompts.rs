//! What the user says while the agent works: the client may fire no hook for it, and writes it
//! into the transcript.

use std::path::PathBuf;

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use serde_json::{Value, json};

use super::worker::{settled, stops};
use super::{Talk, add, happened, log, remembered};
use crate::support::Home;

/// So many minutes before now, as a transcript has it.
fn ago(minutes: i64) -> String {
    let now = SystemClock.now().as_millis();
    Timestamp::from_millis(now - minutes * 60_000).to_string()
}

/// A prompt that was read when the agent was idle.
fn typed(text: &str, at: &str) -> Value {
    json!({"type": "user", "message": {"role": "user", "content": text},
           "origin": {"kind": "human"}, "timestamp": at})
}

/// One that was read between two tool calls.
fn queued(text: &str, at: &str) -> Value {
    json!({"type": "attachment", "timestamp": at,
           "attachment": {"type": "queued_command", "prompt": text, "commandMode": "prompt",
                          "origin": {"kind": "human"}}})
}

fn transcript(home: &Home, name: &str, lines: &[Value]) -> PathBuf {
    home.write(name, lines.iter().map(|line| line.to_string() + "\n").collect::<String>())
}

#[test]
fn what_is_said_while_the_agent_works_is_remembered_and_told_once() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("fix the login");
    let lines = [typed("fix the login", &ago(5)), queued("no, put tests in `__tests__/`", &ago(3))];
    let path = transcript(&home, "one.jsonl", &lines);
    for _ in 0..2 {
        stops(&talk, &path);
        settled(&home);
    }
    assert_eq!(remembered(&home, "active"), ["put tests in `__tests__/`"], "{}", log(&home));
    assert_eq!(talk.says("thanks").notice, "recoup: will remember: put tests in `__tests__/`");
    assert_eq!(talk.says("and now?").notice, "");
    Talk::new(&home, "two").tell("SessionStart-startup").has_rules(&["put tests in `__tests__/`"]);
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(notes[0]["evidence"], 1);
}

#[test]
fn what_a_hook_has_told_counts_once_whatever_stands_around_it() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let said = "\n never push to main \n<private>as Zed says</private>\n";
    talk.says(said);
    let lines = [typed(&format!("{said}<system-reminder>be brief</system-reminder>"), &ago(0))];
    stops(&talk, &transcript(&home, "one.jsonl", &lines));
    settled(&home);
    // A fork has it in a transcript of its own.
    let fork = Talk::new(&home, "two");
    fork.says("go on");
    stops(&fork, &transcript(&home, "two.jsonl", &lines));
    settled(&home);
    let notes = home.run(&["memory", "list", "--json"]).expect(0).json();
    assert_eq!(
        (notes[0]["text"].as_str(), &notes[0]["evidence"]),
        (Some("never push to main"), &json!(1))
    );
    assert_eq!(happened(&home, "prompted").len(), 2, "and `go on`");
}

#[test]
fn what_a_hook_has_told_in_one_project_is_not_said_in_the_next() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("never push to main");
    let other = home.path("other");
    std::fs::create_dir(&other).unwrap();
    let path = transcript(&home, "one.jsonl", &[typed("never push to main", &ago(0))]);
    stops(&talk.within(&other), &path);
    settled(&home);
    assert_eq!(remembered(&home, "active"), ["never push to main"], "and not twice");
}

#[test]
fn what_is_clear_and_what_is_not_is_kept_before_a_compaction() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    let lines = [
        typed("maybe use ripgrep instead of grep", &ago(9)),
        typed("never push to main", &ago(8)),
        queued("no, put tests in `__tests__/`", &ago(7)),
    ];
    let path = transcript(&home, "one.jsonl", &lines);
    talk.tell_with("PreCompact-auto", json!({"transcript_path": path})).is_silent();
    settled(&home);
    assert_eq!(remembered(&home, "active"), ["never push to main", "put tests in `__tests__/`"]);
    assert_eq!(remembered(&home, "candidate"), ["use ripgrep instead of grep"]);
}

#[test]
fn what_a_script_says_in_between_only_waits() {
    let home = Home::new();
    let talk = Talk { entrypoint: "sdk-cli", ..Talk::new(&home, "one") };
    let path = transcript(&home, "one.jsonl", &[queued("never push to main", &ago(1))]);
    stops(&talk, &path);
    settled(&home);
    assert_eq!(remembered(&home, "active"), [""; 0]);
    assert_eq!(remembered(&home, "candidate"), ["never push to main"]);
    assert_eq!(Talk::new(&home, "two").says("hello there").notice, "");
}

#[test]
fn what_was_said_earlier_does_not_overturn_what_was_said_since() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm instead of npm");
    let now = remembered(&home, "active");
    let lines = [queued("from now on use yarn instead of npm", &ago(30))];
    stops(&talk, &transcript(&home, "one.jsonl", &lines));
    settled(&home);
    assert_eq!(remembered(&home, "active"), now, "{:?}", remembered(&home, "superseded"));
}

#[test]
fn what_was_said_long_ago_or_to_a_sub_agent_or_in_a_pause_is_not_caught_up_on() {
    let home = Home::new();
    add(&home, &["we use tabs"]);
    home.run(&["pause"]).expect(0);
    let paused = ago(0);
    home.run(&["resume"]).expect(0);
    let mut inside = typed("never use eval", &ago(1));
    inside["isSidechain"] = true.into();
    let lines = [
        typed("never push to main", &ago(60 * 24 + 1)),
        inside,
        json!({"type": "user", "message": {"role": "user", "content": "never use var"},
               "isMeta": true, "timestamp": ago(1)}),
        queued("never use any", &paused),
    ];
    let talk = Talk::new(&home, "one");
    let path = transcript(&home, "one.jsonl", &lines);
    stops(&talk, &path);
    talk.tell_with("SubagentStop", json!({"agent_transcript_path": path})).is_silent();
    settled(&home);
    assert_eq!(remembered(&home, "active"), ["we use tabs"]);
    assert_eq!(remembered(&home, "candidate"), [""; 0]);
}
