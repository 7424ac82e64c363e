//! How a server begins and ends, and how many there may be.

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::client::{Client, PATIENT};
use crate::support::{Home, finish};

#[test]
fn it_ends_with_its_stdin_and_says_nothing() {
    let home = Home::new();
    for client in [Client::start(&home, &[]), Client::greeted(&home)] {
        let begun = Instant::now();
        assert_eq!(client.leave(), (Some(0), String::new()));
        assert!(begun.elapsed() < PATIENT);
    }
    assert!(!home.recoup().exists(), "nothing was asked of it, so nothing is there");
}

#[test]
fn what_was_asked_before_the_end_is_answered() {
    let home = Home::new();
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } } });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "store_memory", "arguments": { "content": "use tabs" } } });
    // Without a line's end: it is the last.
    let output = home.run_with_stdin(&["mcp"], format!("{hello}\n{call}").as_bytes()).expect(0);
    let answers: Vec<Value> =
        output.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2);
    assert_eq!(answers[1]["result"]["isError"], false);
}

#[test]
fn it_ends_when_nobody_reads_it_any_more() {
    let home = Home::new();
    let mut child =
        home.command(&["mcp"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let until = Instant::now() + PATIENT;
    let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    while child.try_wait().unwrap().is_none() {
        // The pipe breaks once it has ended.
        let _ = stdin.write_all(ping);
        std::thread::sleep(Duration::from_millis(10));
        assert!(Instant::now() < until, "it goes on for nobody");
    }
}

#[test]
fn one_thread_works_for_a_client_that_asks_for_one_thing_after_the_other() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    for n in 0..20 {
        client.data("store_memory", json!({ "content": format!("the job{n} runs at night") }));
        client.data("search_memory", json!({ "query": "night" }));
    }
    let tasks = std::fs::read_dir(format!("/proc/{}/task", client.child.id())).unwrap();
    let names = tasks.map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")));
    // Others may have ended meanwhile.
    assert_eq!(names.flatten().filter(|name| name == "work\n").count(), 1);
}

#[test]
fn any_number_run_side_by_side_and_see_the_same() {
    let home = Home::new();
    let mut clients: Vec<Client> = (0..8).map(|_| Client::greeted(&home)).collect();
    for (n, client) in clients.iter_mut().enumerate() {
        client.ask(
            "tools/call",
            json!({ "name": "store_memory",
            "arguments": { "content": format!("service{n} listens on port 80{n}") } }),
        );
    }
    for client in &clients {
        assert_eq!(client.hear()["result"]["isError"], false);
    }
    for client in &mut clients {
        let found = client.data("search_memory", json!({ "query": "listens port", "limit": 20 }));
        assert_eq!(found["count"], 8);
    }
}

#[test]
fn calls_that_cross_each_other_are_all_answered() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    let asked: Vec<u64> = (0..300)
        .map(|n| {
            let call = match n % 3 {
                0 => json!({ "name": "store_memory", "arguments": { "content": format!("rule {n}") } }),
                1 => json!({ "name": "search_memory", "arguments": { "query": "rule" } }),
                _ => json!({ "name": "cache_stats", "arguments": {} }),
            };
            client.ask("tools/call", call)
        })
        .collect();
    let mut heard: Vec<u64> = asked.iter().map(|_| client.hear()["id"].as_u64().unwrap()).collect();
    heard.sort_unstable();
    assert_eq!(heard, asked);
}

/// Somebody else has the database to himself, so that all of them wait.
#[test]
fn a_call_that_is_cancelled_is_not_answered_and_does_not_hold_up_others() {
    let home = Home::new();
    let mut client = Client::greeted(&home);
    client.data("store_memory", json!({ "content": "use tabs" }));
    let other = rusqlite::Connection::open(home.recoup().join("memory.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let store = |n: usize| json!({ "name": "store_memory", "arguments": { "content": format!("rule {n}") } });
    let cancelled: Vec<u64> = (0..400)
        .map(|n| {
            let id = client.ask("tools/call", store(n));
            client.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": id, "reason": "changed my mind" } }));
            id
        })
        .collect();
    let kept = client.ask("tools/call", store(400));
    // What comes after all of them is answered, and so they have been seen.
    assert_eq!(client.request("ping", Value::Null)["result"], json!({}));
    other.execute_batch("COMMIT").unwrap();
    let answer = client.hear();
    assert!(!cancelled.iter().any(|id| answer["id"] == *id), "{answer}");
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(kept), &json!(false)));
    assert!(client.is_silent_for(Duration::from_millis(200)));
}

#[test]
fn wrong_configuration_is_told_by_the_tools_and_may_be_mended() {
    let home = Home::new();
    std::fs::create_dir_all(home.recoup()).unwrap();
    std::fs::write(home.recoup().join("config.toml"), "stoer = 1\n").unwrap();
    let mut client = Client::greeted(&home);
    assert!(client.failure("cache_stats", json!({})).contains("stoer"));
    std::fs::write(home.recoup().join("config.toml"), "").unwrap();
    assert_eq!(client.data("cache_stats", json!({}))["entries"], 0);
}

#[test]
fn rules_are_loaded_whatever_the_configuration_says() {
    let home = Home::new();
    finish(&mut home.command(&["memory", "add", "use pnpm"])).expect(0);
    home.write("recoup.toml", "stoer = 1\n");
    let mut client = Client::greeted(&home);
    assert_eq!(client.data("cache_stats", json!({}))["entries"], 0, "a repository's file");
    std::fs::write(home.recoup().join("config.toml"), "stoer = 1\n").unwrap();
    let mut client = Client::greeted(&home);
    let rules = client.data("load_rules", json!({})).to_string();
    assert!(rules.contains("use pnpm"), "{rules}");
    assert!(client.failure("cache_stats", json!({})).contains("stoer"), "the user's own");
}

#[test]
fn other_machines_are_let_in_only_on_purpose() {
    let home = Home::new();
    let words = "use --public";
    finish(&mut home.command(&["mcp", "--http", "0.0.0.0:0"])).expect_usage(words);
    let open = ["mcp", "--http", "0.0.0.0:0", "--public"];
    finish(&mut home.command(&open)).expect_usage("--host NAME");
    for host in ["http://x", "a b", "*", "", "x:80"] {
        let named = [&open[..], &["--host", host]].concat();
        finish(&mut home.command(&named)).expect_usage("expected a name");
    }
    finish(&mut home.command(&["mcp", "--http", "nonsense"])).expect_usage("expected an address");
    finish(home.command(&["mcp", "--http", "0"]).env("RECOUP_MCP_TOKEN", "short"))
        .expect_usage("RECOUP_MCP_TOKEN");
    finish(&mut home.command(&["mcp", "--http", "0", "--token-file", "none"]))
        .expect_usage("no such file: none");
}
