//! Resources and prompts, and following what changes.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::Client;
use crate::support::Home;

fn read(client: &mut Client, uri: &str) -> String {
    let answer = client.request("resources/read", json!({ "uri": uri }));
    answer["result"]["contents"][0]["text"].as_str().unwrap().to_owned()
}

fn add(home: &Home, text: &str, kind: &str) -> String {
    let added = home.run(&["memory", "add", "--json", text, "--kind", kind]).expect(0);
    added.json()["id"].as_str().unwrap().to_owned()
}

#[test]
fn resources_are_listed_and_read() {
    let home = Home::new();
    let id = add(&home, "no, tests go into __tests__", "correction");
    add(&home, "staging runs on port 8443", "project-knowledge");
    let mut client = Client::greeted(&home);
    let list = client.request("resources/list", Value::Null);
    let uris: Vec<&Value> =
        list["result"]["resources"].as_array().unwrap().iter().map(|it| &it["uri"]).collect();
    assert_eq!(uris, ["recoup://rules", "recoup://knowledge", "recoup://corrections"]);
    let rules = read(&mut client, "recoup://rules");
    assert_eq!(rules, home.run(&["memory", "rules"]).expect(0).text());
    let knowledge = read(&mut client, "recoup://knowledge");
    assert!(knowledge.contains("8443") && !knowledge.contains("__tests__"), "{knowledge}");
    let corrections = read(&mut client, "recoup://corrections");
    assert!(corrections.contains("__tests__") && !corrections.contains("8443"), "{corrections}");
    let memory: Value =
        serde_json::from_str(&read(&mut client, &format!("recoup://memory/{id}"))).unwrap();
    assert_eq!(memory["type"], "correction");
    for uri in [
        "recoup://nope", "recoup://memory/zzzzzzzz", "recoup://memory/../x", "file:///etc/passwd",
        "",
    ] {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        assert_eq!(answer["error"]["code"], -32_002, "{uri}: {answer}");
    }
}

#[test]
fn whoever_follows_a_resource_is_told_when_another_process_changes_it() {
    let home = Home::new();
    add(&home, "use make", "preference");
    let mut client = Client::greeted(&home);
    let uri = json!({ "uri": "recoup://rules" });
    assert_eq!(client.request("resources/subscribe", uri.clone())["result"], json!({}));
    add(&home, "use tabs", "preference");
    let told = client.hear();
    assert_eq!(told["method"], "notifications/resources/updated");
    assert_eq!(told["params"]["uri"], "recoup://rules");
    // Said again, a rule is the same: nobody is told.
    add(&home, "use tabs", "preference");
    assert!(client.is_silent_for(Duration::from_millis(1_500)));
    client.request("resources/unsubscribe", uri);
    add(&home, "use nothing else", "preference");
    assert!(client.is_silent_for(Duration::from_millis(1_500)));
    let unknown = client.request("resources/subscribe", json!({ "uri": "recoup://nope" }));
    assert!(unknown["error"].is_object());
}

#[test]
fn whoever_follows_the_rules_is_told_when_one_is_out_of_date() {
    let home = Home::new();
    let script = home.write("scripts/x.sh", "true");
    add(&home, "run scripts/x.sh before each commit", "preference");
    let mut client = Client::greeted(&home);
    let uri = json!({ "uri": "recoup://rules" });
    assert_eq!(client.request("resources/subscribe", uri)["result"], json!({}));
    std::fs::remove_file(script).unwrap();
    assert_eq!(client.hear()["params"]["uri"], "recoup://rules");
    assert!(read(&mut client, "recoup://rules").contains("may be out of date"));
}

#[test]
fn a_client_of_2026_listens() {
    let home = Home::new();
    add(&home, "use make", "preference");
    let mut client = Client::start(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let id = client.ask(
        "subscriptions/listen",
        json!({ "_meta": meta, "notifications": {
        "resourceSubscriptions": ["recoup://rules", "recoup://nope", "recoup://rules"],
        "toolsListChanged": true } }),
    );
    let accepted = client.hear();
    assert_eq!(accepted["method"], "notifications/subscriptions/acknowledged");
    let followed = &accepted["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(followed, &json!(["recoup://rules", "recoup://rules"]), "{accepted}");
    add(&home, "use tabs", "preference");
    // Once, though it was named twice: what comes next is another answer.
    let told = client.hear();
    assert_eq!(told["params"]["uri"], "recoup://rules", "{told}");
    // It does not stand in the way of calls.
    let list = client.request("tools/list", json!({ "_meta": meta }));
    assert!(list["result"]["tools"].is_array());
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    assert_eq!(client.leave().0, Some(0));
}

#[test]
fn prompts_bring_memory_into_the_conversation() {
    let home = Home::new();
    add(&home, "use tabs", "preference");
    let mut client = Client::greeted(&home);
    client.data("save_checkpoint", json!({ "remaining": "docs" }));
    let list = client.request("prompts/list", Value::Null);
    let names: Vec<&Value> =
        list["result"]["prompts"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["load_rules", "recall", "resume"]);
    for (name, arguments, words) in [
        ("load_rules", json!({}), "use tabs"),
        ("recall", json!({ "query": "tabs" }), "said by the user"),
        ("resume", json!({}), "docs"),
    ] {
        let got = client.request("prompts/get", json!({ "name": name, "arguments": arguments }));
        let message = &got["result"]["messages"][0];
        assert_eq!(message["role"], "user");
        assert!(message["content"]["text"].as_str().unwrap().contains(words), "{got}");
    }
    for wrong in [json!({ "name": "nope" }), json!({ "name": "recall" })] {
        let answer = client.request("prompts/get", wrong);
        assert_eq!(answer["error"]["code"], -32_602, "{answer}");
    }
}

/// What is wrong may have anything in its name.
#[test]
fn faults_are_told_without_secrets_and_in_short_as_with_tools() {
    let home = Home::new();
    std::fs::create_dir_all(home.recoup()).unwrap();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let config = format!("\"{secret} {}\" = 1\n", "x".repeat(5_000));
    std::fs::write(home.recoup().join("config.toml"), config).unwrap();
    let mut client = Client::greeted(&home);
    let tool = client.failure("cache_stats", json!({}));
    for (method, params) in [
        ("resources/read", json!({ "uri": "recoup://rules" })),
        ("prompts/get", json!({ "name": "load_rules" })),
    ] {
        let answer = client.request(method, params);
        let said = answer["error"]["message"].as_str().unwrap();
        assert_eq!(said, tool, "{method}");
        assert!(!said.contains(&secret) && said.chars().count() <= 1_000, "{said}");
    }
}
