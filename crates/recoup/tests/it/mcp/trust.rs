//! Whose word counts: what agents can do with what the user said, and what they can't.

use std::fs;

use serde_json::{Value, json};

use super::client::{Client, text};
use super::consent::{asked, forms, yes};
use crate::support::Home;

fn add(home: &Home, args: &[&str]) -> String {
    let args = [&["memory", "add", "--json"], args].concat();
    home.run(&args).expect(0).json()["id"].as_str().unwrap().to_owned()
}

fn rules(client: &mut Client) -> Value {
    let rules = client.data("load_rules", json!({}))["rules"].clone();
    rules.as_array().unwrap().iter().map(|rule| rule["text"].clone()).collect()
}

/// A note of the origin that an import says.
fn import(home: &Home, id: &str, text: &str, more: &Value) {
    let exported = home.run(&["memory", "export"]).expect(0).text();
    let mut lines = exported.lines();
    let head = lines.next().unwrap();
    let mut note: Value = serde_json::from_str(lines.next().unwrap()).unwrap();
    let changes = json!({ "id": id, "text": text, "topic": id });
    for more in [&changes, more] {
        note.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    }
    let file = home.write("import.jsonl", format!("{head}\n{note}\n"));
    home.run(&["memory", "import", file.to_str().unwrap()]).expect(0);
}

#[test]
fn an_agent_removes_what_it_stored_and_nothing_that_the_user_said() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let stored = client.data("store_memory", json!({ "content": "use tabs" }));
    let id = &stored["memory"]["id"];
    assert_eq!(client.data("delete_memory", json!({ "id": id }))["removed"], true);
    assert!(client.failure("delete_memory", json!({ "id": id })).contains("no memory"));
    let said = add(&home, &["use spaces"]);
    let result = client.call("delete_memory", json!({ "id": said }));
    assert_eq!(result["structuredContent"]["removed"], false);
    assert!(text(&result).contains("recoup memory retire"), "{result}");
    assert_eq!(rules(&mut client), json!(["use spaces"]));
}

#[test]
fn what_the_user_promotes_is_their_own_and_stays() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let stored = client.data("store_memory", json!({ "content": "never push to main" }));
    let id = stored["memory"]["id"].as_str().unwrap();
    home.run(&["memory", "promote", id]).expect(0);
    let block = text(&client.call("load_rules", json!({})));
    assert!(block.contains("The user said:\n- never push to main"), "{block}");
    assert_eq!(client.data("delete_memory", json!({ "id": id }))["removed"], false);
    assert_eq!(rules(&mut client), json!(["never push to main"]));
}

#[test]
fn another_projects_memory_is_not_there_unless_that_project_is_named() {
    let home = Home::new();
    let other = home.path("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let added = home.run_in(&other, &["memory", "add", "--json", "build with make"]).expect(0);
    let note = added.json();
    let (id, scope) = (note["id"].as_str().unwrap(), note["scope"].as_str().unwrap());
    let mut client = Client::greeted(&home);
    assert!(client.failure("delete_memory", json!({ "id": id })).contains("no memory"));
    let read = client.request("resources/read", json!({ "uri": format!("recoup://memory/{id}") }));
    assert_eq!(read["error"]["code"], -32_002, "{read}");
    let project = scope.strip_prefix("project:").unwrap();
    let named = json!({ "id": id, "projectId": project });
    assert_eq!(client.data("delete_memory", named)["removed"], false, "the user said it");
}

#[test]
fn what_counts_and_what_is_another_projects_is_removed_only_by_the_users_yes() {
    let home = Home::new();
    let other = home.path("other");
    fs::create_dir_all(other.join(".git")).unwrap();
    let mut there = Client::in_dir(&home, &other);
    let stored = there.data("store_memory", json!({ "content": "build with make" }));
    let project = stored["memory"]["scope"].as_str().unwrap().strip_prefix("project:").unwrap();
    let theirs = json!({ "id": stored["memory"]["id"], "projectId": project });
    add(&home, &["use tabs"]);
    let learned = json!({ "source": "extraction", "status": "active" });
    import(&home, "aaaaaaa4", "quote all variables", &learned);
    let mut asks = Client::greeted_with(&home, &[], &forms());
    for (arguments, words) in [
        (theirs, "this note by an agent"),
        (json!({ "id": "aaaaaaa4" }), "learned from earlier work"),
    ] {
        let mut unable = Client::greeted(&home);
        let kept = unable.data("delete_memory", arguments.clone());
        assert_eq!(kept["removed"], false, "{kept}");
        assert!(kept["message"].as_str().unwrap().contains("recoup memory forget"), "{kept}");
        let (question, gone) = asked(&mut asks, "delete_memory", &arguments, &yes());
        assert!(question.contains(words), "{question}");
        assert_eq!(gone["structuredContent"]["removed"], true, "{gone}");
    }
}

#[test]
fn agents_do_not_reorder_the_users_rules() {
    let home = Home::new();
    add(&home, &["always run tests before push"]);
    add(&home, &["prefer short names"]);
    let mut client = Client::greeted(&home);
    let before = text(&client.call("load_rules", json!({})));
    for rule in ["always run tests before push", "prefer short names"] {
        for _ in 0..20 {
            let known = client.data("store_memory", json!({ "content": rule }));
            assert_eq!(known["memory"]["evidence"], 1);
        }
        assert_eq!(text(&client.call("load_rules", json!({}))), before);
    }
}

#[test]
fn an_ignored_project_keeps_nothing_anywhere() {
    let home = Home::new();
    home.run(&["pause", "--project"]).expect(0);
    let mut client = Client::greeted(&home);
    let elsewhere = "0".repeat(32);
    for more in [json!({}), json!({ "scope": "universal" }), json!({ "projectId": elsewhere })] {
        let mut arguments = json!({ "content": "use tabs" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let said = client.failure("store_memory", arguments);
        assert!(said.contains("recoup resume --project"), "{said}");
    }
    for arguments in [json!({ "notes": "n" }), json!({ "notes": "n", "projectId": elsewhere })] {
        let saved = client.call("save_checkpoint", arguments);
        assert_eq!(saved["structuredContent"]["saved"], false);
        assert!(text(&saved).contains("recoup resume --project"), "{saved}");
    }
}

#[test]
fn what_search_withholds_is_given_nowhere() {
    let home = Home::new();
    add(&home, &["use tabs"]);
    import(&home, "aaaaaaa1", "run curl evil", &json!({ "source": "tool", "status": "candidate" }));
    import(&home, "aaaaaaa2", "use bazel", &json!({ "source": "team", "status": "active" }));
    import(
        &home,
        "aaaaaaa3",
        "quote all variables",
        &json!({ "source": "extraction", "status": "active", "kind": "correction" }),
    );
    let mut client = Client::greeted(&home);
    assert_eq!(client.data("search_memory", json!({ "query": "curl evil" }))["count"], 0);
    let tool = client.request("resources/read", json!({ "uri": "recoup://memory/aaaaaaa1" }));
    assert_eq!(tool["error"]["code"], -32_002, "{tool}");
    let stored = client.call("store_memory", json!({ "content": "run curl evil" }));
    assert!(!text(&stored).contains("promote"), "promotion refuses it: {stored}");
    let corrections =
        client.request("resources/read", json!({ "uri": "recoup://corrections" }))["result"]
            .clone();
    assert!(!corrections.to_string().contains("quote all"), "nobody has corrected that");
    let team = text(&client.call("delete_memory", json!({ "id": "aaaaaaa2" })));
    assert!(team.contains("team rule"), "{team}");
}
