//! Other people's clients, the real ones: `cargo xtask tools` brings them, and puts them on
//! the PATH by these names.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::http::{Server, token};
use crate::support::{Home, RECOUP, finish};

const PROXY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/clients/proxy.mjs");
const SDK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/clients/sdk.py");

/// What the conformance suite is expected to find missing, and why.
fn not_applicable(version: &str) -> String {
    format!("{}/tests/it/mcp/clients/not-applicable-{version}.yml", env!("CARGO_MANIFEST_DIR"))
}

fn inspect(home: &Home, args: &[&str]) -> Value {
    finish(&mut home.prepared("mcp-inspector", &[&["--cli"], args].concat())).expect(0).json()
}

#[test]
fn the_inspector_lists_and_calls_over_stdio_and_http() {
    let home = Home::new();
    let list = inspect(&home, &[RECOUP, "mcp", "--method", "tools/list"]);
    assert_eq!(list["tools"].as_array().unwrap().len(), 8);
    let call =
        ["--method", "tools/call", "--tool-name", "store_memory", "--tool-arg", "content=use tabs"];
    let stored = inspect(&home, &[&[RECOUP, "mcp"], &call[..]].concat());
    assert_eq!(stored["structuredContent"]["memory"]["text"], "use tabs");
    let server = Server::start(&home);
    let header = format!("Authorization: Bearer {}", token(&home));
    let place = [&server.url, "--transport", "http", "--header", &header];
    let found =
        ["--method", "tools/call", "--tool-name", "search_memory", "--tool-arg", "query=tabs"];
    assert_eq!(inspect(&home, &[&place, &found[..]].concat())["structuredContent"]["count"], 1);
    let read = ["--method", "resources/read", "--uri", "recoup://rules"];
    assert!(inspect(&home, &[&place, &read[..]].concat())["contents"][0]["text"].is_string());
}

/// What the SDK saw on its way through everything we have.
fn check(seen: &Value, tools: usize) {
    assert_eq!(seen["server"], "recoup");
    assert_eq!(seen["tools"].as_array().unwrap().len(), tools);
    assert_eq!(seen["resources"].as_array().unwrap().len(), 3);
    assert_eq!(seen["prompts"].as_array().unwrap().len(), 3);
    assert_eq!(seen["stored"]["is_rule"], true, "the user has said yes: {seen}");
    assert_eq!(seen["asked"].as_array().unwrap().len(), 2, "{seen}");
    assert_eq!(seen["updated"][0], "recoup://rules");
    assert_eq!(seen["rules"]["rules"][0]["text"], "use tabs");
    assert_eq!(seen["miss"]["hit"], false);
    assert_eq!(seen["hit"]["result"], json!({ "answer": 42 }));
    assert_eq!(seen["resource"], "No rules are recorded for this project.");
    assert_eq!(seen["wrong"], true);
}

#[test]
fn the_python_sdk_uses_everything_over_stdio() {
    let home = Home::new();
    let mut command = home.prepared("mcp-python", &[SDK, "stdio", RECOUP]);
    // The SDK passes on little of its environment: the server's home is HOME's.
    check(&finish(&mut command).expect(0).json(), 11);
}

#[test]
fn the_python_sdk_uses_everything_over_http() {
    let home = Home::new();
    let server = Server::start(&home);
    let args = [SDK, "http", &server.url, &token(&home)];
    check(&finish(&mut home.prepared("mcp-python", &args)).expect(0).json(), 8);
}

/// Adds what the conformance suite does not know; ends with its stdin.
struct Proxy {
    child: Child,
    url: String,
}

impl Proxy {
    fn start(home: &Home, server: &Server) -> Self {
        let names = json!({
            "test_simple_text": { "name": "load_rules" },
            "test_error_handling": { "name": "delete_memory", "arguments": { "id": "none" } },
            "test_elicitation": { "name": "store_memory", "arguments": { "content": "use tabs" } },
            "test_simple_prompt": { "name": "load_rules" },
            "test://static-text": { "uri": "recoup://rules" },
            "test://watched-resource": { "uri": "recoup://rules" },
        });
        let args = [PROXY, &server.url, &token(home), &names.to_string()];
        let mut command: Command = home.prepared("node", &args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("node starts");
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// All scenarios of that version: those that apply pass, and those that do not are known by
/// name, each with its reason. One that is on the list and passes is an error, too.
fn conforms_to(version: &str) {
    let home = Home::new();
    let server = Server::start(&home);
    let proxy = Proxy::start(&home, &server);
    let known = not_applicable(version);
    let args = [
        "server", "--url", &proxy.url, "--suite", "all", "--spec-version", version,
        "--expected-failures", &known,
    ];
    let output = finish(&mut home.prepared("mcp-conformance", &args));
    let said = output.text();
    let summary = said.split("=== SUMMARY ===").nth(1).unwrap_or(&said);
    assert_eq!(output.code, Some(0), "{summary}\n{}", output.stderr);
}

#[test]
fn it_conforms_to_2025_11_25() {
    conforms_to("2025-11-25");
}

#[test]
fn it_conforms_to_2026_07_28() {
    conforms_to("2026-07-28");
}
