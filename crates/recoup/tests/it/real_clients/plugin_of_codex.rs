//! The plugin, installed by Codex.

use std::fs;
use std::os::unix::fs::symlink;

use crate::model::{Api, Script};
use crate::plugin::plugin_dir;
use crate::support::RECOUP;

use super::codex::ask;
use super::{Client, RULE, pinned};

#[test]
#[ignore = "needs the real Codex: cargo xtask test --full"]
fn the_plugin_has_hooks_and_server_and_stands_down_beside_init() {
    let manifest = include_str!("../../../../../xtask/clients/codex/package.json");
    let client = Client::new("codex", &pinned(manifest, "@openai/codex"));
    client.remember_the_rule();
    fs::create_dir_all(client.machine.path(".local/bin")).unwrap();
    symlink(RECOUP, client.machine.path(".local/bin/recoup")).unwrap();
    let dir = plugin_dir();
    client.run(&["plugin", "marketplace", "add", dir.to_str().unwrap()]).expect(0);
    client.run(&["plugin", "add", "recoup@recoup"]).expect(0);
    let api = Api::start(Script::default());

    let request = ask(&client, &api);
    assert_eq!(request.count(RULE), 1, "a hook of the plugin has told it");
    assert!(request.offers("mcp__recoup"), "{}", request.body["tools"]);

    client.machine.init(&["--client", "codex"]);
    let request = ask(&client, &api);
    assert_eq!(request.count(RULE), 1, "not twice");
    assert!(request.offers("mcp__recoup"), "{}", request.body["tools"]);
    assert!(client.servers().contains("mcp --with-hooks"), "the server of init");
}
