//! What Claude Code, Codex and Pi said to a server when they were recorded, said to ours.

use serde_json::{Value, json};

use super::client::{Client, text};
use crate::support::Home;

const CLAUDE: &str = include_str!("handshakes/claude-2026-07-28.jsonl");
const CLAUDE_LEGACY: &str = include_str!("handshakes/claude-legacy.jsonl");
const CODEX: &str = include_str!("handshakes/codex.jsonl");
const PI: &str = include_str!("handshakes/pi.jsonl");

/// Says what the client said, with a tool of ours in place of the one that was there, and
/// returns the answers.
fn replay(recording: &str) -> Vec<Value> {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let mut answers = Vec::new();
    for line in recording.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let mut message = line["msg"].clone();
        if line["way"] != "in" {
            continue;
        }
        if message["method"] == "tools/call" {
            message["params"]["name"] = json!("search_memory");
            message["params"]["arguments"] = json!({ "query": "tabs" });
        }
        client.say(&message);
        if !message["id"].is_null() {
            let answer = client.hear();
            assert_eq!(answer["id"], message["id"], "{answer}");
            answers.push(answer["result"].clone());
        }
    }
    assert_eq!(client.leave(), (Some(0), String::new()));
    answers
}

fn check_tools(list: &Value, called: &Value) {
    let names: Vec<&str> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"load_rules") && names.contains(&"cache_lookup"), "{names:?}");
    assert_eq!(text(called), "No matching memory.");
}

#[test]
fn claude_code_discovers_and_needs_no_hello() {
    let answers = replay(CLAUDE);
    let [discovered, list, called] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(discovered["resultType"], "complete");
    let versions = discovered["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")) && versions.contains(&json!("2025-11-25")));
    assert!(discovered["instructions"].as_str().unwrap().contains("load_rules"));
    let info = &discovered["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "recoup");
    assert!(list["ttlMs"].is_u64() && list["cacheScope"].is_string());
    assert_eq!(called["resultType"], "complete");
    check_tools(list, called);
}

#[test]
fn claude_code_may_discover_and_then_say_hello_all_the_same() {
    let answers = replay(CLAUDE_LEGACY);
    let [_, hello, list, called] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!(hello["protocolVersion"], "2025-11-25");
    assert_eq!(hello["serverInfo"]["name"], "recoup");
    assert!(called["resultType"].is_null(), "an older client does not know it: {called}");
    check_tools(list, called);
}

#[test]
fn codex_and_pi_get_the_version_that_they_ask_for() {
    for (recording, version) in [(CODEX, "2025-06-18"), (PI, "2025-11-25")] {
        let answers = replay(recording);
        let [hello, list, called] = &answers[..] else { panic!("{answers:?}") };
        assert_eq!(hello["protocolVersion"], version);
        assert!(hello["instructions"].as_str().unwrap().contains("store_memory"));
        check_tools(list, called);
    }
}
