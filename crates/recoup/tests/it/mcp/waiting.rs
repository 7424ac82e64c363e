//! While a call waits for the user, or for what a client may never say, the client is heard; and
//! when it leaves, nobody waits any longer.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::Client;
use super::consent::forms;
use crate::support::Home;

fn store(content: &str, padding: usize) -> Value {
    json!({ "name": "store_memory", "arguments": { "content": content },
            "_meta": { "padding": "x".repeat(padding) } })
}

/// A request of a client of 2026-07-28 that follows the rules.
fn listen(padding: usize) -> Value {
    json!({ "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}, "padding": "x".repeat(padding) },
        "notifications": { "resourceSubscriptions": ["recoup://rules"] } })
}

#[test]
fn questions_that_are_open_do_not_make_it_deaf() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let mut questions = Vec::new();
    for n in 0..12 {
        client.ask("tools/call", store(&format!("use tool number {n}"), 1 << 20));
        questions.push(client.hear());
    }
    let ping = client.ask("ping", Value::Null);
    assert_eq!(client.hear()["id"], ping);
    for question in questions {
        assert_eq!(question["method"], "elicitation/create", "{question}");
        let closed = json!({ "action": "cancel" });
        client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": closed }));
        assert_eq!(client.hear()["result"]["structuredContent"]["memory"]["status"], "candidate");
    }
}

#[test]
fn a_user_is_not_asked_more_at_once_than_they_can_answer() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let mut asked = 0;
    for n in 0..40 {
        client.ask("tools/call", store(&format!("use tool number {n}"), 0));
        asked += usize::from(client.hear()["method"] == "elicitation/create");
    }
    assert_eq!(asked, 16, "the others wait as candidates");
}

#[test]
fn what_follows_resources_does_not_make_it_deaf() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    client.ask("subscriptions/listen", listen(9 << 20));
    assert_eq!(client.hear()["method"], "notifications/subscriptions/acknowledged");
    let mut list = listen(0);
    list.as_object_mut().unwrap().remove("notifications");
    assert!(client.request("tools/list", list)["result"]["tools"].is_array());
}

#[test]
fn it_ends_with_its_stdin_whoever_waits() {
    let home = Home::new();
    let mut asking = Client::greeted_with(&home, &[], &forms());
    asking.ask("tools/call", store("use tabs", 0));
    assert_eq!(asking.hear()["method"], "elicitation/create");
    let mut following = Client::start(&home, &[]);
    following.ask("subscriptions/listen", listen(0));
    assert_eq!(following.hear()["method"], "notifications/subscriptions/acknowledged");
    let mut list = listen(0);
    list.as_object_mut().unwrap().remove("notifications");
    following.request("tools/list", list);
    for client in [asking, following] {
        let begun = Instant::now();
        assert_eq!(client.leave(), (Some(0), String::new()));
        assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
    }
}

#[test]
fn rules_are_answered_while_large_files_are_read() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &json!({}));
    for n in 0..12 {
        let name = format!("large-{n}");
        std::fs::File::create(home.project().join(&name)).unwrap().set_len(64 << 20).unwrap();
        let arguments = json!({ "paths": [name], "query": "q", "operation": "review" });
        client.ask("tools/call", json!({ "name": "cache_lookup", "arguments": arguments }));
    }
    let rules = client.ask("tools/call", json!({ "name": "load_rules", "arguments": {} }));
    let answers = (0..13).map(|_| client.hear()["id"].clone());
    let before = answers.take_while(|id| *id != rules).count();
    assert!(before < 6, "{before} files came first");
}
