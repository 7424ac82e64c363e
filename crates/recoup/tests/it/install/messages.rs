//! What is said and shown: all of it, nothing that is private, and nothing that is not so.

use serde_json::json;

use super::{CLAUDE, Machine, SETTINGS};

#[test]
fn of_a_minified_file_every_hook_is_shown() {
    let machine = Machine::with_settings("{\"a\":1}");
    let output = machine.run(&[&["init", "--dry-run"], &CLAUDE[..]].concat()).expect(0);
    for event in ["SessionStart", "PreToolUse", "Stop", "SessionEnd"] {
        assert!(output.text().contains(event), "{event}: {}", output.text());
    }
}

#[test]
fn of_a_neighbour_and_of_variables_nothing_is_shown() {
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [
        { "type": "command", "command": "npx claude-mem hook", "env": { "AUTH": "Zx81kQ" } },
        { "type": "command", "command": "TOKEN=Zx81kQ recoup hook" },
    ] }] } });
    let machine = Machine::with_settings(settings.to_string());
    let output = machine.init(&[&CLAUDE[..], &["--replace-peers", "--diff"]].concat());
    assert!(output.text().contains("claude-mem"), "{}", output.text());
    assert!(!output.text().contains("Zx81kQ"), "{}", output.text());
    assert!(!machine.text(SETTINGS).contains("claude-mem"), "{}", machine.text(SETTINGS));
    assert!(machine.text(SETTINGS).contains("TOKEN=Zx81kQ recoup hook"));
}

#[test]
fn of_a_server_with_our_name_only_the_program_is_named() {
    for (command, said) in [
        ("TOKEN=Zx81kQ foo", "(\"foo\")"),
        ("https://user:Zx81kQ@host/x", "(a URL)"),
        ("TOKEN=Zx81kQ", "(no program named)"),
    ] {
        let machine = Machine::with_settings("{}");
        let servers = json!({ "mcpServers": { "recoup": { "command": command } } });
        machine.write(".claude.json", servers.to_string());
        let output = machine.init(&CLAUDE);
        assert!(output.stderr.contains(said), "{}", output.stderr);
        for args in [["init", "--yes", "--json"].as_slice(), &["doctor"], &["doctor", "--json"]] {
            let output = machine.run(args);
            let all = format!("{}{}", output.text(), output.stderr);
            assert!(!all.contains("Zx81kQ"), "{all}");
        }
    }
}

#[test]
fn what_stays_is_not_called_nothing() {
    let own = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"npx recoup hook"}]}]}}"#;
    let machine = Machine::with_settings(own);
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("has a command of your own"), "{}", output.stderr);
    assert!(!output.stderr.contains("No client has recoup"), "{}", output.stderr);
    assert!(Machine::new().uninstall(&[]).stderr.contains("No client has recoup"));
}

#[test]
fn a_client_that_was_left_out_is_not_said_to_remember() {
    let machine = Machine::with_settings("{x");
    machine.write(".cursor/mcp.json", "{}");
    let output = machine.run(&["init", "--yes"]).expect(1);
    let said = &output.stderr;
    assert!(said.contains("skipping Claude Code: ~/.claude/settings.json, line 1"), "{said}");
    assert!(!said.contains("nothing was changed"), "something was: {said}");
    assert!(!said.contains("New sessions remember"), "{said}");
    assert!(said.contains("run `recoup init` again"), "{said}");
}

#[test]
fn names_that_are_there_twice_are_taken_out_twice() {
    let ours = r#"{"command":"recoup","args":["mcp"]}"#;
    let machine = Machine::new();
    let twice = format!(r#"{{"a":1,"mcpServers":{{"recoup":{ours},"recoup":{ours}}}}}"#);
    machine.write(".cursor/mcp.json", twice);
    let hook = r#"[{"hooks":[{"type":"command","command":"recoup hook"}]}]"#;
    machine.write(
        SETTINGS,
        format!(r#"{{"b":2,"hooks":{{"Stop":{hook}}},"hooks":{{"Stop":{hook},"Stop":{hook}}}}}"#),
    );
    machine.uninstall(&[]);
    assert_eq!(machine.text(".cursor/mcp.json"), r#"{"a":1}"#);
    assert_eq!(machine.text(SETTINGS), r#"{"b":2}"#);
}

#[test]
fn a_line_that_says_more_stays() {
    for line in [
        "recoup hook --client claude-code>/dev/null", "recoup hook 2>/tmp/log",
        "recoup hook --client `cat x`", "recoup hook --client \"$(cat x)\"", "command recoup hook",
        "direnv exec . recoup hook", "nix run github:me/recoup -- hook",
    ] {
        let hook = json!([{ "hooks": [{ "type": "command", "command": line }] }]);
        let machine = Machine::with_settings(json!({ "hooks": { "Stop": hook } }).to_string());
        let output = machine.init(&CLAUDE);
        assert!(output.stderr.contains("Stop has a command of your own"), "{}", output.stderr);
        assert_eq!(machine.json(SETTINGS)["hooks"]["Stop"], hook);
    }
}

#[test]
fn more_time_and_what_is_shown_meanwhile_is_its_users_choice() {
    let hook = json!({ "type": "command", "command": "recoup hook", "timeout": 60, "statusMessage": "…", "async": true });
    let settings = json!({ "hooks": { "Stop": [{ "hooks": [hook] }] } });
    let machine = Machine::with_settings(settings.to_string());
    machine.init(&CLAUDE);
    let now = machine.json(SETTINGS)["hooks"]["Stop"][0]["hooks"][0].clone();
    assert_eq!((&now["timeout"], &now["statusMessage"]), (&json!(60), &json!("…")));
    assert_eq!(now.get("async"), None, "no answer would arrive");
}

#[test]
fn what_is_taken_out_is_not_called_written() {
    let machine = Machine::with_settings("{\"a\":1}");
    machine.write(".claude.json", "{\"b\":1}");
    let told = machine.init(&CLAUDE).stderr;
    assert!(told.contains("Wrote ") && !told.contains("Removed"), "{told}");
    let settings = machine.text(SETTINGS).replace("\"a\"", "\"changed\"");
    machine.write(SETTINGS, settings);
    let told = machine.uninstall(&[]).stderr;
    assert!(told.contains("Restored ~/.claude.json to what it was before recoup"), "{told}");
    assert!(told.contains("Removed from ~/.claude/settings.json: hooks for"), "{told}");
    assert!(!told.contains("Wrote"), "{told}");
}

#[test]
fn a_file_that_recoup_created_is_deleted_and_called_so() {
    let machine = Machine::with_settings("{}");
    machine.init(&CLAUDE);
    let told = machine.uninstall(&[]).stderr;
    assert!(told.contains("Deleted ~/.claude.json (recoup had created it)"), "{told}");
}
