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

/// A `recoup` that answers as a server behind the proxy does, and says how it was started.
const PROXY: &str = r#"#!/bin/sh
echo "$RECOUP_PROXY_HEADER_1 $PWD $*" >> "$(dirname "$0")/started"
while read -r line; do
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"serverInfo":{"name":"x","version":"9"}}}' ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}]}}' ;;
  esac
done
"#;

fn proxied(home: &Home, program: impl serde::Serialize, more: &Value) {
    let mut entry = json!({"command": program, "args": ["mcp", "proxy", "--name", "files", "--", "npx", "files"]});
    entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    write(home, ".cursor/mcp.json", json!({"mcpServers": {"files": entry}}).to_string());
}

#[test]
fn one_behind_the_proxy_is_greeted_through_it() {
    let home = Home::new();
    let program = script(&home, "bin", PROXY);
    proxied(&home, &program, &json!({"env": {"RECOUP_PROXY_HEADER_1": "zq81", "A": "${A}"}}));
    let found = report(&home, 0);
    let said = found.one("mcp", "ok")["what"].as_str().unwrap();
    assert!(said.starts_with("Cursor (user): server “files”: 1 tool through the proxy"), "{said}");
    assert_eq!(found.of("mcp").len(), 1, "it is no server of ours, and none was lost");
    let started = std::fs::read_to_string(home.path("bin/started")).unwrap();
    assert!(started.starts_with("zq81 ") && started.ends_with("-- npx files\n"), "{started}");
    assert!(!started.contains(home.project().to_str().unwrap()), "{started}");
    assert!(!found.0.to_string().contains("zq81"));
}

#[test]
fn one_that_was_wrapped_answers_through_the_real_proxy() {
    let home = Home::new();
    let server = script(&home, "server", PROXY);
    write(
        &home,
        ".cursor/mcp.json",
        json!({"mcpServers": {"files": {"command": &server}}}).to_string(),
    );
    std::fs::create_dir(home.path("bin")).unwrap();
    std::os::unix::fs::symlink(RECOUP, home.path("bin/recoup")).unwrap();
    let program = home.path("bin/recoup").display().to_string();
    home.run(&["mcp", "wrap", "--yes", "--program", &program]).expect(0);
    let found = report(&home, 0);
    let said = found.one("mcp", "ok")["what"].as_str().unwrap();
    assert!(said.contains("server “files”: 1 tool through the proxy"), "{said}");
    std::fs::remove_file(server).unwrap();
    report(&home, 1).has("mcp", "wrong-answer", "fail");
}

#[test]
fn one_behind_the_proxy_that_does_not_answer_is_named_with_a_remedy() {
    let home = Home::new();
    let program = script(&home, "bin", "#!/bin/sh\nexit 3\n");
    proxied(&home, &program, &json!({}));
    let found = report(&home, 1);
    let found = found.has("mcp", "wrong-answer", "fail");
    assert!(found["what"].as_str().unwrap().contains("server “files”"), "{found}");
    let remedy = found["remedy"].as_str().unwrap();
    assert!(remedy.contains("`recoup mcp unwrap ~/.cursor/mcp.json`"), "{remedy}");
    std::fs::remove_file(program).unwrap();
    let gone = report(&home, 1);
    let gone = gone.has("mcp", "program-missing", "fail");
    assert!(gone["what"].as_str().unwrap().contains("server “files”"), "{gone}");
}

#[test]
fn one_behind_the_proxy_that_is_off_or_only_the_clients_is_not_started() {
    let home = Home::new();
    let program = script(&home, "bin", PROXY);
    for (more, code) in [
        (json!({"disabled": true}), "switched-off"),
        (json!({"env": {"TOKEN": "${input:token}"}}), "withheld"),
        (json!({"cwd": "${workspaceFolder}"}), "withheld"),
        (json!({"cwd": home.project()}), "withheld"),
    ] {
        proxied(&home, &program, &more);
        report(&home, 0).has("mcp", code, "skipped");
    }
    std::fs::remove_file(home.path(".cursor/mcp.json")).unwrap();
    // A repository's file is never run.
    let entry = json!({"command": &program, "args": ["mcp", "proxy", "--", "touch", "x"]});
    home.write(".mcp.json", json!({"mcpServers": {"x": entry}}).to_string());
    report(&home, 0).has("mcp", "withheld", "skipped");
    assert!(!home.path("bin/started").exists());
}
