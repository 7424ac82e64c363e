//! The plugin, installed by the client that it is for.

use std::fs;
use std::os::unix::fs::symlink;

use super::client::Client;
use super::client_with_the_rule;
use super::hooks::Hook;
use crate::model::Script;
use crate::plugin::plugin_dir;
use crate::support::{RECOUP, finish};

/// A client whose user has the rule and the plugin.
fn client_with_the_plugin() -> Client {
    let client = client_with_the_rule(&Hook::None, Script::default());
    let dir = plugin_dir();
    for words in [
        &["plugin", "validate", dir.to_str().unwrap()][..],
        &["plugin", "marketplace", "add", dir.to_str().unwrap()],
        &["plugin", "install", "recoup@recoup"],
    ] {
        finish(&mut client.prepared(words)).expect(0);
    }
    client
}

/// Puts the program where the plugin finds it.
fn install_program(client: &Client) {
    let program = client.home.path(".local/bin/recoup");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    symlink(RECOUP, program).unwrap();
}

/// How the client has the plugin's server, and all tools of ours.
fn server_and_tools(heard: &[serde_json::Value]) -> (String, usize) {
    let begun = heard.iter().find(|line| line["subtype"] == "init").expect("a session begins");
    let all = begun["mcp_servers"].as_array().unwrap();
    let ours = all.iter().find(|it| it["name"] == "plugin:recoup:recoup").expect("the server");
    let tools = begun["tools"].as_array().unwrap().iter();
    let lookups = tools.filter(|it| it.as_str().unwrap().ends_with("cache_lookup")).count();
    (ours["status"].as_str().unwrap().to_owned(), lookups)
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_plugin_delivers_the_rule_and_stands_down_beside_init() {
    let client = client_with_the_plugin();
    install_program(&client);
    let heard = client.ask(&[], "hello");
    assert_eq!(client.last_asked().count(super::RULE), 1);
    assert_eq!(server_and_tools(&heard), ("connected".to_owned(), 1));

    let program = client.home.path(".local/bin/recoup");
    let init = ["init", "--yes", "--client", "claude-code", "--program", program.to_str().unwrap()];
    client.home.run(&init).expect(0);
    let heard = client.ask(&[], "hello");
    assert_eq!(client.last_asked().count(super::RULE), 1, "not twice");
    assert_eq!(server_and_tools(&heard), ("connected".to_owned(), 1));
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_plugin_without_the_program_says_so_once_and_fails_nothing() {
    let client = client_with_the_plugin();
    for wanted in [1, 0] {
        let heard = client.ask(&[], "hello");
        let responses: Vec<_> =
            heard.iter().filter(|line| line["subtype"] == "hook_response").collect();
        assert!(responses.iter().all(|it| it["exit_code"] == 0), "{responses:?}");
        let hints = responses.iter().filter(|it| it.to_string().contains("cargo install")).count();
        assert_eq!(hints, wanted);
    }
}
