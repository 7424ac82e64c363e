//! The conformance suite finds the same through the proxy as directly. It speaks HTTP only, so that a
//! bridge stands before servers over stdio; which of our answers it expects is in `mcp/clients.rs`.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use serde_json::json;

use super::configure;
use crate::support::{Home, RECOUP, finish};

const BRIDGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/proxy/bridge.mjs");
const NAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/clients/proxy.mjs");
const TOKEN: &str = "a-token-of-the-tests";

/// A program that prints its URL, and ends with its stdin.
struct UrlServer {
    child: Child,
    url: String,
}

impl UrlServer {
    fn start(home: &Home, program: &str, args: &[&str]) -> Self {
        let mut command = home.prepared(program, args);
        command.env("RECOUP_MCP_TOKEN", TOKEN).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for UrlServer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The suite's findings about a server over stdio.
fn findings(home: &Home, version: &str, server: &[&str]) -> String {
    let names = json!({
        "test_simple_text": { "name": "load_rules" },
        "test_error_handling": { "name": "delete_memory", "arguments": { "id": "none" } },
        "test_elicitation": { "name": "store_memory", "arguments": { "content": "use tabs" } },
        "test_simple_prompt": { "name": "load_rules" },
        "test://static-text": { "uri": "recoup://rules" },
        "test://watched-resource": { "uri": "recoup://rules" },
    });
    let bridge = UrlServer::start(home, "node", &[&[BRIDGE], server].concat());
    let renaming = UrlServer::start(home, "node", &[NAMES, &bridge.url, "", &names.to_string()]);
    let args = ["server", "--url", &renaming.url, "--suite", "all", "--spec-version", version];
    let said = finish(&mut home.prepared("mcp-conformance", &args)).text();
    let summary = said.split("=== SUMMARY ===").nth(1).unwrap_or_else(|| panic!("{said}"));
    summary.to_owned()
}

fn is_the_same_through_the_proxy(version: &str, passed: &str) {
    let home = Home::new();
    let direct = findings(&home, version, &[RECOUP, "mcp"]);
    assert!(direct.contains(passed), "{direct}");
    let proxy = [RECOUP, "mcp", "proxy", "--name", "suite"];
    let process = [&proxy[..], &["--", RECOUP, "mcp"]].concat();
    assert_eq!(findings(&home, version, &process), direct);
    let server = UrlServer::start(&home, RECOUP, &["mcp", "--http", "0"]);
    let header = format!("Authorization: Bearer {TOKEN}");
    let http = [&proxy[..], &["--header", &header, &server.url]].concat();
    assert_eq!(findings(&home, version, &http), direct);
    configure(&home, "[mcpServers.suite]\nreadOnlyTools = true\ntoolsCache.\"*/list\" = \"1h\"\n");
    assert_eq!(findings(&home, version, &process), direct);
}

#[test]
fn of_2025_11_25() {
    is_the_same_through_the_proxy("2025-11-25", "Total: 49 passed");
}

#[test]
fn of_2026_07_28() {
    is_the_same_through_the_proxy("2026-07-28", "Total: 78 passed");
}
