//! What an older version of ours put there, and what people have made of it.

use serde_json::{Value, json};

use super::{CLAUDE, Machine, SETTINGS};

fn commands(settings: &Value, event: &str) -> Vec<Value> {
    let groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
    groups.iter().flat_map(|group| group["hooks"].as_array().unwrap().clone()).collect()
}

#[test]
fn old_entries_are_brought_up_to_date_where_they_stand() {
    let old = json!({
        "hooks": {
            "SessionStart": [
                { "matcher": "startup", "hooks": [
                    { "type": "command", "command": "other" },
                    { "type": "command", "command": "/old/place/recoup hook", "timeout": 60, "async": false },
                ] },
            ],
            "Notification": [{ "hooks": [{ "type": "command", "command": "recoup hook" }] }],
            "Stop": [
                { "hooks": [{ "type": "command", "command": "/a/recoup", "args": ["hook"] }] },
                { "hooks": [{ "type": "command", "command": "/b/recoup", "args": ["hook"] }] },
            ],
        },
    });
    let machine = Machine::with_settings(serde_json::to_string_pretty(&old).unwrap());
    machine.write(
        ".claude.json",
        r#"{"mcpServers": {"memory": {"command": "/old/recoup", "args": ["mcp", "--scope", "global"], "env": {"A": "1"}}}}"#,
    );
    let output = machine.init(&CLAUDE);
    assert!(
        output.stderr.contains("hooks updated: Notification, SessionStart, Stop"),
        "{}",
        output.stderr
    );
    let settings = machine.json(SETTINGS);
    let program = machine.program();
    let start = commands(&settings, "SessionStart");
    assert_eq!(start[0]["command"], "other");
    assert_eq!(
        start[1],
        json!({ "type": "command", "command": program, "args": ["hook"], "timeout": 10 })
    );
    assert_eq!(settings["hooks"]["SessionStart"][0]["matcher"], "startup");
    assert_eq!(settings["hooks"]["SessionStart"][1].get("matcher"), None, "it is for every source");
    assert_eq!(settings["hooks"].get("Notification"), None, "nothing is done at that event");
    assert_eq!(commands(&settings, "Stop").len(), 1, "one call is enough");
    let server = &machine.json(".claude.json")["mcpServers"]["memory"];
    assert_eq!(server["command"], program);
    assert_eq!(server["args"], json!(["mcp", "--with-hooks", "--scope", "global"]));
    assert_eq!(server["env"], json!({ "A": "1" }));
    machine.init(&CLAUDE);
    assert_eq!(machine.json(SETTINGS), settings);
    machine.uninstall(&[]);
    let left = machine.json(SETTINGS);
    assert_eq!(commands(&left, "SessionStart"), [json!({ "type": "command", "command": "other" })]);
    assert!(!machine.text(SETTINGS).contains("recoup"));
}

/// Rules for every source, tools of every kind, and answers that arrive.
#[test]
fn hooks_that_are_limited_are_so_no_longer() {
    let ours = json!([{ "type": "command", "command": "recoup hook" }]);
    let old = json!({
        "hooks": {
            "SessionStart": [
                { "matcher": "startup", "hooks": ours },
                { "matcher": "compact", "hooks": ours },
            ],
            "PreToolUse": [
                { "matcher": "Bash", "hooks": [{ "type": "command", "command": "recoup hook", "async": true }] },
            ],
            "Stop": [
                { "matcher": "*", "hooks": [{ "type": "command", "command": "recoup hook", "async": true }] },
            ],
        },
    });
    let machine = Machine::with_settings(old.to_string());
    machine.init(&CLAUDE);
    let settings = machine.json(SETTINGS);
    let hook =
        json!({ "type": "command", "command": machine.program(), "args": ["hook"], "timeout": 10 });
    for event in ["SessionStart", "PreToolUse"] {
        assert_eq!(settings["hooks"][event], json!([{ "hooks": [hook] }]), "{event}");
    }
    assert_eq!(settings["hooks"]["Stop"], json!([{ "matcher": "*", "hooks": [hook] }]));
    let output = machine.init(&CLAUDE);
    assert!(output.stderr.contains("Nothing was changed."), "{}", output.stderr);
}

#[test]
fn hooks_through_another_program_are_known_and_not_doubled() {
    let forms = [
        json!({ "type": "command", "command": "npx -y recoup hook" }),
        json!({ "type": "command", "command": "npx", "args": ["-y", "recoup", "hook"] }),
        json!({ "type": "command", "command": "env A=1 timeout 5 recoup hook" }),
        json!({ "type": "command", "command": "sh", "args": ["-c", "recoup hook 2>/dev/null"] }),
    ];
    for form in forms {
        let old = json!({ "hooks": { "Stop": [{ "hooks": [form] }] } });
        let machine = Machine::with_settings(old.to_string());
        let output = machine.init(&CLAUDE);
        assert!(output.stderr.contains("Stop has a command of your own"), "{}", output.stderr);
        assert_eq!(
            commands(&machine.json(SETTINGS), "Stop"),
            std::slice::from_ref(&form),
            "{form}"
        );
    }
}

#[test]
fn every_server_of_ours_is_brought_up_to_date() {
    let machine = Machine::new();
    let old = json!({ "command": "/old/recoup", "args": ["mcp"] });
    machine.write(".claude.json", json!({ "mcpServers": { "a": old, "b": old } }).to_string());
    machine.init(&CLAUDE);
    let servers = machine.json(".claude.json")["mcpServers"].clone();
    for name in ["a", "b"] {
        assert_eq!(servers[name]["command"], machine.program(), "{name}");
    }
}

/// Nobody else would tell the agent the rules.
#[test]
fn where_no_hook_runs_the_server_gives_the_rules() {
    let machine = Machine::with_settings("{\"disableAllHooks\": true}\n");
    machine.write(".codex/config.toml", "[features]\nhooks = false\n");
    let output = machine.init(&[]);
    assert!(
        output.stderr.contains("Claude Code: `disableAllHooks` in its settings"),
        "{}",
        output.stderr
    );
    assert!(
        output.stderr.contains("Codex: `hooks = false` under [features] in its config.toml"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("New sessions remember"), "{}", output.stderr);
    assert_eq!(machine.json(".claude.json")["mcpServers"]["recoup"]["args"], json!(["mcp"]));
    assert!(machine.text(".codex/config.toml").contains("args = [\"mcp\"]\n"));
    machine.write(SETTINGS, machine.text(SETTINGS).replace("true", "false"));
    machine.init(&CLAUDE);
    let args = &machine.json(".claude.json")["mcpServers"]["recoup"]["args"];
    assert_eq!(*args, json!(["mcp", "--with-hooks"]));
}

#[test]
fn an_extension_that_was_changed_is_shown_before_it_is_replaced() {
    let machine = Machine::new();
    machine.init(&["--client", "pi"]);
    let file = ".pi/agent/extensions/recoup.ts";
    machine.write(file, format!("{}\n// my own work\n", machine.text(file)));
    let output = machine.init(&["--client", "pi", "--diff"]);
    assert!(output.text().contains("-// my own work"), "{}", output.text());
    assert!(output.stderr.contains("a copy of it is kept"), "{}", output.stderr);
}

#[test]
fn after_an_upgrade_the_way_back_still_leads_to_the_beginning() {
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let machine = Machine::with_settings(before);
    let other = machine.path("other/recoup");
    std::fs::create_dir(machine.path("other")).unwrap();
    std::os::unix::fs::symlink(crate::support::RECOUP, &other).unwrap();
    machine.init(&[&CLAUDE[..], &["--program", other.to_str().unwrap()]].concat());
    assert!(machine.text(SETTINGS).contains("other/recoup"));
    machine.init(&CLAUDE);
    assert!(!machine.text(SETTINGS).contains("other/recoup"));
    machine.uninstall(&[]);
    assert_eq!(machine.text(SETTINGS), before);
}

#[test]
fn a_command_of_ones_own_that_calls_us_is_left_alone() {
    let own = "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"RECOUP_HOME=/x recoup hook 2>>/tmp/log\"}]}]}}\n";
    let machine = Machine::with_settings(own);
    let output = machine.init(&CLAUDE);
    assert!(
        output.stderr.contains("Stop has a command of your own that calls recoup"),
        "{}",
        output.stderr
    );
    let settings = machine.json(SETTINGS);
    assert_eq!(commands(&settings, "Stop").len(), 1);
    assert_eq!(commands(&settings, "SessionStart").len(), 1);
    std::fs::remove_dir_all(machine.home.recoup()).unwrap();
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("that calls recoup: it is kept"), "{}", output.stderr);
    assert_eq!(machine.text(SETTINGS), own);
}

#[test]
fn a_server_of_that_name_that_is_not_ours_stays() {
    let machine = Machine::new();
    let other = r#"{"mcpServers": {"recoup": {"command": "docker", "args": ["run", "recoup"]}}}"#;
    machine.write(".claude.json", other);
    let output = machine.init(&CLAUDE);
    assert!(output.stderr.contains("named “recoup” (\"docker\"): it is kept"), "{}", output.stderr);
    assert_eq!(machine.text(".claude.json"), other);
    machine.uninstall(&[]);
    assert_eq!(machine.text(".claude.json"), other);
}

/// Codex drops `args` without a word: `recoup` alone would be called.
#[test]
fn a_hook_of_codex_with_arguments_becomes_a_line() {
    let machine = Machine::new();
    let old = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"recoup","args":["hook","--client","codex"]}]}]}}"#;
    machine.write(".codex/hooks.json", old);
    machine.init(&["--client", "codex"]);
    let stop = commands(&machine.json(".codex/hooks.json"), "Stop");
    let line = format!("{} hook --client codex", machine.program());
    assert_eq!(stop, [json!({ "type": "command", "command": line, "timeout": 10 })]);
}

#[test]
fn what_was_there_before_the_receipt_leaves_no_empty_lists() {
    let old = r#"{"model": "x", "hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "/old/recoup hook"}]}]}}"#;
    let machine = Machine::with_settings(old);
    machine.init(&CLAUDE);
    machine.uninstall(&[]);
    assert_eq!(machine.json(SETTINGS), json!({ "model": "x" }));
}

/// `claude mcp add recoup -- recoup mcp` puts it into Claude Code's own file, for one project.
#[test]
fn a_server_that_claude_code_has_added_for_a_project_comes_out() {
    let machine = Machine::new();
    let with = |servers: Value| json!({ "projects": { "/some/where": { "mcpServers": servers, "a": 1 } } });
    let other = json!({ "command": "other" });
    let ours = json!({ "type": "stdio", "command": "recoup", "args": ["mcp"], "env": {} });
    machine.write(".claude.json", with(json!({ "recoup": ours, "other": other })).to_string());
    machine.uninstall(&["--user"]);
    assert!(machine.text(".claude.json").contains("recoup"), "that is for a project");
    machine.uninstall(&[]);
    assert_eq!(machine.json(".claude.json"), with(json!({ "other": other })));
}
