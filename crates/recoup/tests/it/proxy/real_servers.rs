//! Servers from the package registries: the same bytes directly and through the proxy, and the traps
//! of each.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use super::{ask, call, configure, greeted_with, proxied};
use crate::mcp::client::Client;
use crate::support::Home;

/// Protocol era of a client.
#[derive(Clone, Copy, PartialEq)]
enum Era {
    Initialize,
    Discover,
}

fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Requests that begin a session, as lines.
fn greeting(era: Era) -> Vec<Value> {
    let initialize = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let discover = json!({ "jsonrpc": "2.0", "id": 0, "method": "server/discover", "params": { "_meta": meta() } });
    match era {
        Era::Initialize => vec![initialize, initialized],
        Era::Discover => vec![discover],
    }
}

/// Answers to the requests, in their order, to the byte; what the server says by itself is left
/// out, since its time is by chance.
fn answers(command: &mut Command, era: Era, requests: &[(&str, Value)]) -> Vec<String> {
    let mut client = Client::spawn(command);
    let mut heard = Vec::new();
    let number = |at: usize, (method, params): &(&str, Value)| {
        let mut params = params.clone();
        if era == Era::Discover {
            params["_meta"] = meta();
        }
        json!({ "jsonrpc": "2.0", "id": at + 1, "method": method, "params": params })
    };
    let all = requests.iter().enumerate().map(|(at, request)| number(at, request));
    for message in greeting(era).into_iter().chain(all) {
        client.say(&message);
        while !message["id"].is_null() {
            let line = String::from_utf8(client.hear_bytes().expect("an answer")).unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == message["id"] && answer["method"].is_null() {
                heard.push(line);
                break;
            }
        }
    }
    client.leave();
    heard
}

/// Asks the server directly, through the proxy, and through the proxy with everything cached.
fn compare(home: &Home, era: Era, server: &[&str], requests: &[(&str, Value)]) -> Vec<String> {
    let words: Vec<String> = server.iter().map(|word| (*word).to_owned()).collect();
    let direct = answers(&mut home.prepared(server[0], &server[1..]), era, requests);
    assert_eq!(direct.len(), requests.len() + 1);
    assert_eq!(answers(&mut proxied(home, "real", &[], &words), era, requests), direct);
    configure(home, "[mcpServers.real]\ncache = \"1h\"\ntoolsCache.\"*/list\" = \"1h\"\n");
    assert_eq!(answers(&mut proxied(home, "real", &[], &words), era, requests), direct);
    // A second time there may be hits, which say so and are the same otherwise.
    let again = answers(&mut proxied(home, "real", &[], &words), era, requests);
    for (again, direct) in again.iter().zip(&direct) {
        let mut shown: Value = serde_json::from_str(again).unwrap();
        if let Some(meta) = shown.pointer_mut("/result/_meta").and_then(Value::as_object_mut) {
            let is_hit = meta.remove("io.recoup/age").is_some();
            assert_eq!(meta.remove("io.recoup/key").is_some(), is_hit);
            if meta.is_empty() && is_hit {
                shown["result"].as_object_mut().unwrap().remove("_meta");
            }
        }
        assert_eq!(shown, serde_json::from_str::<Value>(direct).unwrap());
    }
    again
}

fn hits(answers: &[String]) -> usize {
    answers.iter().filter(|answer| answer.contains("io.recoup/age")).count()
}

#[expect(clippy::needless_pass_by_value, reason = "callers write it in place")]
fn tool(name: &str, arguments: Value) -> (&'static str, Value) {
    ("tools/call", json!({ "name": name, "arguments": arguments }))
}

#[test]
fn everything() {
    let home = Home::new();
    let requests = [
        ("tools/list", json!({})),
        tool("echo", json!({ "message": "gr\u{fc}\u{df}e \u{1f600}" })),
        tool("get-sum", json!({ "a": 1, "b": 2.5 })),
        tool("no-such-tool", json!({})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "simple-prompt" })),
        ("ping", json!({})),
        ("made/up", json!({})),
    ];
    let again = compare(&home, Era::Initialize, &["mcp-server-everything"], &requests);
    assert!(hits(&again) >= 4, "{again:#?}");
}

#[test]
fn filesystem_asks_for_roots_and_results_follow_the_files() {
    let home = Home::new();
    home.write("a.txt", "one");
    let project = home.project().display().to_string();
    let requests = [
        ("tools/list", json!({})),
        tool("read_text_file", json!({ "path": format!("{project}/a.txt") })),
        tool("list_directory", json!({ "path": project })),
        tool("read_text_file", json!({ "path": "/etc/passwd" })),
    ];
    let server = ["mcp-server-filesystem", &project];
    let again = compare(&home, Era::Initialize, &server, &requests);
    assert_eq!(hits(&again), 3, "the refusal is not cached: {again:#?}");

    configure(
        &home,
        "[mcpServers.real]\nreadOnlyTools = true\ntoolsCache.read_text_file.sources = [\"{path}\"]\n",
    );
    let words = server.map(str::to_owned);
    let mut client =
        greeted_with(&mut proxied(&home, "real", &[], &words), &json!({ "roots": {} }));
    let asked = client.hear();
    assert_eq!(asked["method"], "roots/list");
    let roots = json!([{ "uri": format!("file://{project}") }]);
    client.say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": roots } }));
    let read = |client: &mut Client| {
        ask(
            client,
            "tools/call",
            json!({ "name": "read_text_file", "arguments": { "path": format!("{project}/a.txt") } }),
        )
    };
    read(&mut client);
    assert!(read(&mut client)["result"]["_meta"]["io.recoup/age"].is_u64());
    home.write("a.txt", "two, edited by nobody that the server sees");
    let fresh = read(&mut client);
    assert!(fresh["result"]["content"][0]["text"].as_str().unwrap().starts_with("two"), "{fresh}");
}

#[test]
fn memory_readers_do_not_survive_its_writers() {
    let home = Home::new();
    let file = home.path("graph.json").display().to_string();
    let words = ["mcp-server-memory".to_owned()];
    configure(
        &home,
        "[mcpServers.real]\ntoolsCache.read_graph = \"1h\"\ntoolsCache.\"*_entities\" = { ttl = \"off\", invalidates = [\"read_*\", \"search_*\"] }\n",
    );
    let mut command = proxied(&home, "real", &[], &words);
    let mut client = greeted_with(command.env("MEMORY_FILE_PATH", &file), &json!({}));
    let empty = call(&mut client, "read_graph", json!({}));
    assert_eq!(call(&mut client, "read_graph", json!({})), empty);
    let entity = json!({ "name": "Ada", "entityType": "person", "observations": ["first"] });
    call(&mut client, "create_entities", json!({ "entities": [entity] }));
    let graph = call(&mut client, "read_graph", json!({}));
    assert!(graph.contains("Ada"), "{graph}");
    let again = ask(&mut client, "tools/call", json!({ "name": "read_graph", "arguments": {} }));
    assert!(again["result"]["_meta"]["io.recoup/age"].is_u64(), "{again}");
}

/// A repository with one commit.
fn repository(home: &Home) -> String {
    home.write("a.txt", "one\n");
    let project = home.project();
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["add", "."],
        &["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-m", "first"],
    ] {
        let mut git = home.prepared("git", args);
        assert!(git.current_dir(&project).status().unwrap().success());
    }
    project.display().to_string()
}

#[test]
fn git_in_both_eras_with_its_era_lock() {
    let home = Home::new();
    let path = repository(&home);
    let requests = [
        ("tools/list", json!({})),
        tool("git_log", json!({ "repo_path": path })),
        tool("git_status", json!({ "repo_path": path })),
        tool("git_status", json!({ "repo_path": "/nowhere" })),
        (
            "initialize",
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
        ),
    ];
    compare(&home, Era::Discover, &["mcp-server-git"], &requests);
    // Results are the same in both eras, so the other one has its own home.
    let other = Home::new();
    let path = repository(&other);
    let requests = [tool("git_log", json!({ "repo_path": path }))];
    compare(&other, Era::Initialize, &["mcp-server-git"], &requests);
}

#[test]
fn git_results_go_stale_by_edits_and_commits_that_no_server_sees() {
    let home = Home::new();
    let path = repository(&home);
    configure(
        &home,
        "[mcpServers.real]\nreadOnlyTools = true\ntoolsCache.git_status.sources = [\"**\", \"git:HEAD\", \"git:index\"]\ntoolsCache.git_log.sources = [\"git:HEAD\"]\n",
    );
    let words = ["mcp-server-git".to_owned()];
    let mut client = greeted_with(&mut proxied(&home, "real", &[], &words), &json!({}));
    let status = json!({ "name": "git_status", "arguments": { "repo_path": path } });
    let clean = ask(&mut client, "tools/call", status.clone());
    let hit = ask(&mut client, "tools/call", status.clone());
    assert!(hit["result"]["_meta"]["io.recoup/age"].is_u64(), "{clean} {hit}");
    home.write("a.txt", "two, by an editor\n");
    let dirty = ask(&mut client, "tools/call", status.clone());
    assert_ne!(dirty["result"]["content"], clean["result"]["content"]);
    assert!(home.prepared("git", &["add", "a.txt"]).status().unwrap().success());
    let staged = ask(&mut client, "tools/call", status);
    assert_ne!(staged["result"]["content"], dirty["result"]["content"]);
    let log = json!({ "name": "git_log", "arguments": { "repo_path": path } });
    let first = ask(&mut client, "tools/call", log.clone());
    let args = ["-c", "user.name=t", "-c", "user.email=t@t", "commit", "-q", "-a", "-m", "second"];
    assert!(home.prepared("git", &args).status().unwrap().success());
    let second = ask(&mut client, "tools/call", log);
    assert_ne!(second["result"]["content"], first["result"]["content"]);
    assert!(second.to_string().contains("second"), "{second}");
}

#[test]
fn fetch_refuses_loopback_and_that_is_not_cached() {
    let home = Home::new();
    let requests =
        [("tools/list", json!({})), tool("fetch", json!({ "url": "http://127.0.0.1:1/" }))];
    let again = compare(&home, Era::Initialize, &["mcp-server-fetch"], &requests);
    let refusal: Value = serde_json::from_str(again.last().unwrap()).unwrap();
    assert!(refusal["result"]["isError"] == true || refusal["error"].is_object(), "{refusal}");
    assert!(!again.last().unwrap().contains("io.recoup/age"));
}

#[test]
fn time_is_read_only_and_not_cached() {
    let home = Home::new();
    configure(&home, "[mcpServers.real]\nreadOnlyTools = true\n");
    let words = ["mcp-server-time".to_owned()];
    let mut client = greeted_with(&mut proxied(&home, "real", &[], &words), &json!({}));
    let now = json!({ "name": "get_current_time", "arguments": { "timezone": "UTC" } });
    for _ in 0..3 {
        let answer = ask(&mut client, "tools/call", now.clone());
        assert!(answer["result"]["content"].is_array(), "{answer}");
        assert!(answer["result"]["_meta"]["io.recoup/age"].is_null(), "{answer}");
    }
    client.leave();
    let log = fs::read_to_string(home.recoup().join("logs/mcp-calls.jsonl")).unwrap();
    assert_eq!(
        log.lines().filter(|line| line.contains("\"outcome\":\"pass\"")).count(),
        3,
        "{log}"
    );
}
