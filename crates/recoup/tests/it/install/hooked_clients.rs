//! The hooks of Qwen Code, Copilot CLI, Droid, Kimi Code and Gemini CLI, in their files and out of
//! them again.

use recoup::clients::{AgentClient, ClientDirs, ClientPlaces, has_our_hooks, hooks_disabled_by};
use serde_json::{Value, json};

use super::Machine;

/// A client, its file with hooks beneath the home, and what may be in it before.
const FILES: [(AgentClient, &str, &str, &str); 6] = [
    (
        AgentClient::QwenCode,
        "qwen",
        ".qwen/settings.json",
        "{\n  // mine\n  \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]}, // x\n  \"model\": {},\n}\n",
    ),
    (
        AgentClient::CopilotCli,
        "copilot",
        ".copilot/hooks/recoup.json",
        "{\"version\": 1, \"hooks\": {\"Stop\": [{\"type\": \"command\", \"command\": \"x\"}]}}",
    ),
    (
        AgentClient::Droid,
        "droid",
        ".factory/settings.json",
        "{\r\n  \"model\": \"x\",\r\n  \"hooks\": {}\r\n}\r\n",
    ),
    (
        AgentClient::Droid,
        "droid",
        ".factory/hooks.json",
        "{\n  \"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]}]\n}\n",
    ),
    (
        AgentClient::KimiCode,
        "kimi",
        ".kimi-code/config.toml",
        "default_model = \"x\" # best\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"x\"\n\n[models.x]\nprovider = \"y\"",
    ),
    (
        AgentClient::Gemini,
        "gemini",
        ".gemini/settings.json",
        "{\n  \"mcpServers\": {\"x\": {\"command\": \"y\"}}, // theirs\n  \"theme\": \"Default\"\n}",
    ),
];

/// True if the client calls us, by its files on this machine.
fn calls_us(machine: &Machine, client: AgentClient) -> bool {
    let (home, root) = (machine.path("."), machine.home.project());
    let dirs = ClientDirs::below(&home);
    has_our_hooks(client, &ClientPlaces { dirs: &dirs, root: &root, cwd: None })
}

#[test]
fn each_calls_us_afterwards_and_no_byte_is_another_when_it_does_not() {
    for (client, name, path, before) in FILES {
        let machine = Machine::new();
        machine.write(path, before);
        let files = machine.files();
        assert!(!calls_us(&machine, client), "{path}");
        machine.init(&["--client", name]);
        assert!(calls_us(&machine, client), "{path}: {}", machine.text(path));
        let line = format!("{} hook --client {name}", machine.program());
        assert!(machine.text(path).contains(&line), "{}", machine.text(path));
        let put = machine.files();
        machine.init(&["--client", name]);
        assert!(machine.files() == put, "{path}: a second time");
        machine.uninstall(&[]);
        assert!(machine.files() == files, "{path}: {}", machine.text(path));
        assert!(!calls_us(&machine, client), "{path}");
        // With a change in between there is no copy to go back to: ours is cut out.
        machine.init(&["--client", name]);
        machine.write(path, machine.text(path) + "\n");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), format!("{before}\n"), "{path}");
    }
}

#[test]
fn where_there_was_nothing_there_is_nothing_again() {
    for (client, name, path, _) in FILES {
        if path.ends_with("/hooks.json") {
            continue;
        }
        let machine = Machine::new();
        let before = machine.files();
        machine.init(&["--client", name]);
        assert!(calls_us(&machine, client), "{path}");
        machine.uninstall(&[]);
        assert!(machine.files() == before, "{path}");
        assert!(!machine.path(path).parent().unwrap().exists(), "{path}");
        machine.init(&["--client", name]);
        machine.write(path, machine.text(path) + "\n");
        machine.uninstall(&[]);
        assert!(!machine.path(path).exists(), "{path}: nobody else has put anything in");
    }
}

/// The hooks of a file: the event, and what is set for it.
fn hooks_of(events: &Value) -> Vec<(String, Value)> {
    let events = events.as_object().unwrap().iter();
    events.map(|(event, groups)| (event.clone(), groups[0]["hooks"][0].clone())).collect()
}

#[test]
fn each_has_its_own_events_and_its_own_unit_of_time() {
    let machine = Machine::new();
    let clients = ["qwen", "copilot", "droid", "gemini"];
    let args: Vec<&str> = clients.iter().flat_map(|client| ["--client", client]).collect();
    machine.init(&args);
    for (client, path, events, timeout) in [
        (
            "qwen",
            ".qwen/settings.json",
            &[
                "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop",
                "SessionEnd",
            ][..],
            10_000,
        ),
        (
            "copilot",
            ".copilot/hooks/recoup.json",
            &[
                "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop",
                "SessionEnd",
            ],
            10,
        ),
        (
            "droid",
            ".factory/settings.json",
            &["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"],
            10,
        ),
        (
            "gemini",
            ".gemini/settings.json",
            &["SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"],
            10_000,
        ),
    ] {
        let line = format!("{} hook --client {client}", machine.program());
        let hook = json!({"type": "command", "command": line, "timeout": timeout});
        let expected: Vec<_> =
            events.iter().map(|event| ((*event).to_owned(), hook.clone())).collect();
        let mut found = hooks_of(&machine.json(path)["hooks"]);
        found.sort_by_key(|(event, _)| events.iter().position(|it| it == event));
        assert_eq!(found, expected, "{client}");
    }
    assert_eq!(machine.json(".copilot/hooks/recoup.json")["version"], 1);
    let server = &machine.json(".copilot/mcp-config.json")["mcpServers"]["recoup"];
    let expected = json!({
        "type": "local", "command": machine.program(), "args": ["mcp", "--with-hooks"],
        "tools": ["*"],
    });
    assert_eq!(*server, expected);
    let server = &machine.json(".factory/mcp.json")["mcpServers"]["recoup"];
    assert_eq!(server["type"], "stdio");
}

#[test]
fn kimi_has_only_fields_and_events_that_every_version_knows() {
    let machine = Machine::new();
    machine.init(&["--client", "kimi"]);
    let hook = |event: &str| {
        let program = machine.program();
        format!(
            "[[hooks]]\nevent = \"{event}\"\ncommand = \"{program} hook --client kimi\"\ntimeout = 10\n"
        )
    };
    let events = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop"];
    assert_eq!(machine.text(".kimi-code/config.toml"), events.map(hook).join("\n"));
    let mut moved = machine.command(&["init", "--yes", "--client", "kimi"]);
    moved.env("KIMI_CODE_HOME", machine.path("elsewhere"));
    crate::support::finish(&mut moved).expect(0);
    assert!(machine.text("elsewhere/config.toml").contains("SessionStart"));
}

#[test]
fn hooks_of_kimi_in_brackets_are_joined_by_ours() {
    for (before, left) in [
        ("hooks = []\nmodel = \"x\"\n", "model = \"x\"\n\n"),
        ("model = \"x\"\nhooks = [\n]\n\n[a]\nb = 1\n", "model = \"x\"\n\n[a]\nb = 1\n\n"),
        (
            "hooks = [{ event = \"Stop\", command = \"x\" }] # mine\n[a]\nb = 1\n",
            "hooks = [{ event = \"Stop\", command = \"x\" }] # mine\n[a]\nb = 1\n\n",
        ),
        (
            "hooks = [\n  { event = \"Stop\", command = \"x\" }, # mine\n]\n",
            "hooks = [\n  { event = \"Stop\", command = \"x\" }, # mine\n]\n\n",
        ),
    ] {
        let machine = Machine::new();
        let path = ".kimi-code/config.toml";
        machine.write(path, before);
        machine.init(&["--client", "kimi"]);
        assert!(calls_us(&machine, AgentClient::KimiCode), "{before}");
        let put = machine.text(path);
        assert_eq!(put.matches(" hook --client kimi").count(), 5, "{put}");
        machine.init(&["--client", "kimi"]);
        assert_eq!(machine.text(path), put, "a second time");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), before);
        machine.init(&["--client", "kimi"]);
        machine.write(path, machine.text(path) + "\n");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), left);
    }
}

#[test]
fn variables_move_the_files_of_copilot_and_gemini() {
    for (client, variable, path) in [
        ("copilot", "COPILOT_HOME", "elsewhere/hooks/recoup.json"),
        ("gemini", "GEMINI_CLI_HOME", "elsewhere/.gemini/settings.json"),
    ] {
        let machine = Machine::new();
        let mut moved = machine.command(&["init", "--yes", "--client", client]);
        moved.env(variable, machine.path("elsewhere"));
        crate::support::finish(&mut moved).expect(0);
        assert!(machine.text(path).contains("SessionStart"), "{client}");
    }
}

/// It has none of its own there: its agents are given the rules by the server.
#[test]
fn a_server_in_a_project_without_hooks_gives_the_rules() {
    let machine = Machine::new();
    machine.init(&["--project", "--client", "kimi", "--client", "qwen"]);
    let args = |path: &str| machine.json(path)["mcpServers"]["recoup"]["args"].clone();
    assert_eq!(args("project/.kimi-code/mcp.json"), json!(["mcp"]));
    assert_eq!(args("project/.qwen/settings.json"), json!(["mcp", "--with-hooks"]));
}

/// With hooks in `hooks.json`, those in `settings.json` are not run, the user's own among them.
#[test]
fn droid_has_its_hooks_in_the_file_that_counts() {
    let own = json!({"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]});
    let machine = Machine::new();
    let settings = json!({"hooks": own}).to_string();
    for empty in ["{}", "{\"Stop\": []}", &settings] {
        machine.write(".factory/hooks.json", empty);
        machine.write(".factory/settings.json", &settings);
        machine.init(&["--client", "droid"]);
        assert_eq!(machine.text(".factory/hooks.json"), empty);
        assert_eq!(machine.json(".factory/settings.json")["hooks"].as_object().unwrap().len(), 5);
        machine.uninstall(&[]);
        assert_eq!(machine.text(".factory/settings.json"), settings);
    }
    machine.write(".factory/hooks.json", own.to_string());
    machine.init(&["--client", "droid"]);
    assert_eq!(machine.text(".factory/settings.json"), settings);
    assert_eq!(machine.json(".factory/hooks.json").as_object().unwrap().len(), 5);
}

#[test]
fn hooks_that_droid_does_not_run_any_more_are_named_and_removed() {
    let machine = Machine::new();
    machine.write(".factory/settings.json", "{\"model\": \"x\"}");
    machine.init(&["--client", "droid"]);
    let own = json!({"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}).to_string();
    machine.write(".factory/hooks.json", &own);
    let report = crate::support::finish(&mut machine.command(&["doctor", "--json"]));
    let report = report.expect(1).json();
    let mut found = report["findings"].as_array().unwrap().iter();
    let unread = found.find(|it| it["code"] == "not-read").unwrap();
    assert_eq!(unread["state"], "fail");
    assert!(unread["remedy"].as_str().unwrap().starts_with("`recoup init --client droid`"));
    // Without the receipt, too.
    std::fs::remove_file(machine.home.recoup().join("installed.json")).unwrap();
    machine.uninstall(&[]);
    assert_eq!(machine.json(".factory/settings.json"), json!({"model": "x"}));
    assert_eq!(machine.text(".factory/hooks.json"), own);
}

#[test]
fn hooks_that_are_switched_off_do_not_call_us() {
    for (client, name, path, off) in [
        (AgentClient::QwenCode, "qwen", ".qwen/settings.json", json!({"disableAllHooks": true})),
        (
            AgentClient::CopilotCli,
            "copilot",
            ".copilot/hooks/recoup.json",
            json!({"version": 1, "disableAllHooks": true}),
        ),
        (AgentClient::Droid, "droid", ".factory/hooks.json", json!({"hooksDisabled": true})),
        (
            AgentClient::Gemini,
            "gemini",
            ".gemini/settings.json",
            json!({"hooksConfig": {"enabled": false}}),
        ),
    ] {
        let machine = Machine::new();
        machine.write(path, off.to_string());
        let told = machine.init(&["--client", name]).stderr;
        assert!(told.contains("no hook runs"), "{name}: {told}");
        assert!(!calls_us(&machine, client), "{name}");
        let (home, dirs) = (machine.path("."), ClientDirs::below(&machine.path(".")));
        assert_eq!(hooks_disabled_by(client, &dirs, None), Some(home.join(path)), "{name}");
    }
}

/// It runs them in a project that its user trusts.
#[test]
fn hooks_of_claude_code_that_a_team_shares_are_copilots_as_well() {
    let machine = Machine::new();
    let hooks = json!({"hooks": {"Stop": [{"hooks": [{"command": "recoup hook"}]}]}});
    machine.write("project/.claude/settings.json", hooks.to_string());
    assert!(calls_us(&machine, AgentClient::CopilotCli));
    assert!(!calls_us(&machine, AgentClient::QwenCode));
}

/// Each is told of a session of its own, and gives its agents the rules.
#[test]
fn every_client_with_hooks_delivers_its_rules() {
    let machine = Machine::new();
    let clients = ["qwen", "copilot", "droid", "kimi", "gemini"];
    let args: Vec<&str> = clients.iter().flat_map(|client| ["--client", client]).collect();
    machine.init(&args);
    let report = machine.run(&["doctor", "--json"]).json();
    for client in clients {
        let mut found = report["findings"].as_array().unwrap().iter();
        let hooks = found.find(|it| it["check"] == "hooks" && it["facts"]["client"] == client);
        assert_eq!(hooks.unwrap()["code"], "ok", "{client}: {report}");
    }
}
