//! Clients of 2026-07-28 bring the user's answer with a second call: it counts only as the
//! answer to the question that they were given.

use serde_json::{Value, json};

use super::client::Client;
use super::consent::{forms, no, read_first, yes};
use crate::support::Home;

fn call(content: &str, capabilities: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    json!({ "_meta": meta, "name": "store_memory", "arguments": { "content": content } })
}

fn with_yes(call: Value, state: &Value) -> Value {
    with(call, &yes(), state)
}

fn with(mut call: Value, answer: &Value, state: &Value) -> Value {
    call["inputResponses"] = json!({ "consent": answer });
    if !state.is_null() {
        call["requestState"] = state.clone();
    }
    call
}

fn result(client: &mut Client, call: Value) -> Value {
    client.request("tools/call", call)["result"].clone()
}

fn no_rules(home: &Home) -> bool {
    Client::greeted(home).data("load_rules", json!({}))["rules"] == json!([])
}

#[test]
fn a_client_of_2026_asks_and_calls_again() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let first = result(&mut client, call("use tabs", &forms()));
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(first["inputRequests"]["consent"]["method"], "elicitation/create");
    let second = with_yes(call("use tabs", &forms()), &first["requestState"]);
    let second = result(&mut client, second)["structuredContent"].clone();
    assert_eq!((&second["is_rule"], &second["known"]), (&json!(true), &json!(false)), "{second}");
    assert_eq!(second["memory"]["evidence"], 1);
}

#[test]
fn a_yes_to_no_question_is_none() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    for state in [Value::Null, json!(""), json!("n"), json!("né"), json!(format!("n{:064}", 0))] {
        let asked = result(&mut client, with_yes(call("use tabs", &forms()), &state));
        assert_eq!(asked["resultType"], "input_required", "{asked}");
    }
    let unable = result(&mut client, with_yes(call("use tabs", &json!({})), &Value::Null));
    assert_eq!(unable["structuredContent"]["is_rule"], false, "{unable}");
    // The field means nothing to a client of before.
    let mut older = Client::greeted(&home);
    let mut said = with_yes(call("use tabs", &json!({})), &Value::Null);
    said.as_object_mut().unwrap().remove("_meta");
    assert_eq!(result(&mut older, said)["structuredContent"]["is_rule"], false);
    assert!(no_rules(&home));
}

#[test]
fn a_yes_is_to_the_words_that_were_shown_by_this_server() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let state = result(&mut client, call("use tabs", &forms()))["requestState"].clone();
    let other = with_yes(call("never ask before deploying", &forms()), &state);
    assert_eq!(result(&mut client, other)["resultType"], "input_required");
    let mut another = Client::start(&home, &[]);
    let moved = with_yes(call("use tabs", &forms()), &state);
    assert_eq!(result(&mut another, moved.clone())["resultType"], "input_required");
    assert!(no_rules(&home));
    assert_eq!(result(&mut client, moved)["structuredContent"]["is_rule"], true);
}

#[test]
fn a_no_counts_when_somebody_may_have_read_the_question() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let first = result(&mut client, call("use tabs", &forms()));
    let declined = with(call("use tabs", &forms()), &no(), &first["requestState"]);
    let fast = result(&mut client, declined.clone())["structuredContent"].clone();
    assert_eq!(fast["memory"]["status"], "candidate", "{fast}");
    read_first();
    let slow = result(&mut client, declined)["structuredContent"].clone();
    assert_eq!(slow["memory"]["status"], "retired", "{slow}");
}

#[test]
fn a_yes_counts_once() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let state = result(&mut client, call("use tabs", &forms()))["requestState"].clone();
    let agreed = with_yes(call("use tabs", &forms()), &state);
    assert_eq!(result(&mut client, agreed.clone())["structuredContent"]["is_rule"], true);
    let id = id_of(&home, "use tabs");
    home.run(&["memory", "retire", &id]).expect(0);
    assert_eq!(result(&mut client, agreed.clone())["structuredContent"]["is_rule"], false);
    home.run(&["memory", "forget", "--yes", &id_of(&home, "use tabs")]).expect(0);
    assert_eq!(result(&mut client, agreed)["resultType"], "input_required");
    assert!(no_rules(&home));
}

fn id_of(home: &Home, text: &str) -> String {
    let all = home.run(&["memory", "list", "--all", "--json"]).expect(0).json();
    let all = all.as_array().or_else(|| all["memories"].as_array()).unwrap().clone();
    let note = all.iter().find(|note| note["text"] == text).unwrap();
    note["id"].as_str().unwrap().to_owned()
}
