//! Every client in its own format, and out of it again.

use std::fs;

use recoup::clients::{AgentClient, ClientDirs, ClientPlaces, has_our_hooks};
use serde_json::{Value, json};

use super::Machine;

/// A client, its file beneath the home, what is in it, and what is to be there.
fn with_servers(program: &str) -> Vec<(&'static str, &'static str, &'static str, String)> {
    let plain = format!(r#""recoup": {{"command": "{program}", "args": ["mcp"]}}"#);
    vec![
        (
            "cursor",
            ".cursor/mcp.json",
            "{\n  \"mcpServers\": {\n    \"x\": {\"command\": \"y\"}\n  }\n}\n",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"x\": {{\"command\": \"y\"}},\n    {plain}\n  }}\n}}\n"
            ),
        ),
        (
            "windsurf",
            ".codeium/windsurf/mcp_config.json",
            "{}",
            format!("{{\n  \"mcpServers\": {{\n    {plain}\n  }}\n}}"),
        ),
        (
            "vscode",
            ".config/Code/User/mcp.json",
            "{\n\t\"servers\": {}, // none yet\n\t\"inputs\": []\n}\n",
            format!(
                "{{\n\t\"servers\": {{\n\t\t\"recoup\": {{\"type\": \"stdio\", \"command\": \"{program}\", \"args\": [\"mcp\"]}}\n\t}}, // none yet\n\t\"inputs\": []\n}}\n"
            ),
        ),
        (
            "zed",
            ".config/zed/settings.json",
            "// Zed settings\n//\n{\n  \"theme\": \"One Dark\", // dark\n  /* fonts */\n  \"ui_font_size\": 16,\n}\n",
            format!(
                "// Zed settings\n//\n{{\n  \"theme\": \"One Dark\", // dark\n  /* fonts */\n  \"ui_font_size\": 16,\n  \"context_servers\": {{\n    \"recoup\": {{\"source\": \"custom\", \"command\": \"{program}\", \"args\": [\"mcp\"]}}\n  }},\n}}\n"
            ),
        ),
        (
            "opencode",
            ".config/opencode/opencode.jsonc",
            "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n",
            format!(
                "{{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {{\n    \"recoup\": {{\"type\": \"local\", \"command\": [\"{program}\", \"mcp\"], \"enabled\": true}}\n  }}\n}}\n"
            ),
        ),
        (
            "pi",
            ".pi/agent/mcp.json",
            "{\n  \"mcpServers\": {\n    \"x\": { \"command\": \"y\" }\n  }\n}\n",
            format!(
                "{{\n  \"mcpServers\": {{\n    \"x\": {{ \"command\": \"y\" }},\n    \"recoup\": {{\"command\": \"{program}\", \"args\": [\"mcp\", \"--with-hooks\"]}}\n  }}\n}}\n"
            ),
        ),
        (
            "codex",
            ".codex/config.toml",
            "model = \"gpt\" # best\r\n\r\n[features]\r\nweb = true\r\n",
            format!(
                "model = \"gpt\" # best\r\n\r\n[features]\r\nweb = true\r\n\r\n[mcp_servers.recoup]\r\ncommand = \"{program}\"\r\nargs = [\"mcp\", \"--with-hooks\"]\r\n"
            ),
        ),
    ]
}

#[test]
fn each_has_the_server_as_it_reads_it_and_is_the_same_afterwards() {
    for index in 0..7 {
        let machine = Machine::new();
        let (client, path, before, after) = with_servers(&machine.program()).swap_remove(index);
        machine.write(path, before);
        machine.init(&["--client", client]);
        assert_eq!(machine.text(path), after, "{client}");
        let files = machine.files();
        machine.init(&["--client", client]);
        assert!(machine.files() == files, "{client}: a second time");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path), before, "{client}");
        // Changed by somebody since: what was there stays.
        machine.init(&["--client", client]);
        machine.write(path, machine.text(path) + "\n");
        machine.uninstall(&[]);
        assert_eq!(machine.text(path).trim_end(), before.trim_end(), "{client}");
    }
}

#[test]
fn whatever_is_on_the_machine_is_found() {
    let machine = Machine::new();
    for dir in [".claude", ".codeium/windsurf", ".config/opencode"] {
        fs::create_dir_all(machine.path(dir)).unwrap();
    }
    for program in ["codex", "gemini"] {
        std::os::unix::fs::symlink("/bin/true", machine.path("bin").join(program)).unwrap();
    }
    let report = machine.init(&["--json"]).json();
    let clients: Vec<&str> = report["clients"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["client"].as_str().unwrap())
        .collect();
    assert_eq!(clients, ["claude-code", "codex", "gemini", "windsurf", "opencode"]);
    assert_eq!(report["written"], true);
    assert_eq!(report["program"], machine.program());
    machine.uninstall(&[]);
    assert!(!machine.path(".codex").exists(), "it was not there before");
    assert!(!machine.path(".gemini").exists());
    assert!(machine.path(".claude").exists(), "it was");
    assert!(!machine.path(".claude.json").exists());
}

/// Its settings are elsewhere under its new name; the file with its servers is not.
#[test]
fn windsurf_is_found_by_its_new_name_as_well() {
    let machine = Machine::new();
    fs::create_dir_all(machine.path(".config/devin")).unwrap();
    let report = machine.init(&["--json"]).json();
    assert_eq!(report["clients"][0]["client"], "windsurf", "{report}");
    let servers = machine.json(".codeium/windsurf/mcp_config.json");
    assert_eq!(servers["mcpServers"]["recoup"]["command"], machine.program());
    machine.uninstall(&[]);
    assert!(!machine.path(".codeium").exists() && machine.path(".config/devin").exists());
}

#[test]
fn moved_directories_are_followed() {
    let machine = Machine::new();
    let moved = |name: &str| machine.path("elsewhere").join(name);
    let mut command = machine.command(&[
        "init", "--yes", "--client", "claude-code", "--client", "codex", "--client", "pi",
        "--client", "zed",
    ]);
    command.env("CLAUDE_CONFIG_DIR", moved("claude")).env("CODEX_HOME", moved("codex"));
    command.env("PI_CODING_AGENT_DIR", moved("pi")).env("XDG_CONFIG_HOME", moved("config"));
    crate::support::finish(&mut command).expect(0);
    for file in [
        "claude/settings.json", "claude/.claude.json", "codex/hooks.json", "codex/config.toml",
        "pi/extensions/recoup.ts", "pi/mcp.json", "config/zed/settings.json",
    ] {
        assert!(moved(file).is_file(), "{file}");
    }
    assert!(!machine.path(".claude.json").exists());
}

#[test]
fn codex_and_pi_call_us_afterwards() {
    let machine = Machine::new();
    machine.write(".pi/agent/settings.json", "{}");
    let before = machine.files();
    let clients = ["--client", "codex", "--client", "pi"];
    let output = machine.init(&clients);
    assert!(
        output.stderr.contains("Codex: it asks once whether new hooks may run"),
        "{}",
        output.stderr
    );
    let (home, root) = (machine.path("."), machine.home.project());
    let dirs = ClientDirs::below(&home);
    let places = ClientPlaces { dirs: &dirs, root: &root, cwd: None };
    for client in [AgentClient::Codex, AgentClient::Pi] {
        assert!(has_our_hooks(client, &places), "{client:?}");
    }
    // Codex does not know `args`: a shell reads the line.
    let hooks = machine.json(".codex/hooks.json");
    let program = machine.program();
    assert_eq!(
        hooks["hooks"]["Stop"][0]["hooks"][0],
        json!({ "type": "command", "command": format!("{program} hook --client codex"), "timeout": 10 })
    );
    assert_eq!(hooks["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(hooks["hooks"].get("PostToolUseFailure"), None, "Codex has no such event");
    let extension = machine.text(".pi/agent/extensions/recoup.ts");
    assert!(extension.contains(&format!("?? \"{program}\";")), "{extension}");
    machine.uninstall(&[]);
    assert!(machine.files() == before);
    for client in [AgentClient::Codex, AgentClient::Pi] {
        assert!(!has_our_hooks(client, &places), "{client:?}");
    }
}

#[test]
fn a_path_with_blanks_is_one_word_for_a_shell() {
    let machine = Machine::new();
    let program = machine.path("my it's bin/recoup");
    fs::create_dir(program.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(crate::support::RECOUP, &program).unwrap();
    machine.init(&["--client", "codex", "--program", program.to_str().unwrap()]);
    let hooks = machine.json(".codex/hooks.json");
    let line = hooks["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let mut shell = machine.home.prepared("sh", &["-c", &format!("{line} < /dev/null")]);
    assert!(crate::support::finish(&mut shell).expect(0).stderr.is_empty());
    machine.init(&["--client", "codex"]);
    let hooks = machine.json(".codex/hooks.json");
    assert_eq!(hooks["hooks"]["Stop"].as_array().unwrap().len(), 1, "known in spite of the quotes");
    machine.uninstall(&[]);
    assert!(!machine.path(".codex").exists());
}

#[test]
fn an_extension_that_somebody_changed_stays() {
    let machine = Machine::new();
    machine.init(&["--client", "pi"]);
    let path = ".pi/agent/extensions/recoup.ts";
    machine.write(path, machine.text(path) + "\n// mine\n");
    let output = machine.uninstall(&[]);
    assert!(output.stderr.contains("was changed since recoup wrote it"), "{}", output.stderr);
    assert!(machine.text(path).ends_with("// mine\n"));
    let output = machine.init(&["--client", "pi"]);
    assert!(output.stderr.contains("Backup copies are in"), "{}", output.stderr);
    assert!(!machine.text(path).contains("// mine"));
}

#[test]
fn any_other_client_is_told_what_to_take() {
    let machine = Machine::new();
    let output = machine.run(&["init", "--client", "mcp"]).expect(0);
    let expected =
        json!({ "mcpServers": { "recoup": { "command": machine.program(), "args": ["mcp"] } } });
    assert_eq!(output.json(), expected);
    assert_eq!(output.stderr, "");
    assert!(output.text().lines().count() > 4, "for people too: {}", output.text());
    fs::remove_file(machine.path("bin/recoup")).unwrap();
    let output = machine.run(&["init", "--client", "mcp"]).expect(0);
    assert_eq!(output.json()["mcpServers"]["recoup"]["command"], "recoup");
    assert!(output.stderr.starts_with("warning: "), "{}", output.stderr);
    let none: Vec<Value> = Vec::new();
    assert_eq!(machine.home.recoup().exists(), !none.is_empty(), "nothing was written");
}

/// A client's program, or its title, is what people type.
#[test]
fn a_client_has_the_names_that_people_type() {
    for (alias, name) in [
        ("claude", "claude-code"),
        ("code", "vscode"),
        ("vs-code", "vscode"),
        ("gemini-cli", "gemini"),
    ] {
        let machine = Machine::new();
        let plan = |client: &str| machine.run(&["init", "-n", "--json", "--client", client]);
        assert_eq!(plan(alias).expect(0).json(), plan(name).expect(0).json(), "{alias}");
        machine.init(&["--client", alias]);
        machine.run(&["uninstall", "--yes", "--client", alias]).expect(0);
    }
}
