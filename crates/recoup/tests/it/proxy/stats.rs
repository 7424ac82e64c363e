//! `recoup mcp stats`: what passed the proxy, and what is worth caching.

use serde_json::{Value, json};

use super::{Scene, ask, call};

/// The statistics of one tool.
fn stats_of(scene: &Scene, tool: &str) -> Value {
    let report = scene.home.run(&["mcp", "stats", "--json"]).expect(0).json();
    let tools = report["tools"].as_array().unwrap();
    tools.iter().find(|it| it["tool"] == tool).cloned().unwrap_or_else(|| panic!("{report}"))
}

#[test]
fn a_server_that_nobody_called_has_no_statistics() {
    let scene = Scene::new();
    let output = scene.home.run(&["mcp", "stats"]).expect(0);
    assert!(output.stderr.contains("`recoup mcp wrap`"), "{}", output.stderr);
}

#[test]
fn calls_that_are_not_cached_are_counted_and_repeated_ones_are_advised() {
    let scene = Scene::new();
    let mut client = scene.start();
    ask(&mut client, "tools/list", json!({}));
    for _ in 0..4 {
        call(&mut client, "count", json!({}));
        call(&mut client, "write", json!({}));
        ask(&mut client, "tools/call", json!({ "name": "fail", "arguments": {} }));
    }
    client.leave();
    let count = stats_of(&scene, "count");
    assert_eq!((&count["calls"], &count["hits"]), (&json!(4), &json!(0)), "{count}");
    assert_eq!((&count["repeats"], &count["changed"]), (&json!(3), &json!(3)), "{count}");
    assert_eq!(count["advice"], Value::Null, "its result changes: {count}");
    let fail = stats_of(&scene, "fail");
    assert_eq!((&fail["errors"], &fail["advice"]), (&json!(4), &Value::Null), "{fail}");
    let write = stats_of(&scene, "write");
    assert_eq!(write["not_cached"], "no TTL is configured", "{write}");
}

#[test]
fn the_line_that_is_advised_works() {
    let scene = Scene::new();
    let mut client = scene.start();
    ask(&mut client, "tools/list", json!({}));
    for _ in 0..4 {
        call(&mut client, "large", json!({}));
    }
    client.leave();
    let text = scene.home.run(&["mcp", "stats"]).expect(0).text();
    assert!(text.contains("  [mcpServers.scripted]\n  toolsCache.large = \"1m\"\n"), "{text}");
    let config = scene.home.recoup().join("config.toml").display().to_string();
    assert!(text.contains(&format!("add to {config}:")), "{text}");
    assert!(text.contains("3 of 4 calls repeated an earlier one"), "{text}");
    assert!(text.contains("make sure that it only reads"), "{text}");

    scene.configure("toolsCache.large = \"1m\"");
    let mut client = scene.start();
    call(&mut client, "large", json!({}));
    call(&mut client, "large", json!({}));
    client.leave();
    let large = stats_of(&scene, "large");
    assert_eq!((&large["calls"], &large["hits"]), (&json!(6), &json!(1)), "{large}");
    assert!(large["saved_bytes"].as_u64().unwrap() > 0, "{large}");
    assert_eq!(large["advice"], Value::Null, "{large}");
}

#[test]
fn a_call_is_explained_without_a_server() {
    let scene = Scene::configured("cache = \"1h\"\ntoolsCache.write = \"off\"");
    let explain = |tool: &str, arguments: &str| {
        let words = ["explain", "tool", "--tool", tool, "--arguments", arguments];
        let proxy = ["--name", "scripted", "--"];
        let server = scene.server();
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        scene.home.run(&[&words[..], &proxy, &server].concat())
    };
    let unknown = explain("count", "{}").expect(1).text();
    assert_eq!(unknown, "not cached: the tool's schema is not known\n");
    let mut client = scene.start();
    call(&mut client, "count", json!({ "a": 1 }));
    client.leave();
    let hit = explain("count", "{\"a\":1}").expect(0).text();
    assert!(hit.starts_with("hit"), "{hit}");
    let miss = explain("count", "{\"a\":2}").expect(1).text();
    assert!(miss.contains("argument a"), "what differs from the nearest: {miss}");
    assert_eq!(explain("write", "{}").expect(1).text(), "not cached: its TTL is off\n");
    assert_eq!(scene.asked("tools/call"), 1);
}
