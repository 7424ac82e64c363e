//! Servers that are not what they should be.

use serde_json::{Value, json};

use super::{RECOUP, report, report_installed, script, with_hooks, write};
use crate::support::Home;

fn server(home: &Home, program: impl serde::Serialize, args: &[&str]) {
    let entry = json!({"mcpServers": {"recoup": {"command": program, "args": args}}});
    write(home, ".claude.json", entry.to_string());
}

#[test]
fn one_that_is_gone_is_led_to_this_program() {
    let home = Home::new();
    server(&home, home.path("gone/recoup"), &["mcp"]);
    let found = report_installed(&home, 1);
    assert_eq!(found.has("mcp", "program-missing", "fail")["fixable"], true);
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

fn proxied(home: &Home, program: impl serde::Serialize, more: &Value) {
    let mut entry =
        json!({"command": program, "args": ["mcp", "proxy", "--name", "files", "--", "sh", "x"]});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    write(home, ".cursor/mcp.json", json!({"mcpServers": {"files": entry}}).to_string());
}

#[test]
fn one_behind_the_proxy_is_named_and_not_started() {
    let home = Home::new();
    let text = "#!/bin/sh\ntouch \"$HOME/ran\"\n";
    let server = script(&home, "server", text);
    let entry = json!({"mcpServers": {"files": {"command": &server}}});
    write(&home, ".cursor/mcp.json", entry.to_string());
    std::fs::create_dir(home.path("bin")).unwrap();
    std::os::unix::fs::symlink(RECOUP, home.path("bin/recoup")).unwrap();
    let program = home.path("bin/recoup").display().to_string();
    home.run(&["mcp", "wrap", "--yes", "--program", &program]).expect(0);
    let found = report(&home, 0);
    assert_eq!(found.of("mcp"), [("ok", "ok")], "it is no server of ours, and none was lost");
    let said = &found.one("mcp", "ok")["what"];
    assert_eq!(said, "Cursor (user): server “files” is behind the proxy (not started)");
    std::fs::remove_file(server).unwrap();
    let gone = report(&home, 1);
    let gone = gone.has("mcp", "program-missing", "fail");
    assert!(gone["what"].as_str().unwrap().contains("server/recoup does not exist"), "{gone}");
    assert!(!home.path("ran").exists());
}

#[test]
fn a_proxy_that_is_gone_off_or_another_program_is_named() {
    let home = Home::new();
    let program = script(&home, "other", "#!/bin/sh\ntouch \"$HOME/ran\"\n");
    proxied(&home, RECOUP, &json!({"disabled": true}));
    report(&home, 0).has("mcp", "switched-off", "skipped");
    proxied(&home, &program, &json!({"env": {"TOKEN": "zq81"}}));
    let other = report(&home, 0);
    assert!(other.has("mcp", "other-program", "warn")["remedy"].to_string().contains("unwrap"));
    assert!(!other.0.to_string().contains("zq81"));
    std::fs::remove_file(program).unwrap();
    let gone = report(&home, 1);
    let gone = gone.has("mcp", "program-missing", "fail");
    assert!(gone["what"].as_str().unwrap().contains("server “files”"), "{gone}");
    assert_eq!(gone["fixable"], false);
    assert!(!home.path("ran").exists());
}
