//! What settings hold beside ours is not shown, neither to people nor to programs.

use super::{CLAUDE, Machine, SETTINGS};

#[track_caller]
fn shows_none_of(machine: &Machine, secrets: &[&str]) {
    for args in [&["init", "--dry-run"][..], &["init", "--dry-run", "--json"], &["init", "--yes"]] {
        let output = machine.run(args).expect(0);
        for secret in secrets {
            assert!(!output.text().contains(secret), "{args:?}: {}", output.text());
            assert!(!output.stderr.contains(secret), "{args:?}: {}", output.stderr);
        }
    }
    let output = machine.run(&["uninstall", "--yes"]).expect(0);
    for secret in secrets {
        assert!(!output.text().contains(secret), "{}", output.text());
        assert!(!output.stderr.contains(secret), "{}", output.stderr);
    }
}

#[test]
fn of_a_server_with_our_name_only_the_program_is_named() {
    let machine = Machine::new();
    machine.write(
        ".codex/config.toml",
        "[mcp_servers.recoup]\ncommand = \"other\"\nenv = { OPENAI_API_KEY = \"hunter22\" }\n",
    );
    machine.write(
        ".claude.json",
        r#"{"mcpServers": {"recoup": {"url": "https://x/mcp?api_key=hunter22"}}}"#,
    );
    machine.write(SETTINGS, "{}\n");
    let output = machine.run(&["init", "--dry-run"]).expect(0);
    assert!(output.stderr.contains("named “recoup” (\"other\"): it is kept"), "{}", output.stderr);
    assert!(output.stderr.contains("named “recoup” (a URL)"), "{}", output.stderr);
    shows_none_of(&machine, &["hunter22"]);
}

#[test]
fn of_a_command_that_calls_us_only_the_program_is_named() {
    let own = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "TOKEN=hunter22 recoup hook"}]}]}}"#;
    shows_none_of(&Machine::with_settings(own), &["hunter22"]);
}

#[test]
fn a_change_is_shown_without_what_stands_around_it() {
    let one_line = r#"{"oauthAccount":{"emailAddress":"me@example.org"},"projects":{"/home/me/thesis":{"history":["my plan"]}},"env":{"COMPANY_AUTH":"Zx81"}}"#;
    let lines = "{\n  \"mcpServers\": {\n    \"x\": {\n      \"args\": [\"--token\", \"Zx81\"]\n    }\n  },\n  \"last\": \"my plan\"\n}\n";
    for text in [one_line, lines] {
        let machine = Machine::with_settings(text);
        machine.write(".claude.json", text);
        let output = machine.run(&[&["init", "--dry-run"], &CLAUDE[..]].concat()).expect(0);
        assert!(
            output.text().contains("\"mcp\", \"--with-hooks\"")
                || output.text().contains("\"mcp\",\"--with-hooks\""),
            "{}",
            output.text()
        );
        shows_none_of(&machine, &["Zx81", "my plan", "me@example.org", "thesis"]);
    }
}
