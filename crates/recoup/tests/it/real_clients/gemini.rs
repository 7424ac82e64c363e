//! Gemini CLI lists its servers, and greets each.

use serde_json::json;

use super::{Client, pinned};

fn client() -> Client {
    let manifest = include_str!("../../../../../xtask/clients/gemini/package.json");
    Client::new("gemini", &pinned(manifest, "@google/gemini-cli"))
}

#[test]
#[ignore = "needs the real Gemini CLI: cargo xtask test --full"]
fn it_is_connected_by_one_command_and_has_no_server_after_the_other() {
    let client = client();
    let trusted = json!({ client.project(): "TRUST_FOLDER" });
    client.machine.write(".gemini/trustedFolders.json", trusted.to_string());
    for level in ["--user", "--project"] {
        assert!(client.servers().contains("No MCP servers configured"), "{level}: before");
        client.machine.init(&[level, "--client", "gemini"]);
        let said = client.servers();
        let ours = said.lines().find(|line| line.contains("recoup: ")).unwrap_or_default();
        assert!(ours.contains("✓") && ours.ends_with("(stdio) - Connected"), "{level}: {said}");
        client.machine.uninstall(&[level]);
        assert!(client.servers().contains("No MCP servers configured"), "{level}: after");
    }
}

/// As `recoup init` tells those who use it.
#[test]
#[ignore = "needs the real Gemini CLI: cargo xtask test --full"]
fn in_a_folder_that_is_not_trusted_it_starts_no_server() {
    let client = client();
    let told = client.machine.init(&["--client", "gemini"]).stderr;
    assert!(
        told.contains("Gemini CLI: it starts servers only in folders that you trust"),
        "{told}"
    );
    let said = client.servers();
    assert!(said.contains("recoup: ") && said.contains("- Disabled"), "{said}");
}
