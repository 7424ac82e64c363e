//! What is said is so, and the remedy helps.

use std::fs;

use serde_json::{Value, json};

use super::{EVENTS, RECOUP, Report, claude, hook, report, settings, write};
use crate::install::{CLAUDE, Machine, SETTINGS};
use crate::support::{Home, finish};

/// What the installed program says.
fn of(machine: &Machine) -> Report {
    Report(machine.run(&["doctor", "--json"]).json())
}

fn line(text: &str) -> Value {
    json!({"type": "command", "command": text, "timeout": 10})
}

fn text<'a>(found: &'a Value, name: &str) -> &'a str {
    found[name].as_str().unwrap_or_else(|| panic!("{found:#}"))
}

#[test]
fn a_file_of_servers_that_can_not_be_read_is_named_once() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--client", "cursor"]);
    machine.write(".cursor/mcp.json", r#"{"mcpServers": {"#);
    let said = of(&machine);
    assert_eq!(said.0["ok"], false);
    let found = said.has("mcp", "malformed", "fail");
    assert!(text(found, "what").contains("Cursor can't read ~/.cursor/mcp.json"), "{found:#}");
    assert_eq!(said.of("hooks"), [("ok", "ok")]);

    // For the user and for the project it is the same file.
    machine.write(".claude.json", "{oops");
    machine.write(".codex/config.toml", "[mcp_servers");
    let said = of(&machine);
    assert_eq!(said.of("mcp"), [("malformed", "fail"); 3], "{:#}", said.0);
    assert!(!said.of("hooks").contains(&("malformed", "fail")), "{:#}", said.0);
}

/// `recoup cache set` does not touch what it does not know.
#[test]
fn a_cache_that_is_none_of_ours_is_to_be_moved_away() {
    let home = Home::new();
    fs::create_dir_all(home.recoup()).unwrap();
    for name in ["cache.db", "memory.db"] {
        fs::write(home.recoup().join(name), "wombats".repeat(100)).unwrap();
    }
    let said = report(&home, 1);
    for check in ["cache", "memory"] {
        let found = said.has(check, "unusable", "fail");
        assert!(text(found, "what").contains("not a "), "{found:#}");
        assert!(text(found, "remedy").contains("move it away"), "{found:#}");
    }
    let refused = home.cache(&["set", "--key", "k", "--condensed", "1"]);
    assert!(refused.stderr.contains("not a cache database of recoup"), "{refused:?}");
}

#[test]
fn what_a_shell_makes_of_a_path_is_known_or_seen() {
    let machine = Machine::new();
    for line_ in [
        "$HOME/bin/recoup hook", "~/bin/recoup hook", "\"$HOME\"/bin/recoup hook",
        "${HOME}/bin/recoup hook",
    ] {
        machine.write(SETTINGS, settings(&EVENTS, &line(line_)).to_string());
        let said = of(&machine);
        assert_eq!(said.of("hooks"), [("ok", "ok")], "{line_}: {:#}", said.0);
    }
    machine.write(SETTINGS, settings(&EVENTS, &line("~/gone/recoup hook")).to_string());
    of(&machine).has("hooks", "program-missing", "fail");
}

#[test]
fn what_a_client_makes_of_a_path_is_not_guessed() {
    let machine = Machine::new();
    for path in ["${workspaceFolder}/bin/recoup", "${env:HOME}/bin/recoup", "~/bin/recoup"] {
        let server = json!({"mcpServers": {"recoup": {"command": path, "args": ["mcp"]}}});
        machine.write(".cursor/mcp.json", server.to_string());
        let said = of(&machine);
        let found = said.has("mcp", "withheld", "skipped");
        assert!(text(found, "what").contains("only the client can expand"), "{found:#}");
    }
}

#[test]
fn settings_of_another_shape_keep_hooks_out() {
    let machine = Machine::new();
    for shape in [r#"{"hooks": []}"#, r#"{"hooks": {"Stop": {}}}"#] {
        machine.write(SETTINGS, shape);
        let said = of(&machine);
        let found = said.has("hooks", "not-installable", "warn");
        let refused = machine.run(&["init", "--yes", "--client", "claude-code"]);
        let remedy = text(found, "remedy").strip_prefix("fix this first: ").unwrap();
        assert!(refused.stderr.contains(remedy), "{found:#} {refused:?}");
    }
    machine.write(SETTINGS, "{}");
    of(&machine).has("hooks", "not-installed", "skipped");
}

#[test]
fn what_is_in_the_way_is_about_that_file() {
    let machine = Machine::new();
    let by_hand = format!("sh -c '{} hook'", machine.program());
    machine.write(SETTINGS, settings(&EVENTS, &line(&by_hand)).to_string());
    let words = ["A=1", &machine.program(), "mcp"];
    let server = json!({"mcpServers": {"recoup": {"command": "env", "args": words}}});
    machine.write(".claude.json", server.to_string());
    let said = of(&machine);
    let remedy = text(said.has("mcp", "without-flag", "warn"), "remedy").to_owned();
    let start =
        "`recoup init --client claude-code` would change nothing in ~/.claude.json: the server";
    assert!(remedy.starts_with(start), "{remedy}");

    machine.write(SETTINGS, settings(&EVENTS, &hook("/gone/recoup", &["hook"], 5)).to_string());
    machine.write(".claude.json", "{oops");
    let said = of(&machine);
    let remedy = text(said.has("hooks", "program-missing", "fail"), "remedy").to_owned();
    assert!(remedy.starts_with("fix this first: ~/.claude.json, line 1"), "{remedy}");
    assert!(!remedy.contains("nothing was changed"), "{remedy}");
}

#[test]
fn a_server_that_is_switched_off_is_not_well() {
    let home = Home::new();
    let server = json!({"mcp": {"recoup": {
        "type": "local", "command": [RECOUP, "mcp"], "enabled": false}}});
    write(&home, ".config/opencode/opencode.json", server.to_string());
    let codex =
        format!("[mcp_servers.recoup]\ncommand = {RECOUP:?}\nargs = [\"mcp\"]\nenabled = false\n");
    write(&home, ".codex/config.toml", codex);
    let server = json!({"mcpServers": {"recoup": {
        "command": RECOUP, "args": ["mcp"], "disabled": true}}});
    write(&home, ".cursor/mcp.json", server.to_string());
    assert_eq!(report(&home, 0).of("mcp"), [("switched-off", "skipped"); 3]);
}

#[test]
fn what_was_put_in_and_is_gone_is_missed() {
    let machine = Machine::new();
    machine.init(&["--client", "claude-code", "--client", "cursor"]);
    assert_eq!(of(&machine).of("mcp"), [("ok", "ok"), ("ok", "ok")]);
    fs::remove_file(machine.path(".claude.json")).unwrap();
    let said = of(&machine);
    let found = said.has("mcp", "lost", "warn");
    assert_eq!(found["facts"]["client"], "claude-code");
    assert_eq!(found["remedy"], "`recoup init --client claude-code` adds it again");
    fs::remove_file(machine.path(SETTINGS)).unwrap();
    let said = of(&machine);
    said.has("hooks", "lost", "warn");
    machine.init(&CLAUDE);
    let said = of(&machine);
    assert_eq!((said.of("hooks"), said.of("mcp")), (vec![("ok", "ok")], vec![("ok", "ok"); 2]));
    machine.uninstall(&[]);
    assert_eq!(of(&machine).of("mcp"), [("none", "skipped")], "nobody misses what was taken out");
}

#[test]
fn a_receipt_that_can_not_be_read() {
    let machine = Machine::new();
    machine.init(&CLAUDE);
    assert_eq!(of(&machine).of("installed"), [("ok", "ok")]);
    for (receipt, words) in
        [("{oops", "can't be read"), (r#"{"version": 99}"#, "a newer version of recoup")]
    {
        fs::write(machine.home.recoup().join("installed.json"), receipt).unwrap();
        let said = of(&machine);
        let found = said.has("installed", "unreadable", "fail");
        assert!(text(found, "what").contains(words), "{found:#}");
        assert_ne!(machine.run(&["uninstall", "--yes"]).code, Some(0));
    }
}

#[test]
fn what_others_keep_secret_is_not_told() {
    let home = Home::new();
    let url = "https://user:Zx81kQpw77@example.com/x";
    let server = json!({"mcpServers": {"recoup": {"command": url}}});
    write(&home, ".claude.json", server.to_string());
    let said = report(&home, 0);
    said.has("mcp", "name-taken", "warn");
    assert!(!said.0.to_string().contains("Zx81kQpw77"), "{:#}", said.0);
}

#[test]
fn a_build_is_to_be_installed_and_what_is_no_disk_has_no_room() {
    let home = Home::new();
    let said = report(&home, 0);
    let found = said.has("program", "not-on-path", "warn");
    assert!(text(found, "remedy").contains("cargo install"), "{found:#}");
    claude(&home, &json!({}));
    let mut command = home.command(&["doctor", "--json"]);
    let said = Report(finish(command.env("RECOUP_HOME", "/proc/nope")).json());
    said.has("disk", "unknown", "skipped");
}
