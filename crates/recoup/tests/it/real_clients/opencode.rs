//! opencode lists its servers, and greets each.

use super::{Client, pinned};

#[test]
#[ignore = "needs the real opencode: cargo xtask test --full"]
fn it_is_connected_by_one_command_and_has_no_server_after_the_other() {
    let manifest = include_str!("../../../../../xtask/clients/opencode/package.json");
    let client = Client::new("opencode", &pinned(manifest, "opencode-linux-x64-baseline"));
    for level in ["--user", "--project"] {
        assert!(client.servers().contains("No MCP servers configured"), "{level}: before");
        client.machine.init(&[level, "--client", "opencode"]);
        let said = client.servers();
        let ours = said.lines().find(|line| line.contains("recoup ")).unwrap_or_default();
        assert!(ours.contains('✓') && ours.contains("connected"), "{level}: {said}");
        assert!(said.contains("1 server(s)"), "{level}: {said}");
        client.machine.uninstall(&[level]);
        assert!(client.servers().contains("No MCP servers configured"), "{level}: after");
    }
}
