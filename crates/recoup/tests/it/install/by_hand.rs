//! What people have written into Codex's `config.toml` by hand, as our README once taught:
//! each event is heard once, and nothing else in the file changes.

use serde_json::json;

use super::{CLAUDE, Machine};
use crate::support::finish;

const CONFIG: &str = ".codex/config.toml";
const CODEX: [&str; 2] = ["--client", "codex"];

/// A file with calls of ours in it, and the same without.
const FORMS: [(&str, &str); 7] = [
    (
        "[features]\r\nweb = true\r\n\r\n[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ncommand = 'recoup hook'\r\n[z]\r\na = 1",
        "[features]\r\nweb = true\r\n\r\n[z]\r\na = 1",
    ),
    ("notify = [\"recoup\", \"hook\"]\na = 1", "a = 1"),
    (
        "# mine\nnotify = [\"recoup\", \"hook\", \"--client\", \"codex\"] # at the end\nmodel = \"gpt\" # best\n",
        "# mine\nmodel = \"gpt\" # best\n",
    ),
    (
        "model = \"gpt\"\n\n# remembers\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"/old/recoup hook\"\n\n[[hooks.SessionStart]]\nmatcher = \"startup\"\n\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"make start\" # theirs\n\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"recoup hook --client codex\"\n\n[profiles.a]\nmodel = \"y\"\n",
        "model = \"gpt\"\n\n# remembers\n\n[[hooks.SessionStart]]\nmatcher = \"startup\"\n\n[[hooks.SessionStart.hooks]]\ntype = \"command\"\ncommand = \"make start\" # theirs\n\n[profiles.a]\nmodel = \"y\"\n",
    ),
    (
        "hooks = { Stop = [{ hooks = [{ type = \"command\", command = \"recoup hook\" }] }], PreToolUse = [{ hooks = [{ type = \"command\", command = \"lint\" }] }] }\n",
        "hooks = { PreToolUse = [{ hooks = [{ type = \"command\", command = \"lint\" }] }] }\n",
    ),
    (
        "a = 1\r\n\r\n[hooks]\r\nStop = [\r\n  { hooks = [{ type = \"command\", command = \"recoup\", args = [\"hook\"] }] }, # us\r\n  # them\r\n  { hooks = [{ type = \"command\", command = \"lint\" }] },\r\n]\r\n",
        "a = 1\r\n\r\n[hooks]\r\nStop = [\r\n  # them\r\n  { hooks = [{ type = \"command\", command = \"lint\" }] },\r\n]\r\n",
    ),
    (
        "notify = [\n  \"recoup\",\n  \"hook\",\n]\n\n[[hooks.Stop]]\nhooks = [{ type = \"command\", command = \"recoup hook\" }]\n\n[hooks.state.\"x:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
        "[hooks.state.\"x:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n",
    ),
];

#[test]
fn each_event_is_heard_once_and_the_rest_stays() {
    for (before, without) in FORMS {
        let machine = Machine::new();
        machine.write(CONFIG, before);
        let output = machine.init(&[&CODEX[..], &["--diff"]].concat());
        let is_out = |line: &str| line.starts_with('-') && line.contains("recoup");
        assert!(output.text().lines().any(is_out), "it is shown: {}", output.text());
        assert!(output.stderr.contains("hand-written calls"), "{}", output.stderr);
        let after = machine.text(CONFIG);
        assert!(!after.contains("recoup hook") && !after.contains("\"hook\""), "{after}");
        let server = after.find("[mcp_servers.recoup]").unwrap();
        let behind = after[server..].find("\n[").map_or("", |at| &after[server + at..]);
        let rest = format!("{}{behind}", after[..server].trim_end());
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(&rest), words(without), "{after}");
        let files = machine.files();
        let again = machine.init(&CODEX);
        assert!(machine.files() == files, "a second time: {}", again.stderr);
        machine.uninstall(&[]);
        assert_eq!(machine.text(CONFIG), without, "and out again");
        assert!(!machine.path(".codex/hooks.json").exists());
    }
}

#[test]
fn without_a_receipt_they_come_out_as_well() {
    for (before, without) in FORMS {
        let machine = Machine::new();
        machine.write(CONFIG, before);
        let output = machine.uninstall(&CODEX);
        assert_eq!(machine.text(CONFIG), without, "{}", output.stderr);
    }
}

/// It is all that is heard then.
#[test]
fn notify_stays_where_no_hook_runs() {
    let before = "notify = [\"recoup\", \"hook\"]\n\n[features]\nhooks = false\n";
    let machine = Machine::new();
    machine.write(CONFIG, before);
    machine.init(&CODEX);
    assert!(machine.text(CONFIG).starts_with(before), "{}", machine.text(CONFIG));
}

/// A line that somebody has put behind ours ends as they have ended it.
#[test]
fn a_line_end_of_others_stays() {
    let machine = Machine::new();
    machine.write(CONFIG, "a = 1");
    machine.init(&CODEX);
    machine.write(CONFIG, machine.text(CONFIG) + "# more\n");
    machine.uninstall(&[]);
    assert!(machine.text(CONFIG).ends_with("# more\n"), "{:?}", machine.text(CONFIG));
}

#[test]
fn what_others_are_told_is_left_alone() {
    let before = "notify = [\"notify-send\", \"recoup\"]\n";
    let machine = Machine::new();
    machine.write(CONFIG, before);
    let output = machine.init(&CODEX);
    assert!(machine.text(CONFIG).starts_with(before));
    assert!(!output.stderr.contains("hand-written calls"), "{}", output.stderr);
    machine.uninstall(&[]);
    assert_eq!(machine.text(CONFIG), before);
}

#[test]
fn a_command_of_ones_own_stays_and_is_the_one() {
    let own = "notify = [\"sh\", \"-c\", \"recoup hook \\\"$1\\\" 2>>/tmp/log\"]\n\n[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"env A=1 recoup hook\"\ntimeout = 5\n";
    let machine = Machine::new();
    machine.write(CONFIG, own);
    machine.write(
        ".codex/hooks.json",
        r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"recoup hook"}]}]}}"#,
    );
    let output = machine.init(&CODEX);
    assert!(machine.text(CONFIG).starts_with(own), "{}", machine.text(CONFIG));
    for place in ["notify in config.toml", "config.toml at Stop"] {
        let words = format!("{place} has a command of your own that calls recoup: it is kept");
        assert!(output.stderr.contains(&words), "{}", output.stderr);
    }
    let hooks = machine.json(".codex/hooks.json");
    assert_eq!(hooks["hooks"].get("Stop"), None, "it would be heard twice: {hooks}");
    assert_ne!(hooks["hooks"].get("SessionStart"), None);
    let files = machine.files();
    machine.init(&CODEX);
    assert!(machine.files() == files, "a second time");
    let doctor = machine.run(&["doctor", "--json"]).expect(0).json();
    let found: Vec<&str> = doctor["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["code"].as_str().unwrap())
        .collect();
    assert!(!found.contains(&"events-missing") && !found.contains(&"twice"), "{doctor:#}");
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("config.toml at Stop has"), "{}", output.stderr);
    assert_eq!(machine.text(CONFIG), own);
}

#[test]
fn a_server_that_something_else_starts_stays_and_is_the_one() {
    let json = json!({"mcpServers": {"mine": {"command": "npx", "args": ["-y", "recoup", "mcp"]}}});
    let toml = "[mcp_servers.mine]\ncommand = \"npx\"\nargs = [\"-y\", \"recoup\", \"mcp\"]\n";
    let machine = Machine::new();
    machine.write(".claude.json", json.to_string());
    machine.write(CONFIG, toml);
    for client in [CLAUDE, CODEX] {
        let output = machine.init(&client);
        let words = "the server “mine” starts recoup's server through \"npx\": it is kept";
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("“mine”"), "{}", output.stderr);
    assert_eq!(machine.text(".claude.json"), json.to_string());
    assert_eq!(machine.text(CONFIG), toml);
}

/// What a stronger file says about hooks counts, for whoever asks.
#[test]
fn a_project_may_switch_hooks_on_again() {
    let machine = Machine::with_settings("{\"disableAllHooks\": true}");
    let local = "project/.claude/settings.local.json";
    machine.write(local, "{\"disableAllHooks\": false}");
    let args = [&["init", "--yes", "--project"], &CLAUDE[..]].concat();
    let output = finish(machine.command(&args).current_dir(machine.home.project())).expect(0);
    assert!(!output.stderr.contains("disableAllHooks"), "{}", output.stderr);
    assert!(machine.text(".claude.json").contains("--with-hooks"));
    let user = machine.init(&CLAUDE);
    assert!(user.stderr.contains("`disableAllHooks` in its settings"), "{}", user.stderr);
}

/// One that only says where the program is calls nobody: it is somebody's own.
#[test]
fn an_extension_with_our_line_alone_is_not_ours() {
    let machine = Machine::new();
    let path = ".pi/agent/extensions/recoup.ts";
    let text = "const PROGRAM = process.env.RECOUP_BIN ?? \"recoup\";\n";
    machine.write(path, text);
    let output = machine.run(&["init", "--yes", "--client", "pi"]).expect(1);
    assert!(output.stderr.contains("is not recoup's: rename it"), "{}", output.stderr);
    machine.uninstall(&[]);
    assert_eq!(machine.text(path), text);
    let doctor = machine.run(&["doctor", "--json"]).json();
    let found = doctor["findings"].as_array().unwrap().iter().find(|it| it["check"] == "hooks");
    assert_eq!(found.unwrap()["code"], "not-installable", "{doctor:#}");
}
