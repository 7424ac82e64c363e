//! Codex with our hooks and our server: what it asks a model tells whether both are there.

use crate::model::{Api, Request, Script};
use crate::support::finish;

use super::{Client, RULE, pinned};

/// One prompt, in a project that its user trusts, with hooks that its user has let run.
pub(super) fn ask(client: &Client, api: &Api) -> Request {
    let provider = format!(
        "model_providers.scripted={{name=\"scripted\",base_url=\"{}/v1\",wire_api=\"responses\"}}",
        api.url()
    );
    let trusted = format!("projects={{\"{}\"={{trust_level=\"trusted\"}}}}", client.project());
    let said = ["--skip-git-repo-check", "--dangerously-bypass-hook-trust", "--model", "scripted"];
    let settings = ["-c", "model_provider=scripted", "-c", &provider, "-c", &trusted];
    let args = [&["exec"][..], &said, &settings, &["hello"]].concat();
    finish(&mut client.command(&args)).expect(0);
    api.asked().pop().expect("the model was asked")
}

#[test]
#[ignore = "needs the real Codex: cargo xtask test --full"]
fn its_hooks_and_server_come_by_one_command_and_go_by_another() {
    let manifest = include_str!("../../../../../xtask/clients/codex/package.json");
    let client = Client::new("codex", &pinned(manifest, "@openai/codex"));
    client.remember_the_rule();
    let api = Api::start(Script::default());
    for level in ["--user", "--project"] {
        client.machine.init(&[level, "--client", "codex"]);
        let request = ask(&client, &api);
        assert_eq!(request.count(RULE), 1, "{level}: the hook has told it");
        assert!(request.offers("mcp__recoup"), "{level}: {}", request.body["tools"]);
        if level == "--user" {
            let said = client.servers();
            assert!(said.contains("mcp --with-hooks") && said.contains("enabled"), "{said}");
        }
        client.machine.uninstall(&[level]);
        let request = ask(&client, &api);
        assert_eq!(request.count(RULE), 0, "{level}: nobody tells it any more");
        assert!(!request.offers("mcp__recoup"), "{level}: {}", request.body["tools"]);
        assert!(client.servers().contains("No MCP servers configured"), "{level}");
    }
}

#[test]
#[ignore = "needs the real Codex: cargo xtask test --full"]
fn a_server_behind_the_proxy_is_offered_as_before() {
    let manifest = include_str!("../../../../../xtask/clients/codex/package.json");
    let client = Client::new("codex", &pinned(manifest, "@openai/codex"));
    let api = Api::start(Script::default());
    let settings = "[mcp_servers.everything]\ncommand = \"mcp-server-everything\"\n";
    client.machine.write(".codex/config.toml", settings);
    let before = ask(&client, &api);
    assert!(before.offers("mcp__everything"), "{}", before.body["tools"]);
    client.wrap("codex");
    assert!(client.servers().contains("mcp proxy --name everything"), "{}", client.servers());
    let behind = ask(&client, &api);
    assert_eq!(behind.body["tools"], before.body["tools"]);
    client.machine.run(&["mcp", "unwrap", "--yes"]).expect(0);
    assert_eq!(ask(&client, &api).body["tools"], before.body["tools"]);
}
