//! `wrap --ttl`: the time in our configuration, which goes with the proxy.

use super::{CURSOR, Machine, ONE_SERVER};

const CONFIG: &str = "recoup/config.toml";
const GEMINI: &str = ".gemini/settings.json";

/// A machine whose configuration, if any, has this text; with one server, `x`, of Cursor's.
fn machine_with(config: Option<&str>) -> Machine {
    let machine = Machine::new();
    machine.write(CURSOR, ONE_SERVER);
    if let Some(text) = config {
        machine.write(CONFIG, text);
    }
    machine
}

#[test]
fn a_time_is_written_to_the_configuration() {
    let machine = Machine::new();
    machine.write(CURSOR, r#"{"mcpServers": {"a b": {"command": "x"}, "y": {"command": "y"}}}"#);
    let output = machine.run(&["mcp", "wrap", "--yes", "--ttl", "5 min"]).expect(2);
    assert!(output.stderr.contains("--ttl"), "{}", output.stderr);
    let output = machine.wrap(&["--ttl", "5m", "--server", "a b"]);
    assert!(output.stderr.contains("name those that write"), "{}", output.stderr);
    assert_eq!(machine.text(CONFIG), "[mcpServers.\"a b\"]\ncache = \"5m\"\n");
    machine.run(&["config", "check"]).expect(0);
    // Servers that are wrapped already get it as well.
    machine.wrap(&["--ttl", "1h"]);
    let config = machine.text(CONFIG);
    assert_eq!(config.matches("cache = \"1h\"").count(), 2, "{config}");
    machine.unwrap(&[]);
    assert!(!machine.path(CONFIG).exists());
    let output = machine.wrap(&[]);
    assert!(output.stderr.contains("Nothing is cached yet"), "{}", output.stderr);
    machine.unwrap(&[]);
    machine.write(CONFIG, config);
    let output = machine.wrap(&[]);
    assert!(!output.stderr.contains("Nothing is cached yet"), "{}", output.stderr);
    machine.write(CONFIG, "nonsense = 1\n");
    let output = machine.run(&["mcp", "wrap", "--yes", "--ttl", "2h"]).expect(1);
    assert!(output.stderr.contains("mend it first"), "{}", output.stderr);
}

#[test]
fn unwrap_and_uninstall_take_away_what_was_written() {
    for config in [
        None,
        Some(""),
        Some("# mine\n[cache]\nttl = \"3d\"\n\n"),
        Some("[mcpServers.x]\n"),
        Some("[mcpServers.x]\ntoolsCache.a = \"off\" # never\n"),
        Some("mcpServers = { y = { cache = '1m' } }\n"),
        Some("[mcpServers.y]\ncache = 1000 # quick"),
        // Ours comes in place of another, which comes back.
        Some("[mcpServers.x]\ncache = \"2m\" # as told\n"),
        Some("mcpServers.x.cache = 60000\n"),
        Some("mcpServers = { x = { cache = '2m' } }\n"),
        Some("mcpServers.x.cache = \"1h\"\n"),
    ] {
        for undo in [&["mcp", "unwrap", "--yes"][..], &["uninstall", "--yes"]] {
            let machine = machine_with(config);
            for ttl in ["5m", "1h"] {
                machine.wrap(&["--ttl", ttl]);
            }
            machine.run(undo).expect(0);
            let left = machine.path(CONFIG).exists().then(|| machine.text(CONFIG));
            assert_eq!(left.as_deref(), config, "{undo:?}");
            assert!(!machine.path("recoup/installed.json").exists(), "{config:?}");
        }
    }
}

#[test]
fn what_the_user_has_changed_since_stays_and_is_told() {
    let machine = machine_with(None);
    machine.wrap(&["--ttl", "5m"]);
    let changed = "[mcpServers.x]\ncache = \"7m\"\n";
    machine.write(CONFIG, changed);
    let output = machine.unwrap(&[]);
    assert_eq!(machine.text(CONFIG), changed);
    let told = "~/recoup/config.toml: mcpServers.x.cache was changed since, and stays";
    assert!(output.stderr.contains(told), "{}", output.stderr);
    assert!(!machine.path("recoup/installed.json").exists());

    let machine = machine_with(None);
    machine.wrap(&["--ttl", "5m"]);
    let more = "toolsCache.write = \"off\"\n";
    machine.write(CONFIG, machine.text(CONFIG) + more);
    machine.unwrap(&[]);
    assert_eq!(machine.text(CONFIG), format!("[mcpServers.x]\n{more}"));
}

#[test]
fn a_time_stays_while_another_client_has_the_server_behind_the_proxy() {
    let machine = machine_with(None);
    machine.wrap(&["--ttl", "5m"]);
    // Wrapped later, without a time of its own.
    machine.write(GEMINI, ONE_SERVER);
    machine.wrap(&[]);
    let path = machine.path(CURSOR).display().to_string();
    machine.unwrap(&[&path]);
    assert_eq!(machine.text(CONFIG), "[mcpServers.x]\ncache = \"5m\"\n");
    machine.uninstall(&["--client", "zed"]);
    assert!(machine.path(CONFIG).exists());
    machine.unwrap(&[]);
    assert!(!machine.path(CONFIG).exists());
    assert_eq!(machine.text(GEMINI), ONE_SERVER);
}
