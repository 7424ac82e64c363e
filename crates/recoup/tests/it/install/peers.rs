//! Others that remember: found, named, and replaced if one wants that.

use serde_json::{Value, json};

use super::{CLAUDE, Machine, SETTINGS};

fn settings() -> Value {
    let recall = "node /x/node_modules/claude-recall/dist/cli/claude-recall-cli.js hook run";
    json!({
        "hooksVersion": "11.0.0",
        "hooks": {
            "SessionStart": [
                { "matcher": "compact", "hooks": [{ "type": "command", "command": format!("{recall} post-compact-reload"), "timeout": 10 }] },
            ],
            "UserPromptSubmit": [
                { "hooks": [
                    { "type": "command", "command": "mine" },
                    { "type": "command", "command": format!("{recall} correction-detector") },
                ] },
            ],
            "Stop": [{ "hooks": [{ "type": "command", "command": "npx claude-recall hook run memory-stop" }] }],
        },
        "enabledPlugins": { "claude-mem@thedotmack": true, "other@x": true },
    })
}

fn machine() -> Machine {
    let machine = Machine::with_settings(serde_json::to_string_pretty(&settings()).unwrap());
    let servers = json!({ "mcpServers": { "claude-recall": { "command": "npx", "args": ["-y", "claude-recall@latest", "mcp", "start"] }, "x": { "command": "y" } } });
    machine.write(".claude.json", serde_json::to_string_pretty(&servers).unwrap());
    machine
}

#[test]
fn they_are_named_and_stay_unless_one_says_otherwise() {
    let machine = machine();
    let output = machine.init(&CLAUDE);
    assert!(
        output.stderr.contains("claude-recall: its hook for SessionStart"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("claude-mem: its plugin claude-mem@thedotmack"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains("--replace-peers removes them"), "{}", output.stderr);
    assert!(machine.text(SETTINGS).contains("claude-recall-cli.js hook run correction-detector"));
}

#[test]
fn what_only_names_them_is_not_theirs() {
    let make = json!({ "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "cd ~/src/claude-mem && make lint" }] }] } });
    let machine = Machine::with_settings(make.to_string());
    let files = json!({ "mcpServers": { "filesystem": { "command": "mcp-files", "args": ["/home/me/src/claude-mem"] } } });
    machine.write(".claude.json", files.to_string());
    let output = machine.init(&[&CLAUDE[..], &["--replace-peers"]].concat());
    assert!(!output.stderr.contains("removed claude-mem"), "{}", output.stderr);
    assert!(machine.text(SETTINGS).contains("make lint"));
    assert!(machine.text(".claude.json").contains("mcp-files"));
}

#[test]
fn a_server_for_one_project_is_found_as_well() {
    let machine = Machine::with_settings("{}");
    let servers = json!({ "projects": { "/p": { "mcpServers": { "m": { "command": "npx", "args": ["claude-mem"] }, "x": { "command": "y" } } } } });
    machine.write(".claude.json", servers.to_string());
    let output = machine.init(&[&CLAUDE[..], &["--replace-peers"]].concat());
    assert!(output.stderr.contains("its server “m” for /p"), "{}", output.stderr);
    let left = machine.json(".claude.json")["projects"]["/p"]["mcpServers"].clone();
    assert_eq!(left, json!({ "x": { "command": "y" } }));
}

#[test]
fn replaced_they_are_out_and_come_back_when_we_go() {
    let machine = machine();
    let before = machine.files();
    let args = [&CLAUDE[..], &["--replace-peers"]].concat();
    let output = machine.init(&args);
    assert!(
        output.stderr.contains("removed claude-recall: its hook for Stop"),
        "{}",
        output.stderr
    );
    let after = machine.json(SETTINGS);
    assert!(!machine.text(SETTINGS).contains("claude-recall"));
    assert_eq!(
        after["hooks"]["UserPromptSubmit"][0]["hooks"],
        json!([{ "type": "command", "command": "mine" }])
    );
    assert_eq!(after["enabledPlugins"], json!({ "claude-mem@thedotmack": false, "other@x": true }));
    let servers = machine.json(".claude.json")["mcpServers"].clone();
    let names: Vec<&String> = servers.as_object().unwrap().keys().collect();
    assert_eq!(names, ["recoup", "x"]);
    let output = machine.init(&args);
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
    machine.uninstall(&[]);
    assert!(machine.files() == before, "all of it is back");
    machine.init(&args);
    machine.write(SETTINGS, machine.text(SETTINGS) + "\n");
    let output = machine.uninstall(&[]);
    let words = "claude-recall is not restored: ~/.claude/settings.json was changed since";
    assert!(output.stderr.contains(words), "{}", output.stderr);
}
