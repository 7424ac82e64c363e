//! What a client is told about the server: tools with schemas and hints, and instructions.

use recoup_core::condense::Tokenizer;
use serde_json::{Map, Value, json};

use super::client::Client;
use crate::support::Home;

const ALWAYS: &str = "anthropic/alwaysLoad";

fn tools(args: &[&str]) -> Vec<Value> {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, args, &json!({}));
    let list = client.request("tools/list", Value::Null);
    list["result"]["tools"].as_array().unwrap().clone()
}

fn always_loaded(tools: &[Value]) -> Vec<&str> {
    let always = tools.iter().filter(|tool| tool["_meta"][ALWAYS] == true);
    always.map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn every_tool_says_what_it_takes_gives_and_does() {
    let tools = tools(&["--tools", "all"]);
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let expected = [
        "load_rules", "store_memory", "search_memory", "delete_memory", "save_checkpoint",
        "load_checkpoint", "cache_lookup", "cache_store", "cache_invalidate", "cache_explain",
        "cache_stats",
    ];
    assert_eq!(names, expected);
    for tool in &tools {
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert!(tool["annotations"]["readOnlyHint"].is_boolean(), "{tool}");
        assert!(tool["title"].is_string() && tool["description"].as_str().unwrap().len() > 40);
    }
    let destructive = tools.iter().filter(|tool| tool["annotations"]["destructiveHint"] == true);
    let destructive: Vec<&Value> = destructive.map(|tool| &tool["name"]).collect();
    let expected = ["delete_memory", "save_checkpoint", "cache_store", "cache_invalidate"];
    assert_eq!(destructive, expected, "what replaces destroys, too");
}

#[test]
fn the_list_is_the_same_each_time_under_the_id_of_its_request() {
    let home = Home::new();
    let mut client = Client::greeted_with(&home, &[], &json!({}));
    let lists: Vec<Value> = (0..3).map(|_| client.request("tools/list", Value::Null)).collect();
    assert_eq!(lists[0]["result"]["tools"].as_array().unwrap().len(), 8);
    for pair in lists.windows(2) {
        assert_eq!(pair[0]["result"], pair[1]["result"]);
        assert_ne!(pair[0]["id"], pair[1]["id"]);
    }
}

#[test]
fn the_original_inputs_are_all_there() {
    let complete = tools(&["--tools", "all"]);
    let tools = tools(&[]);
    let inputs = [
        ("load_rules", vec!["projectId"]),
        ("store_memory", vec!["content", "metadata", "scope"]),
        ("search_memory", vec!["query", "limit", "type", "projectId"]),
        ("delete_memory", vec!["id"]),
        ("save_checkpoint", vec!["completed", "remaining", "blockers", "notes", "projectId"]),
        ("load_checkpoint", vec!["projectId"]),
    ];
    for (name, fields) in inputs {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        for field in fields {
            assert!(tool["inputSchema"]["properties"][field].is_object(), "{name}: {field}");
        }
    }
    let store = complete.iter().find(|tool| tool["name"] == "store_memory").unwrap();
    let metadata = &store["inputSchema"]["properties"]["metadata"]["properties"];
    for field in ["type", "preference_key", "isOverride", "sticky"] {
        assert!(metadata[field].is_object(), "{field}");
    }
}

#[test]
fn a_model_is_told_of_the_tools_in_common_use_in_a_thousand_tokens() {
    let tokenizer = Tokenizer::load();
    for args in [&[][..], &["--with-hooks"]] {
        let tools = tools(args);
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let expected = [
            "load_rules", "store_memory", "search_memory", "delete_memory", "save_checkpoint",
            "load_checkpoint", "cache_lookup", "cache_store",
        ];
        assert_eq!(names, expected);
        let told = |tool: &Value| {
            let fields = ["name", "description", "inputSchema", "outputSchema"];
            let fields = fields.into_iter().filter(|field| !tool[field].is_null());
            let fields: Map<_, _> = fields.map(|name| (name.into(), tool[name].clone())).collect();
            Value::from(fields)
        };
        let told: Vec<Value> = tools.iter().map(told).collect();
        let tokens = tokenizer.count(&Value::from(told).to_string());
        assert!(tokens <= 1_000, "{tokens} tokens with {args:?}");
    }
}

#[test]
fn a_tool_that_is_not_listed_can_be_called_all_the_same() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    assert_eq!(client.data("cache_stats", json!({}))["entries"], 0);
}

#[test]
fn two_tools_are_always_loaded_and_with_hooks_only_the_one_that_they_do_not_replace() {
    assert_eq!(always_loaded(&tools(&[])), ["load_rules", "store_memory"]);
    let hooked = tools(&["--with-hooks"]);
    assert_eq!(always_loaded(&hooked), ["store_memory"]);
    let load_rules = hooked.iter().find(|tool| tool["name"] == "load_rules").unwrap();
    let description = load_rules["description"].as_str().unwrap();
    assert!(!description.contains("before anything"), "hooks do that: {description}");
}

#[test]
fn with_hooks_the_instructions_do_not_ask_for_the_rules() {
    let home = Home::new();
    let instructions = |args: &[&str]| {
        let mut client = Client::start(&home, args);
        let hello = client.request(
            "initialize",
            json!({ "protocolVersion": "2025-11-25",
            "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } }),
        );
        hello["result"]["instructions"].as_str().unwrap().to_owned()
    };
    let (plain, hooked) = (instructions(&[]), instructions(&["--with-hooks"]));
    assert!(plain.contains("call load_rules"));
    assert!(!hooked.contains("load_rules"), "{hooked}");
    assert!(hooked.contains("Only when they ask you to remember"), "hooks hear it: {hooked}");
    for text in [plain, hooked] {
        assert!(text.contains("store_memory") && text.contains("cache_lookup"));
        assert!(text.chars().count() < 2_000, "it is read in every conversation");
    }
}
