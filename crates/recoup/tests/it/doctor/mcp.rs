//! Servers that are not what they should be.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{RECOUP, report, report_installed, script, with_hooks, write};
use crate::support::Home;

fn server(home: &Home, program: impl serde::Serialize, args: &[&str]) {
    let entry = json!({"mcpServers": {"recoup": {"command": program, "args": args}}});
    write(home, ".claude.json", entry.to_string());
}

#[test]
fn one_that_says_nothing() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\nexec sleep 600\n");
    server(&home, program, &["mcp"]);
    let began = Instant::now();
    report(&home, 1).has("mcp", "too-late", "fail");
    assert!(began.elapsed() < Duration::from_secs(25), "{:?}", began.elapsed());
}

#[test]
fn one_that_prints_something_else() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\necho starting…\nexec cat >/dev/null\n");
    server(&home, program, &["mcp"]);
    let report = report(&home, 1);
    let found = report.has("mcp", "wrong-answer", "fail");
    assert!(found["what"].as_str().unwrap().contains("not JSON"), "{found}");
}

#[test]
fn one_that_ends_at_once_and_one_that_is_gone() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\nexit 3\n");
    server(&home, &program, &["mcp"]);
    report(&home, 1).has("mcp", "wrong-answer", "fail");
    std::fs::remove_file(program).unwrap();
    let second = report_installed(&home, 1);
    assert_eq!(second.has("mcp", "program-missing", "fail")["fixable"], true);
}

#[test]
fn hooks_and_server_agree_on_who_gives_the_rules() {
    let home = Home::new();
    server(&home, RECOUP, &["mcp", "--with-hooks"]);
    report(&home, 0).has("mcp", "without-hooks", "warn");
    with_hooks(&home);
    assert_eq!(report(&home, 0).of("mcp"), [("ok", "ok")]);
    server(&home, RECOUP, &["mcp"]);
    report(&home, 0).has("mcp", "without-flag", "warn");
}

#[test]
fn one_for_each_client_that_has_it() {
    let home = Home::new();
    let entry: Value = json!({"mcpServers": {"recoup": {"command": RECOUP, "args": ["mcp"]}}});
    write(&home, ".cursor/mcp.json", entry.to_string());
    write(
        &home,
        ".codex/config.toml",
        format!("[mcp_servers.recoup]\ncommand = {RECOUP:?}\nargs = [\"mcp\"]\n"),
    );
    let report = report(&home, 0);
    let mut clients: Vec<&Value> =
        report.all("mcp").into_iter().map(|it| &it["facts"]["client"]).collect();
    clients.sort_by_key(ToString::to_string);
    assert_eq!(clients, [&json!("codex"), &json!("cursor")]);
    assert_eq!(report.of("mcp"), [("ok", "ok"), ("ok", "ok")]);
}
