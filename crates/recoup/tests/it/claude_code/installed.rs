//! What `recoup init` writes, read by the client that it is for.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::client::Client;
use super::hooks::Hook;
use super::{RULE, client_with_the_rule};
use crate::model::Script;
use crate::support::RECOUP;

/// How the client has our server, as it tells when a session begins.
pub(super) fn server(heard: &[Value]) -> Option<String> {
    server_named(heard, "recoup")
}

fn server_named(heard: &[Value], name: &str) -> Option<String> {
    let begun = heard.iter().find(|line| line["subtype"] == "init").expect("a session begins");
    let servers = begun["mcp_servers"].as_array().unwrap();
    let named = servers.iter().find(|server| server["name"] == name)?;
    Some(named["status"].as_str().unwrap().to_owned())
}

pub(super) fn settings(client: &Client) -> Vec<u8> {
    fs::read(client.home.path(".claude/settings.json")).unwrap()
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn hooked_in_by_one_command_and_out_by_another() {
    for level in ["--user", "--project"] {
        let client = client_with_the_rule(&Hook::None, Script::default());
        let program = client.home.path("recoup-bin/recoup");
        fs::create_dir(program.parent().unwrap()).unwrap();
        symlink(RECOUP, &program).unwrap();
        let before = settings(&client);
        let program = program.to_str().unwrap();
        let init = ["init", "--yes", level, "--client", "claude-code", "--program", program];
        client.home.run(&init).expect(0);

        let heard = client.ask(&[], "hello");
        assert_eq!(client.last_asked().count(RULE), 1, "{level}");
        assert_eq!(server(&heard).as_deref(), Some("connected"), "{level}");
        for line in heard.iter().filter(|line| line["subtype"] == "hook_response") {
            assert_eq!((&line["exit_code"], &line["stderr"]), (&0.into(), &"".into()), "{line}");
        }
        // The client has written to its own file since: ours is still the only thing that goes.
        client.home.run(&["uninstall", "--yes"]).expect(0);
        assert_eq!(settings(&client), before, "{level}");
        let known = fs::read_to_string(client.home.path(".claude.json")).unwrap();
        assert!(known.contains("firstStartTime") && !known.contains("recoup-bin"), "{known}");

        let heard = client.ask(&[], "hello");
        assert_eq!(client.last_asked().count(RULE), 0, "{level}");
        assert_eq!(server(&heard), None, "{level}");
    }
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_server_behind_the_proxy_is_connected_as_before() {
    let client = client_with_the_rule(&Hook::None, Script::default());
    let program = client.home.path("recoup-bin/recoup");
    fs::create_dir(program.parent().unwrap()).unwrap();
    symlink(RECOUP, &program).unwrap();
    let settings =
        json!({ "mcpServers": { "everything": { "command": "mcp-server-everything" } } });
    fs::write(client.home.path(".claude.json"), settings.to_string()).unwrap();
    let before = client.ask(&[], "hello");
    assert_eq!(server_named(&before, "everything").as_deref(), Some("connected"));
    let wrap = ["mcp", "wrap", "--yes", "--client", "claude-code"];
    client.home.run(&[&wrap[..], &["--program", program.to_str().unwrap()]].concat()).expect(0);
    let known = fs::read_to_string(client.home.path(".claude.json")).unwrap();
    assert!(known.contains("\"proxy\""), "{known}");
    let behind = client.ask(&[], "hello");
    assert_eq!(server_named(&behind, "everything").as_deref(), Some("connected"));
    let tools = |heard: &[Value]| {
        heard.iter().find(|line| line["subtype"] == "init").map(|begun| begun["tools"].clone())
    };
    assert_eq!(tools(&behind), tools(&before));
    client.home.run(&["mcp", "unwrap", "--yes"]).expect(0);
    let known = fs::read_to_string(client.home.path(".claude.json")).unwrap();
    assert!(!known.contains("\"proxy\""), "{known}");
}
