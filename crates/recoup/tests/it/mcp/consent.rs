//! Clients that can ask their user: a yes makes a rule, and anything else does not.

use std::time::Duration;

use serde_json::{Value, json};

use super::client::{Client, text};
use crate::support::Home;

/// What says that a client can show a form.
pub(super) fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

pub(super) fn yes() -> Value {
    json!({ "action": "accept", "content": { "agree": true } })
}

pub(super) fn no() -> Value {
    json!({ "action": "decline" })
}

/// As long as a person takes, at least, who reads the question first.
pub(super) fn read_first() {
    std::thread::sleep(Duration::from_millis(1_700));
}

/// Calls a tool that asks; says what the user is shown, and what the tool answers then.
pub(super) fn asked(
    client: &mut Client,
    tool: &str,
    arguments: &Value,
    answer: &Value,
) -> (String, Value) {
    let id = client.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    let question = client.hear();
    assert_eq!(question["method"], "elicitation/create", "{question}");
    if *answer == no() {
        read_first();
    }
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
    let answer = client.hear();
    assert_eq!(answer["id"], id);
    (question["params"]["message"].as_str().unwrap().to_owned(), answer["result"].clone())
}

fn stored(client: &mut Client, arguments: &Value, answer: &Value) -> Value {
    asked(client, "store_memory", arguments, answer).1["structuredContent"].clone()
}

fn add(home: &Home, args: &[&str]) -> String {
    let added = home.run(&[&["memory", "add", "--json"], args].concat()).expect(0);
    added.json()["id"].as_str().unwrap().to_owned()
}

fn rules(client: &mut Client) -> Value {
    let rules = client.data("load_rules", json!({}))["rules"].clone();
    rules.as_array().unwrap().iter().map(|rule| rule["text"].clone()).collect()
}

#[test]
fn a_yes_of_the_user_makes_a_rule_at_once() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let stored = stored(&mut client, &json!({ "content": "use tabs" }), &yes());
    assert_eq!((&stored["is_rule"], &stored["memory"]["trust"]), (&json!(true), &json!("stated")));
    assert_eq!((&stored["known"], &stored["memory"]["evidence"]), (&json!(false), &json!(1)));
    assert_eq!(rules(&mut client), json!(["use tabs"]));
    // It is a rule now: there is nothing to ask.
    let again = client.data("store_memory", json!({ "content": "use tabs" }));
    assert_eq!((&again["is_rule"], &again["known"]), (&json!(true), &json!(true)));
}

/// Some clients accept a form without fields by themselves.
#[test]
fn the_form_has_a_field_that_must_be_ticked() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    client.ask("tools/call", json!({ "name": "store_memory", "arguments": { "content": "a b" } }));
    let schema = client.hear()["params"]["requestedSchema"].clone();
    assert_eq!(schema["required"], json!(["agree"]));
    assert_eq!(schema["properties"]["agree"]["type"], "boolean");
}

#[test]
fn anything_but_a_ticked_yes_makes_no_rule() {
    for answer in [
        no(),
        json!({ "action": "cancel" }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "agree": false } }),
        json!({ "action": "accept", "content": { "agree": "true" } }),
    ] {
        let home = Home::new();
        let mut client = Client::greeted_with(&home, &[], &forms());
        let stored = stored(&mut client, &json!({ "content": "use tabs" }), &answer);
        assert_eq!(stored["is_rule"], false, "{answer}");
        assert_eq!(rules(&mut client), json!([]));
    }
}

#[test]
fn who_said_no_is_not_asked_again() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let content = json!({ "content": "always push to main" });
    let (_, result) = asked(&mut client, "store_memory", &content, &no());
    assert!(text(&result).contains("said no") && !text(&result).contains("promote"), "{result}");
    let again = client.data("store_memory", content.clone());
    assert_eq!(again["is_rule"], false);
    // Who only closed the form may be asked later.
    let other = json!({ "content": "use tabs" });
    asked(&mut client, "store_memory", &other, &json!({ "action": "cancel" }));
    assert_eq!(stored(&mut client, &other, &yes())["is_rule"], true);
}

/// Codex with the approval policy `never` declines what it has shown to nobody.
#[test]
fn a_no_that_is_too_fast_for_a_person_is_nobodys_and_the_note_waits() {
    for answer in [no(), json!({ "action": "accept", "content": { "agree": false } })] {
        let home = Home::new();
        let mut client = Client::greeted_with(&home, &[], &forms());
        let call = json!({ "name": "store_memory", "arguments": { "content": "use pnpm" } });
        for _ in 0..2 {
            client.ask("tools/call", call.clone());
            let question = client.hear();
            client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": answer }));
            let stored = client.hear()["result"]["structuredContent"].clone();
            assert_eq!(stored["memory"]["status"], "candidate", "{stored}");
            let message = stored["message"].as_str().unwrap();
            assert!(
                message.contains("memory promote") && !message.contains("said no"),
                "{message}"
            );
        }
        assert_eq!(stored(&mut client, &json!({ "content": "use pnpm" }), &yes())["is_rule"], true);
    }
}

#[test]
fn a_run_that_nobody_watches_is_not_asked() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let call = json!({ "name": "store_memory", "arguments": { "content": "use pnpm" },
        "_meta": { "x-codex-turn-metadata": { "turn_trigger": "exec" } } });
    let stored = client.request("tools/call", call)["result"]["structuredContent"].clone();
    assert_eq!(stored["memory"]["status"], "candidate", "{stored}");
}

#[test]
fn with_hooks_the_user_is_not_asked_about_what_they_have_just_said() {
    let home = Home::new();
    add(&home, &["use pnpm instead of npm"]);
    let again = json!({ "content": "Use pnpm, not npm" });
    let mut hooked = Client::greeted_with(&home, &["--with-hooks"], &forms());
    let stored = hooked.data("store_memory", again.clone());
    assert_eq!(stored["memory"]["status"], "candidate", "{stored}");
    let message = stored["message"].as_str().unwrap();
    assert!(message.contains("use pnpm instead of npm"), "{message}");
    // Without hooks nobody else has heard it.
    let mut client = Client::greeted_with(&home, &[], &forms());
    let (question, _) = asked(&mut client, "store_memory", &again, &yes());
    assert!(question.contains("It replaces:"), "{question}");
}

#[test]
fn what_the_user_did_meanwhile_is_not_undone_by_a_no() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let call = json!({ "name": "store_memory", "arguments": { "content": "use tabs" } });
    client.ask("tools/call", call);
    let question = client.hear();
    let all = home.run(&["memory", "list", "--all", "--json"]).expect(0).json();
    let id = all.to_string().split("\"id\":\"").nth(1).unwrap()[..8].to_owned();
    home.run(&["memory", "promote", &id]).expect(0);
    read_first();
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": no() }));
    client.hear();
    assert_eq!(rules(&mut client), json!(["use tabs"]));
}

#[test]
fn the_question_names_what_gives_way_and_the_project() {
    let home = Home::new();
    add(&home, &["never push to main", "--topic", "git"]);
    let mut client = Client::greeted_with(&home, &[], &forms());
    let spaces = json!({ "content": "use two spaces", "metadata": { "preference_key": "git" } });
    let (question, result) = asked(&mut client, "store_memory", &spaces, &yes());
    assert!(question.contains("It replaces:\n- never push to main"), "{question}");
    assert!(question.contains(&*home.project().to_string_lossy()), "{question}");
    assert_eq!(result["structuredContent"]["instead_of"][0]["text"], "never push to main");
    assert_eq!(rules(&mut client), json!(["use two spaces"]));
    let elsewhere = "0".repeat(32);
    let other = json!({ "content": "deploy without asking", "projectId": elsewhere });
    let (question, _) = asked(&mut client, "store_memory", &other, &no());
    assert!(question.contains(&elsewhere), "{question}");
    let everywhere = json!({ "content": "use make", "scope": "universal" });
    let (question, _) = asked(&mut client, "store_memory", &everywhere, &no());
    assert!(question.contains("in all your projects"), "{question}");
}

#[test]
fn a_topic_that_is_named_later_is_agreed_to_as_well() {
    let home = Home::new();
    add(&home, &["use npm", "--topic", "pkg"]);
    Client::greeted(&home).data("store_memory", json!({ "content": "use pnpm" }));
    let mut client = Client::greeted_with(&home, &[], &forms());
    let named = json!({ "content": "use pnpm", "metadata": { "preference_key": "pkg" } });
    assert_eq!(stored(&mut client, &named, &yes())["instead_of"][0]["text"], "use npm");
    assert_eq!(rules(&mut client), json!(["use pnpm"]));
}

#[test]
fn what_the_user_said_is_removed_for_good_only_when_they_agree() {
    let home = Home::new();
    let id = add(&home, &["use tabs"]);
    let mut client = Client::greeted_with(&home, &[], &forms());
    let arguments = json!({ "id": id });
    for answer in [no(), json!({ "action": "accept", "content": {} })] {
        let (question, kept) = asked(&mut client, "delete_memory", &arguments, &answer);
        assert!(question.contains("use tabs"), "{question}");
        assert_eq!(kept["structuredContent"]["removed"], false);
        assert_eq!(rules(&mut client), json!(["use tabs"]));
    }
    let (_, gone) = asked(&mut client, "delete_memory", &arguments, &yes());
    assert_eq!(gone["structuredContent"]["removed"], true);
    home.run(&["memory", "show", &id]).expect(1);
}

#[test]
fn what_a_tool_said_becomes_no_rule_by_a_yes() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let words = json!({ "content": "run everything as root" });
    client.ask("tools/call", json!({ "name": "store_memory", "arguments": words }));
    let question = client.hear();
    // Meanwhile it turns out that a tool had said so.
    let sql = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    sql.execute("UPDATE notes SET source = 'tool'", []).unwrap();
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }));
    assert_eq!(client.hear()["result"]["isError"], true);
    let again = client.call("store_memory", words);
    assert!(text(&again).contains("a tool said the same"), "{again}");
    assert_eq!(rules(&mut client), json!([]));
}

#[test]
fn a_cancelled_call_takes_its_question_back() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &forms());
    let call = json!({ "name": "store_memory", "arguments": { "content": "use tabs" } });
    let id = client.ask("tools/call", call);
    let question = client.hear();
    client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                        "params": { "requestId": id } }));
    let withdrawn = client.hear();
    assert_eq!(withdrawn["method"], "notifications/cancelled", "{withdrawn}");
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    client.say(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": yes() }));
    assert!(client.is_silent_for(Duration::from_millis(300)));
    assert_eq!(rules(&mut client), json!([]), "a late yes is none");
}

#[test]
fn where_nobody_is_there_nobody_is_asked_and_nothing_of_the_users_goes() {
    let home = Home::new();
    let id = add(&home, &["use make"]);
    let headless = Client::headless(&home, &forms());
    let unable = Client::greeted_with(&home, &[], &json!({ "elicitation": { "url": {} } }));
    for mut client in [headless, unable] {
        assert_eq!(client.data("store_memory", json!({ "content": "use tabs" }))["is_rule"], false);
        let result = client.call("delete_memory", json!({ "id": id }));
        assert_eq!(result["structuredContent"]["removed"], false);
        assert!(text(&result).contains(&format!("recoup memory retire {id}")), "{result}");
        assert_eq!(rules(&mut client), json!(["use make"]));
    }
}
