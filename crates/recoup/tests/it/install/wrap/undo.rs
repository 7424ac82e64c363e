//! The way back when somebody else has changed the file since.

use serde_json::json;

use super::{CLIENTS, CURSOR, Machine, ONE_SERVER, behind};

#[test]
fn after_a_change_elsewhere_in_the_file_the_entry_has_its_bytes_again() {
    for (client, path, before, _) in CLIENTS {
        for command in ["unwrap", "uninstall"] {
            let machine = Machine::new();
            machine.write(path, before);
            machine.wrap(&[]);
            machine.write(path, machine.text(path) + "\n");
            let output = match command {
                "unwrap" => machine.unwrap(&[]),
                _ => machine.uninstall(&[]),
            };
            assert_eq!(machine.text(path), format!("{before}\n"), "{client}");
            assert!(output.stderr.contains("the proxy before server “x”"), "{}", output.stderr);
            assert!(!machine.path("recoup/installed.json").exists(), "{client}");
        }
    }
}

#[test]
fn a_changed_entry_keeps_what_was_changed() {
    let machine = Machine::new();
    machine.write(CURSOR, r#"{"mcpServers": {"x": {"command": "npx", "args": ["x"]}}}"#);
    machine.wrap(&[]);
    let mut changed = machine.json(CURSOR);
    changed["mcpServers"]["x"]["args"].as_array_mut().unwrap().push(json!("--more"));
    changed["mcpServers"]["x"]["env"] = json!({"A": "1"});
    changed["mcpServers"]["y"] = json!({"command": "y"});
    machine.write(CURSOR, changed.to_string());
    machine.unwrap(&[]);
    let expected = json!({"mcpServers": {
        "x": {"command": "npx", "args": ["x", "--more"], "env": {"A": "1"}},
        "y": {"command": "y"},
    }});
    assert_eq!(machine.json(CURSOR), expected);
}

#[test]
fn without_a_receipt_the_arguments_say_what_was_there() {
    for (client, path, before, after) in CLIENTS {
        let machine = Machine::new();
        machine.write(path, after.replace("PROGRAM", "/elsewhere/recoup"));
        machine.unwrap(&[]);
        let plain = |text: &str| -> String {
            text.chars().filter(|c| !c.is_whitespace() && !"'\",[]".contains(*c)).collect()
        };
        // Comments inside of what was rewritten are gone, and an empty list is left out.
        let before =
            before.replace("# yes", "").replace("/* yes */ ", "").replace("\"args\": [], ", "");
        assert_eq!(plain(&machine.text(path)), plain(&before), "{client}");
    }
}

#[test]
fn a_call_of_the_proxy_that_somebody_wrote_is_told_and_stays() {
    let machine = Machine::new();
    let before = json!({"mcpServers": {
        "x": {"command": "env", "args": ["A=1", "recoup", "mcp", "proxy", "--", "x"]},
        "y": {"command": "recoup", "args": ["mcp", "proxy", "y"]},
    }});
    machine.write(CURSOR, before.to_string());
    let output = machine.unwrap(&[]);
    assert_eq!(machine.json(CURSOR), before);
    assert_eq!(output.stderr.matches("calls our proxy in a way of its own").count(), 2);
    machine.init(&["--client", "cursor"]);
    let entries = machine.json(CURSOR);
    assert_eq!(entries["mcpServers"]["y"], before["mcpServers"]["y"], "it is no server of ours");
    assert_eq!(entries["mcpServers"]["recoup"]["args"], json!(["mcp"]));
}

/// A machine whose only server was wrapped, before somebody added a second one.
fn machine_with_added_server() -> Machine {
    let machine = Machine::new();
    machine.write(CURSOR, ONE_SERVER);
    machine.wrap(&[]);
    let added = machine.text(CURSOR).replace("{\"x\"", "{\"y\": {\"command\": \"y\"}, \"x\"");
    machine.write(CURSOR, added);
    machine
}

/// What `init` keeps as the original must not have our proxy in it.
#[test]
fn init_after_a_foreign_change_does_not_make_the_proxy_permanent() {
    let machine = machine_with_added_server();
    machine.init(&["--client", "cursor"]);
    machine.uninstall(&[]);
    let expected = json!({"mcpServers": {"x": {"command": "npx"}, "y": {"command": "y"}}});
    assert_eq!(machine.json(CURSOR), expected);
}

#[test]
fn what_is_added_later_is_wrapped_by_the_next_run() {
    let machine = machine_with_added_server();
    machine.wrap(&[]);
    let entries = machine.json(CURSOR);
    assert_eq!(entries["mcpServers"]["x"]["args"], behind("x", &["npx"]));
    assert_eq!(entries["mcpServers"]["y"]["args"], behind("y", &["y"]));
    machine.unwrap(&[]);
    let expected = json!({"mcpServers": {"x": {"command": "npx"}, "y": {"command": "y"}}});
    assert_eq!(machine.json(CURSOR), expected);
}

#[test]
fn uninstall_of_another_client_leaves_the_proxy() {
    let machine = Machine::new();
    machine.write(CURSOR, ONE_SERVER);
    machine.wrap(&[]);
    machine.uninstall(&["--client", "zed"]);
    machine.uninstall(&["--project"]);
    assert_eq!(machine.json(CURSOR)["mcpServers"]["x"]["args"], behind("x", &["npx"]));
    machine.uninstall(&["--client", "cursor", "--user"]);
    assert_eq!(machine.text(CURSOR), ONE_SERVER);
}
