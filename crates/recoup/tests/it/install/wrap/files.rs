//! Which files are wrapped: the user's, a project's, and those that are named.

use std::fs;

use serde_json::json;

use super::{CURSOR, Machine, behind};

const TEAM: &str = "project/.mcp.json";
const SERVERS: &str = "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"npx\"}\n  }\n}\n";

#[test]
fn a_projects_files_are_wrapped_only_on_request() {
    let machine = Machine::new();
    machine.write(TEAM, SERVERS);
    machine.write("project/.cursor/mcp.json", SERVERS);
    machine.write(CURSOR, SERVERS);
    let local = json!({"projects": {machine.home.project().to_str().unwrap(): {"mcpServers": {"x": {"command": "npx"}}}}});
    machine.write(".claude.json", local.to_string());
    machine.wrap(&[]);
    assert_eq!(machine.text(TEAM), SERVERS);
    assert_eq!(machine.json(".claude.json"), local);
    let users = machine.text(CURSOR);
    assert_ne!(users, SERVERS);
    let output = machine.wrap(&["--project"]);
    assert_eq!(machine.text(CURSOR), users);
    // For everybody who works there: no path of this machine.
    for file in [TEAM, "project/.cursor/mcp.json"] {
        let entry = &machine.json(file)["mcpServers"]["x"];
        assert_eq!(*entry, json!({"command": "recoup", "args": behind("x", &["npx"])}), "{file}");
    }
    assert!(
        output.stderr.contains(".mcp.json is for everybody who works there"),
        "{}",
        output.stderr
    );
    let own = &machine.json(".claude.json")["projects"][machine.home.project().to_str().unwrap()];
    assert_eq!(own["mcpServers"]["x"]["command"], machine.program());
    machine.unwrap(&[]);
    for file in [TEAM, "project/.cursor/mcp.json", CURSOR] {
        assert_eq!(machine.text(file), SERVERS, "{file}");
    }
    assert_eq!(machine.text(".claude.json"), local.to_string());
    assert!(!machine.path("recoup/installed.json").exists());
}

#[test]
fn a_named_file_alone_is_wrapped_and_unwrapped() {
    let machine = Machine::new();
    machine.write(TEAM, SERVERS);
    machine.write("other/.vscode/mcp.json", SERVERS.replace("mcpServers", "servers"));
    machine.write("other/.mcp.json", SERVERS);
    machine.write(CURSOR, SERVERS);
    let other = machine.path("other/.vscode/mcp.json").display().to_string();
    machine.wrap(&[".mcp.json", &other]);
    assert_eq!(machine.json(TEAM)["mcpServers"]["x"]["args"], behind("x", &["npx"]));
    assert_eq!(machine.json("other/.vscode/mcp.json")["servers"]["x"]["command"], "recoup");
    assert_eq!(machine.text(CURSOR), SERVERS);
    assert_eq!(machine.text("other/.mcp.json"), SERVERS);
    machine.unwrap(&[".mcp.json"]);
    assert_eq!(machine.text(TEAM), SERVERS);
    assert_eq!(machine.json("other/.vscode/mcp.json")["servers"]["x"]["command"], "recoup");
    // Everything that is known, wherever it is.
    machine.unwrap(&[]);
    assert_eq!(machine.text("other/.vscode/mcp.json"), SERVERS.replace("mcpServers", "servers"));
    let output = machine.run(&["mcp", "wrap", "--yes", ".none.json"]).expect(2);
    assert!(output.stderr.contains("there is no "), "{}", output.stderr);
    machine.write("project/some.json", SERVERS);
    let output = machine.run(&["mcp", "wrap", "--yes", "some.json"]).expect(2);
    assert!(output.stderr.contains("is not a file in which a client"), "{}", output.stderr);
}

#[test]
fn a_file_that_cannot_be_read_does_not_hold_up_the_others() {
    let machine = Machine::new();
    machine.write(CURSOR, "{\"mcpServers\": {");
    machine.write(".gemini/settings.json", SERVERS);
    let output = machine.run(&["mcp", "wrap", "--yes"]).expect(1);
    assert!(output.stderr.contains("~/.cursor/mcp.json, line 1"), "{}", output.stderr);
    assert_ne!(machine.text(".gemini/settings.json"), SERVERS);
    machine.run(&["mcp", "unwrap", "--yes"]).expect(1);
    assert_eq!(machine.text(".gemini/settings.json"), SERVERS);
    let path = machine.path(CURSOR).display().to_string();
    let output = machine.run(&["mcp", "wrap", "--yes", &path]).expect(1);
    assert!(output.stderr.contains("line 1"), "{}", output.stderr);
}

#[test]
fn flags_of_the_server_are_refused() {
    let machine = Machine::new();
    for args in [
        &["mcp", "wrap", "--store", "memory:"][..],
        &["mcp", "unwrap", "--scope", "global"],
        &["mcp", "--with-hooks", "wrap"],
        &["mcp", "wrap", "x", "--project"],
        &["mcp", "wrap", "--client", "none"],
    ] {
        machine.run(args).expect(2);
    }
}

#[test]
fn a_link_out_of_a_project_is_not_followed() {
    let machine = Machine::new();
    machine.write("elsewhere.json", SERVERS);
    std::os::unix::fs::symlink(machine.path("elsewhere.json"), machine.path(TEAM)).unwrap();
    let output = machine.run(&["mcp", "wrap", "--yes", ".mcp.json"]).expect(1);
    assert!(output.stderr.contains("is a symbolic link out of the project"), "{}", output.stderr);
    assert_eq!(machine.text("elsewhere.json"), SERVERS);
}

#[test]
fn backups_are_kept_and_private_values_are_not_shown() {
    let machine = Machine::new();
    let before = "{\"mcpServers\": {\"x\": {\"command\": \"npx\", \"args\": [\"--token\", \"zq81kfu\"], \"env\": {\"T\": \"zq82kfu\"}}}}";
    machine.write(CURSOR, before);
    let output = machine.wrap(&[]);
    let shown = [output.text(), output.stderr.clone()].concat();
    assert!(!shown.contains("zq8"), "{shown}");
    assert!(shown.contains("Copies of what was there are in ~/recoup/backups"), "{shown}");
    let copies: Vec<_> = fs::read_dir(machine.path("recoup/backups")).unwrap().collect();
    assert_eq!(copies.len(), 1);
    assert_eq!(fs::read_to_string(copies[0].as_ref().unwrap().path()).unwrap(), before);
    let toml = "[mcp_servers.x]\ncommand = 'npx'\nargs = ['--token', 'zq83kfu']\n";
    machine.write(".codex/config.toml", toml);
    let output = machine.wrap(&[]);
    assert!(!output.text().contains("zq8"), "{}", output.text());
}
