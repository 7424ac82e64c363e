//! Every payload that was ever recorded, and every one of them damaged.

use std::fs;

use serde_json::{Value, json};

use super::{Reply, add, fixture, fixtures, hook};
use crate::support::Home;

/// The names of a client's payloads.
fn names(client: &str) -> Vec<String> {
    let files = fs::read_dir(fixtures(client)).unwrap().map(|file| file.unwrap().file_name());
    let name = |file: std::ffi::OsString| file.to_str()?.strip_suffix(".json").map(str::to_owned);
    let mut names: Vec<String> = files.filter_map(name).collect();
    names.retain(|name| name != "transcript-entries");
    names.sort_unstable();
    assert!(names.len() >= 11, "{names:?}");
    names
}

#[test]
fn every_recorded_payload_gets_an_answer_that_its_client_takes() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    for client in ["claude-code", "codex"] {
        for name in names(client) {
            let payload = fixture(client, &name);
            let event = payload["hook_event_name"].as_str().unwrap_or("notify").to_owned();
            for args in [&["hook"][..], &["hook", "--client", client]] {
                let output = hook(home.command(args), payload.to_string().as_bytes());
                Reply::checked(output, &event);
            }
        }
    }
    assert_eq!(super::log(&home), "");
}

#[test]
fn every_field_may_be_missing_or_of_another_type() {
    let home = Home::new();
    add(&home, &["never push to main"]);
    let wrong = [Value::Null, json!(7), json!([1]), json!({"a": 1}), json!("x"), json!(true)];
    for name in ["SessionStart-startup", "UserPromptSubmit", "PostToolUse-Edit", "PostToolBatch"] {
        let whole = fixture("claude-code", name);
        let fields: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
        for (number, field) in fields.iter().enumerate() {
            let mut payload = whole.clone();
            payload[field] = wrong[number % wrong.len()].clone();
            let event = payload["hook_event_name"].as_str().unwrap_or_default().to_owned();
            Reply::checked(hook(home.command(&["hook"]), payload.to_string().as_bytes()), &event);
            payload.as_object_mut().unwrap().remove(field);
            Reply::checked(hook(home.command(&["hook"]), payload.to_string().as_bytes()), &event);
        }
    }
}

/// Some of them run Claude Code's hooks, and without arguments.
#[test]
fn payloads_of_other_clients_disturb_nobody_whoever_is_said_to_send_them() {
    let home = Home::new();
    for client in ["copilot", "droid", "gemini", "kimi", "qwen"] {
        for name in names(client) {
            let payload = fixture(client, &name).to_string();
            for args in [&["hook"][..], &[], &["hook", "--client", client]] {
                let output = hook(home.command(args), payload.as_bytes()).expect(0);
                assert_eq!(
                    (output.text(), output.stderr),
                    (String::new(), String::new()),
                    "{client} {name}"
                );
            }
        }
    }
    assert_eq!(super::log(&home), "");
}
