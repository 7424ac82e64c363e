//! `recoup mcp wrap` and `unwrap`: other MCP servers behind our proxy, and out again.

mod files;
mod remote;
mod ttl;
mod undo;

use serde_json::{Value, json};

use super::Machine;
use crate::support::Output;

/// Cursor's file, beneath the home.
const CURSOR: &str = ".cursor/mcp.json";
/// A file of Cursor's with one server, on one line.
const ONE_SERVER: &str = r#"{"mcpServers": {"x": {"command": "npx"}}}"#;

impl Machine {
    /// `recoup mcp wrap --yes`, which must succeed.
    #[track_caller]
    pub(super) fn wrap(&self, args: &[&str]) -> Output {
        self.run(&[&["mcp", "wrap", "--yes"], args].concat()).expect(0)
    }

    /// `recoup mcp unwrap --yes`, which must succeed.
    #[track_caller]
    pub(super) fn unwrap(&self, args: &[&str]) -> Output {
        self.run(&[&["mcp", "unwrap", "--yes"], args].concat()).expect(0)
    }
}

/// Arguments of the proxy before a server's own command.
fn behind(name: &str, words: &[&str]) -> Value {
    json!([&["mcp", "proxy", "--name", name, "--"], words].concat())
}

/// A client, its file beneath the home, what is in it, and what is to be there; PROGRAM is ours.
const CLIENTS: [(&str, &str, &str, &str); 9] = [
    (
        "claude-code",
        ".claude.json",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"x\": {\n      \"type\": \"stdio\",\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"x\"\n      ],\n      \"env\": {\"K\": \"v\"}\n    }\n  }\n}\n",
        "{\n  \"numStartups\": 3,\n  \"mcpServers\": {\n    \"x\": {\n      \"type\": \"stdio\",\n      \"command\": \"PROGRAM\",\n      \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--cred-env\", \"K\", \"--\", \"npx\", \"-y\", \"x\"],\n      \"env\": {\"K\": \"v\"}\n    }\n  }\n}\n",
    ),
    (
        "codex",
        ".codex/config.toml",
        "model = \"gpt\" # best\r\n\r\n[mcp_servers.x]\r\ncommand = 'npx' # node\r\nargs = ['-y', # yes\r\n  'x']\r\nstartup_timeout_sec = 5\r\n\r\n[mcp_servers.x.env]\r\nK = \"v\"\r\n",
        "model = \"gpt\" # best\r\n\r\n[mcp_servers.x]\r\ncommand = \"PROGRAM\" # node\r\nargs = [\"mcp\", \"proxy\", \"--name\", \"x\", \"--cred-env\", \"K\", \"--\", \"npx\", \"-y\", \"x\"]\r\nstartup_timeout_sec = 5\r\n\r\n[mcp_servers.x.env]\r\nK = \"v\"\r\n",
    ),
    (
        "pi",
        ".pi/agent/mcp.json",
        "{\n  \"mcpServers\": {\n    \"x\": { \"command\": \"y\" }\n  }\n}\n",
        "{\n  \"mcpServers\": {\n    \"x\": { \"command\": \"PROGRAM\", \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--\", \"y\"] }\n  }\n}\n",
    ),
    (
        "cursor",
        CURSOR,
        "{\"mcpServers\":{\"x\":{\"command\":\"npx\",\"args\":[\"x\"],\"env\":{}}}}",
        "{\"mcpServers\":{\"x\":{\"command\":\"PROGRAM\",\"args\":[\"mcp\",\"proxy\",\"--name\",\"x\",\"--\",\"npx\",\"x\"],\"env\":{}}}}",
    ),
    (
        "windsurf",
        ".codeium/windsurf/mcp_config.json",
        "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"npx\", \"args\": [], \"disabledTools\": [\"t\"]}\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"PROGRAM\", \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--\", \"npx\"], \"disabledTools\": [\"t\"]}\n  }\n}",
    ),
    (
        "vscode",
        ".config/Code/User/mcp.json",
        "{\n\t\"servers\": { // mine\n\t\t\"x\": { /* x */ \"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"${workspaceFolder}\"], },\n\t},\n\t\"inputs\": []\n}\n",
        "{\n\t\"servers\": { // mine\n\t\t\"x\": { /* x */ \"type\": \"stdio\", \"command\": \"PROGRAM\", \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--\", \"npx\", \"${workspaceFolder}\"], },\n\t},\n\t\"inputs\": []\n}\n",
    ),
    (
        "zed",
        ".config/zed/settings.json",
        "// Zed settings\n{\n  \"context_servers\": {\n    \"x\": {\n      \"source\": \"custom\",\n      \"command\": \"npx\", // node\n      \"args\": [\"-y\", /* yes */ \"x\"],\n    },\n  },\n}\n",
        "// Zed settings\n{\n  \"context_servers\": {\n    \"x\": {\n      \"source\": \"custom\",\n      \"command\": \"PROGRAM\", // node\n      \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--\", \"npx\", \"-y\", \"x\"],\n    },\n  },\n}\n",
    ),
    (
        "gemini",
        ".gemini/settings.json",
        "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"npx\", \"args\": [\"x\"], \"cwd\": \"/x\", \"trust\": true}\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"PROGRAM\", \"args\": [\"mcp\", \"proxy\", \"--name\", \"x\", \"--\", \"npx\", \"x\"], \"cwd\": \"/x\", \"trust\": true}\n  }\n}",
    ),
    (
        "opencode",
        ".config/opencode/opencode.jsonc",
        "{\n  // servers\n  \"mcp\": {\n    \"x\": {\"type\": \"local\", \"command\": [\"npx\", \"x\"], \"environment\": {\"K\": \"v\"}, \"enabled\": true}\n  }\n}\n",
        "{\n  // servers\n  \"mcp\": {\n    \"x\": {\"type\": \"local\", \"command\": [\"PROGRAM\", \"mcp\", \"proxy\", \"--name\", \"x\", \"--cred-env\", \"K\", \"--\", \"npx\", \"x\"], \"environment\": {\"K\": \"v\"}, \"enabled\": true}\n  }\n}\n",
    ),
];

#[test]
fn a_server_of_every_client_is_behind_the_proxy_and_comes_back_to_the_byte() {
    for (client, path, before, after) in CLIENTS {
        let machine = Machine::new();
        machine.write(path, before);
        let after = after.replace("PROGRAM", &machine.program());
        machine.wrap(&[]);
        assert_eq!(machine.text(path), after, "{client}");
        let output = machine.wrap(&[]);
        assert!(output.stderr.contains("No server was left"), "{client}: {}", output.stderr);
        assert_eq!(machine.text(path), after, "{client}: a second time");
        let output = machine.unwrap(&[]);
        assert!(output.stderr.contains("to what it was before recoup"), "{}", output.stderr);
        assert_eq!(machine.text(path), before, "{client}");
        assert!(!machine.path("recoup/installed.json").exists(), "{client}");
        // Only this client.
        machine.wrap(&["--client", client]);
        assert_eq!(machine.text(path), after, "{client}");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), before, "{client}: uninstalled");
    }
}

#[test]
fn init_and_wrap_come_and_go_in_any_order() {
    for (client, path, before, _) in CLIENTS {
        let machine = Machine::new();
        machine.write(path, before);
        machine.init(&["--client", client]);
        let with_ours = machine.text(path);
        machine.wrap(&[]);
        let both = machine.text(path);
        assert_eq!(both.matches("\"proxy\"").count(), 1, "{client}: ours is not wrapped: {both}");
        machine.init(&["--client", client]);
        assert_eq!(machine.text(path), both, "{client}: init changes nothing");
        machine.unwrap(&[]);
        assert_eq!(machine.text(path), with_ours, "{client}");
        machine.wrap(&[]);
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), before, "{client}");

        machine.wrap(&[]);
        let wrapped = machine.text(path);
        machine.init(&["--client", client]);
        machine.unwrap(&[]);
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), before, "{client}");
        machine.wrap(&[]);
        assert_eq!(machine.text(path), wrapped, "{client}");
    }
}

#[test]
fn only_the_named_server_is_wrapped_and_all_others_keep_their_bytes() {
    let machine = Machine::new();
    let before = r#"{"mcpServers": {"a": {"command": "a" , "args":[ ]}, "b":{"command":"b"}, "c":  {"x": 1.0e3}}}"#;
    machine.write(CURSOR, before);
    machine.wrap(&["--server", "b"]);
    let text = machine.text(CURSOR);
    assert!(
        text.starts_with(r#"{"mcpServers": {"a": {"command": "a" , "args":[ ]}, "b":{"command""#)
    );
    assert!(text.ends_with(r#"}, "c":  {"x": 1.0e3}}}"#), "{text}");
    assert_eq!(machine.json(CURSOR)["mcpServers"]["b"]["args"], behind("b", &["b"]));
    let output = machine.run(&["mcp", "wrap", "--yes", "--server", "d"]).expect(2);
    assert!(output.stderr.contains("no client has a server \"d\" there: there are a, b, c"));
    assert_eq!(machine.text(CURSOR), text);
    machine.unwrap(&[]);
    assert_eq!(machine.text(CURSOR), before);
}

/// With another account or database, nothing is shared: the proxy is told all variables.
#[test]
fn variables_of_an_entry_are_named_and_their_values_are_not() {
    let machine = Machine::new();
    let before = json!({"mcpServers": {"x": {
        "command": "npx",
        "env": {"GITHUB_TOKEN": "zq81", "API_KEY": "zq82", "LANG": "C"},
    }}});
    machine.write(CURSOR, before.to_string());
    machine.wrap(&[]);
    let args = &machine.json(CURSOR)["mcpServers"]["x"]["args"];
    let names = "API_KEY,GITHUB_TOKEN,LANG";
    assert_eq!(*args, json!(["mcp", "proxy", "--name", "x", "--cred-env", names, "--", "npx"]));
    std::fs::remove_dir_all(machine.home.recoup()).unwrap();
    machine.unwrap(&[]);
    assert_eq!(machine.json(CURSOR), before);
    let codex = "[mcp_servers.x]\ncommand = 'npx'\nenv_vars = ['TOKEN']\n";
    machine.write(".codex/config.toml", codex);
    machine.wrap(&["--client", "codex"]);
    assert!(machine.text(".codex/config.toml").contains(r#""--cred-env", "TOKEN", "--", "npx""#));
    machine.unwrap(&[]);
    assert_eq!(machine.text(".codex/config.toml"), codex);
}

#[test]
fn what_cannot_be_a_variables_name_is_left_out_and_told() {
    let machine = Machine::new();
    let env = json!({"TOKEN": "a", "my-key": "b", "-x": "c", "a,b": "d", "": "e"});
    let before = json!({"mcpServers": {"x": {"command": "npx", "env": env}}});
    machine.write(CURSOR, before.to_string());
    let output = machine.wrap(&[]);
    let args = &machine.json(CURSOR)["mcpServers"]["x"]["args"];
    assert_eq!(*args, json!(["mcp", "proxy", "--name", "x", "--cred-env", "TOKEN", "--", "npx"]));
    for name in ["my-key", "-x", "a,b", ""] {
        let told = format!("has “{name}”, which is not a valid name of a variable");
        assert!(output.stderr.contains(&told), "{name}: {}", output.stderr);
    }
    machine.unwrap(&[]);
    assert_eq!(machine.text(CURSOR), before.to_string());
}

#[test]
fn a_name_that_looks_like_a_flag_is_joined_with_its_own() {
    let machine = Machine::new();
    let before = json!({"mcpServers": {"-x": {"command": "npx", "args": ["y"]}}});
    machine.write(CURSOR, before.to_string());
    machine.wrap(&[]);
    let args = &machine.json(CURSOR)["mcpServers"]["-x"]["args"];
    assert_eq!(*args, json!(["mcp", "proxy", "--name=-x", "--", "npx", "y"]));
    machine.unwrap(&[]);
    assert_eq!(machine.json(CURSOR), before);
}

#[test]
fn what_is_ours_off_or_unknown_is_left_alone() {
    let machine = Machine::new();
    let before = json!({"mcpServers": {
        "recoup": {"url": "http://127.0.0.1:7333/mcp"},
        "mine": {"command": "npx", "args": ["-y", "recoup", "mcp"]},
        "off": {"command": "x", "disabled": true},
        "off-too": {"command": "x", "enabled": false},
        "by-hand": {"command": "env", "args": ["A=1", "recoup", "mcp", "proxy", "--", "x"]},
        "extension": {"source": "extension", "settings": {}},
    }});
    machine.write(CURSOR, before.to_string());
    let output = machine.wrap(&[]);
    assert_eq!(machine.json(CURSOR), before);
    assert!(output.stderr.contains("No server was left"), "{}", output.stderr);
    for (name, why) in [
        ("recoup", "it is recoup's own"),
        ("mine", "it is recoup's own"),
        ("off", "it is switched off"),
        ("extension", "neither a command nor a URL"),
    ] {
        let output = machine.wrap(&["--server", name]);
        assert!(output.stderr.contains(why), "{name}: {}", output.stderr);
    }
    let odd = json!({"mcpServers": {
        "line": {"command": "npx -y x"},
        "both": {"command": "x", "url": "https://x.example"},
        "numbers": {"command": "x", "args": [1]},
        "nested": {"command": {"path": "x"}},
    }});
    machine.write(CURSOR, odd.to_string());
    let output = machine.wrap(&[]);
    assert_eq!(output.stderr.matches("is left alone: ").count(), 4, "{}", output.stderr);
    assert_eq!(machine.json(CURSOR), odd);
}

/// A diff would hide so much of a line that nobody could read it.
#[test]
fn people_read_what_starts_each_server_now_and_then() {
    let machine = Machine::new();
    let github =
        json!({"command": "npx", "args": ["-y", "@x/github"], "env": {"TOKEN": "zq81kfu"}});
    let docs = json!({
        "url": "https://docs.example/s/zq82kfu3/mcp?key=zq83kfu",
        "headers": {"Authorization": "Bearer zq84kfu"},
    });
    let own =
        json!({"command": "x", "args": ["--token", "zq85kfu", "a b"], "env": {"my-key": "1"}});
    let servers = json!({"mcpServers": {"docs": docs, "github": github, "own": own}});
    machine.write(CURSOR, servers.to_string());
    let codex = "[mcp_servers.time]\ncommand = 'uvx'\nargs = ['mcp-server-time']\n";
    machine.write(".codex/config.toml", codex);
    let shown = |output: Output| {
        let shown = format!("{}\n{}", output.text(), output.stderr);
        shown.replace(machine.path("").to_str().unwrap(), "/home/me/")
    };
    insta::assert_snapshot!(shown(machine.wrap(&["--ttl", "5m"])), @r#"
    ~/.codex/config.toml
    server “time”
    - now:  uvx mcp-server-time
    + then: /home/me/bin/recoup mcp proxy --name time -- uvx mcp-server-time
    ~/.cursor/mcp.json
    server “docs”
    - now:  https://docs.example/s/…/mcp?… (with the header Authorization)
    + then: /home/me/bin/recoup mcp proxy --name docs --header-env Authorization=RECOUP_PROXY_HEADER_1 --url-env RECOUP_PROXY_URL (RECOUP_PROXY_URL: https://docs.example/s/…/mcp?…)
    server “github”
    - now:  npx -y @x/github
    + then: /home/me/bin/recoup mcp proxy --name github --cred-env TOKEN -- npx -y @x/github
    server “own”
    - now:  x --token [hidden] 'a b'
    + then: /home/me/bin/recoup mcp proxy --name own -- x --token [hidden] 'a b'
    --- /dev/null
    +++ ~/recoup/config.toml
    @@ -0,0 +1,11 @@
    +[mcpServers.docs]
    +cache = "5m"
    +
    +[mcpServers.github]
    +cache = "5m"
    +
    +[mcpServers.own]
    +cache = "5m"
    +
    +[mcpServers.time]
    +cache = "5m"

    ~/.cursor/mcp.json: the server “own” has “my-key”, which is not a valid name of a variable: it is left out of --cred-env, and the cache does not tell its values apart
    Wrote ~/.codex/config.toml: server “time” behind the proxy
    Wrote ~/.cursor/mcp.json: server “docs” behind the proxy; server “github” behind the proxy; server “own” behind the proxy
    Wrote ~/recoup/config.toml: mcpServers.docs.cache = "5m"; mcpServers.github.cache = "5m"; mcpServers.own.cache = "5m"; mcpServers.time.cache = "5m"
    Copies of what was there are in ~/recoup/backups
    Done. Sessions that you begin now reach these servers through the proxy; `recoup mcp unwrap` undoes it. Tools that declare nothing are cached too: name those that write, as `toolsCache.TOOL = { ttl = "off", invalidates = ["*"] }`.
    "#);
    insta::assert_snapshot!(shown(machine.unwrap(&[])), @"
    ~/.codex/config.toml
    server “time”
    - now:  /home/me/bin/recoup mcp proxy --name time -- uvx mcp-server-time
    + then: uvx mcp-server-time
    ~/.cursor/mcp.json
    server “docs”
    - now:  /home/me/bin/recoup mcp proxy --name docs --header-env Authorization=RECOUP_PROXY_HEADER_1 --url-env RECOUP_PROXY_URL (RECOUP_PROXY_URL: https://docs.example/s/…/mcp?…)
    + then: https://docs.example/s/…/mcp?… (with the header Authorization)
    server “github”
    - now:  /home/me/bin/recoup mcp proxy --name github --cred-env TOKEN -- npx -y @x/github
    + then: npx -y @x/github
    server “own”
    - now:  /home/me/bin/recoup mcp proxy --name own -- x --token [hidden] 'a b'
    + then: x --token [hidden] 'a b'
    --- ~/recoup/config.toml
    - the whole file

    Restored ~/.codex/config.toml to what it was before recoup
    Restored ~/.cursor/mcp.json to what it was before recoup
    Deleted ~/recoup/config.toml (recoup had created it)
    Copies of what was there are in ~/recoup/backups
    Done. Sessions that you begin now reach these servers directly.
    ");
}

#[test]
fn uninstall_shows_what_starts_each_server_then_and_a_machine_without_servers_is_told() {
    let machine = Machine::new();
    let output = machine.wrap(&[]);
    assert!(output.stderr.contains("No client has an MCP server there"), "{}", output.stderr);
    machine.write(CURSOR, ONE_SERVER);
    machine.wrap(&[]);
    let shown = "~/.cursor/mcp.json\nserver “x”\n- now:  ";
    let output = machine.run(&["uninstall", "--dry-run"]).expect(0);
    assert!(output.text().starts_with(shown), "{}", output.text());
    machine.init(&["--client", "cursor"]);
    let output = machine.run(&["uninstall", "--dry-run"]).expect(0);
    assert!(output.text().starts_with("--- ~/.cursor/mcp.json\n"), "{}", output.text());
}

#[test]
fn a_dry_run_shows_it_and_changes_nothing() {
    let machine = Machine::new();
    machine.write(CURSOR, "{\"mcpServers\": {\"x\": {\"command\": \"npx\", \"args\": [\"x\"]}}}\n");
    let files = machine.files();
    let output = machine.run(&["mcp", "wrap", "--dry-run", "--ttl", "5m"]).expect(0);
    assert!(output.text().contains("~/.cursor/mcp.json\nserver “x”\n"), "{}", output.text());
    assert!(output.text().contains("+ then: "), "{}", output.text());
    let report = machine.run(&["mcp", "wrap", "-n", "--json"]).expect(0).json();
    assert_eq!(report["written"], false);
    assert_eq!(report["files"][0]["what"], json!(["server “x” behind the proxy"]));
    let output = machine.run(&["mcp", "wrap"]).expect(2);
    assert!(output.stderr.contains("repeat the command with --yes"), "{}", output.stderr);
    assert!(machine.files() == files);
    machine.wrap(&[]);
    let files = machine.files();
    let output = machine.run(&["mcp", "unwrap", "-n"]).expect(0);
    assert!(output.text().contains("~/.cursor/mcp.json\nserver “x”\n"), "{}", output.text());
    assert!(machine.run(&["mcp", "unwrap", "--json"]).expect(2).json()["missing"] == "--yes");
    assert!(machine.files() == files);
}
