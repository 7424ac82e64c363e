//! Clients that can ask their user: a yes makes a rule, and anything else does not.

use serde_json::{Value, json};

use super::client::Client;
use crate::support::Home;

/// What says that a client can show a form.
fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

/// Calls a tool, answers the question that comes, and returns the tool's data.
fn call_and_answer(client: &mut Client, tool: &str, arguments: &Value, action: &str) -> Value {
    let id = client.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    let question = client.hear();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    assert_eq!(question["params"]["requestedSchema"]["properties"], json!({}));
    let answer = json!({ "action": action, "content": {} });
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    let answer = client.hear();
    assert_eq!(answer["id"], id);
    answer["result"]["structuredContent"].clone()
}

#[test]
fn a_yes_of_the_user_makes_a_rule_at_once() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let stored =
        call_and_answer(&mut client, "store_memory", &json!({ "content": "use tabs" }), "accept");
    assert_eq!((&stored["is_rule"], &stored["memory"]["trust"]), (&json!(true), &json!("stated")));
    assert_eq!(client.data("load_rules", json!({}))["rules"][0]["text"], "use tabs");
    // It is a rule now: there is nothing to ask.
    let again = client.data("store_memory", json!({ "content": "use tabs" }));
    assert_eq!(again["is_rule"], true);
}

#[test]
fn a_change_of_mind_that_the_user_confirms_takes_the_old_rules_place() {
    let home = Home::new();
    home.run(&["memory", "add", "use tabs", "--topic", "indent"]).expect(0);
    let mut client = Client::greeted_with(&home, &[], &forms());
    let spaces = json!({ "content": "use two spaces", "metadata": { "preference_key": "indent" } });
    let stored = call_and_answer(&mut client, "store_memory", &spaces, "accept");
    assert_eq!(stored["instead_of"][0]["text"], "use tabs");
    assert_eq!(client.data("load_rules", json!({}))["rules"][0]["text"], "use two spaces");
}

#[test]
fn anything_but_a_yes_leaves_a_candidate() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    for action in ["decline", "cancel"] {
        let content = json!({ "content": "use tabs" });
        let stored = call_and_answer(&mut client, "store_memory", &content, action);
        assert_eq!(stored["is_rule"], false);
    }
    assert_eq!(client.data("load_rules", json!({}))["rules"], json!([]));
}

#[test]
fn what_the_user_said_is_removed_for_good_when_they_agree() {
    let home = Home::new();
    let id = home.run(&["memory", "add", "--json", "use tabs"]).expect(0).json()["id"].clone();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let gone = call_and_answer(&mut client, "delete_memory", &json!({ "id": id }), "accept");
    assert_eq!(gone["removed"], true);
    home.run(&["memory", "show", id.as_str().unwrap()]).expect(1);
}

#[test]
fn a_client_of_2026_asks_and_calls_again() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": forms(),
    });
    let call =
        json!({ "_meta": meta, "name": "store_memory", "arguments": { "content": "use tabs" } });
    let first = client.request("tools/call", call.clone())["result"].clone();
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(first["inputRequests"]["consent"]["method"], "elicitation/create");
    let mut second = call;
    second["inputResponses"] = json!({ "consent": { "action": "accept", "content": {} } });
    let second = client.request("tools/call", second)["result"].clone();
    assert_eq!(second["structuredContent"]["is_rule"], true, "{second}");
}

#[test]
fn where_nobody_is_there_nobody_is_asked() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &json!({ "elicitation": { "url": {} } }));
    assert_eq!(client.data("store_memory", json!({ "content": "use tabs" }))["is_rule"], false);
}
