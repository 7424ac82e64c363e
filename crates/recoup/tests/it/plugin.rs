//! The plugin in `plugin/`: its manifests, and its scripts as a client starts them.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::install::{CLAUDE, Machine};
use crate::mcp::client::Client;
use crate::support::{Output, finish};

const RULE: &str = "Never use var in JavaScript.";

/// A search path on which there is no recoup.
const SYSTEM_PATH: &str = "/usr/bin:/bin";

/// Where the script notes that it has said how to install the program.
const HINT: &str = ".local/state/recoup/plugin-hint";

/// The folder that is the plugin.
pub(crate) fn plugin_dir() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugin")).unwrap()
}

fn json_of(file: &str) -> Value {
    serde_json::from_slice(&fs::read(plugin_dir().join(file)).unwrap()).unwrap()
}

/// A machine whose user has recorded the rule, and whose recoup is at `place` beneath the home.
fn machine_with_program_at(place: &str) -> Machine {
    let machine = Machine::new();
    machine.run(&["memory", "add", RULE]).expect(0);
    let place = machine.path(place);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    fs::rename(machine.path("bin/recoup"), place).unwrap();
    machine
}

/// The hook of the plugin, as a client starts it.
fn fire(machine: &Machine, client: &str, event: &str) -> Output {
    // A session is given its rules once.
    static SESSIONS: AtomicUsize = AtomicUsize::new(0);
    let payload = json!({
        "hook_event_name": event,
        "session_id": SESSIONS.fetch_add(1, Ordering::Relaxed).to_string(),
        "cwd": machine.home.project(),
        "source": "startup",
        "turn_id": "1",
    });
    machine.write("payload.json", payload.to_string());
    let script = plugin_dir().join("hooks/recoup.sh");
    let words = [script.to_str().unwrap(), client, event];
    let mut command = machine.home.prepared("sh", &words);
    command.env("PATH", path(machine)).stdin(File::open(machine.path("payload.json")).unwrap());
    finish(&mut command).expect(0)
}

fn path(machine: &Machine) -> String {
    format!("{}:{SYSTEM_PATH}", machine.path("bin").display())
}

/// The server of the plugin, as a client starts it.
fn server(machine: &Machine) -> Command {
    let all = json_of("portable/mcp.json");
    let server = &all["mcpServers"]["recoup"];
    let args: Vec<&str> =
        server["args"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    let mut command = machine.home.prepared(server["command"].as_str().unwrap(), &args);
    command.env("PATH", path(machine));
    command
}

fn listed_tools(command: &mut Command) -> Vec<String> {
    let mut client = Client::spawn(command);
    client.greet(&json!({}));
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_program_is_found_on_the_path_and_where_installers_put_it() {
    for place in ["bin/recoup", ".local/bin/recoup", ".cargo/bin/recoup"] {
        let machine = machine_with_program_at(place);
        for client in ["claude-code", "codex"] {
            let said = fire(&machine, client, "SessionStart").text();
            assert!(said.contains(RULE), "{place}, {client}: {said}");
        }
        assert!(
            listed_tools(&mut server(&machine)).contains(&"cache_lookup".to_owned()),
            "{place}"
        );
    }
}

#[test]
fn without_the_program_one_session_start_says_how_to_install_it() {
    let machine = machine_with_program_at("elsewhere/recoup");
    assert_eq!(fire(&machine, "claude-code", "PreToolUse").text(), "");
    assert!(!machine.path(HINT).exists(), "only a session's start says it");
    let said = fire(&machine, "claude-code", "SessionStart").json();
    let message = said["systemMessage"].as_str().unwrap();
    assert!(message.contains("cargo install --path crates/recoup"), "{message}");
    for client in ["claude-code", "codex"] {
        assert_eq!(fire(&machine, client, "SessionStart").text(), "", "once is enough");
    }
    let started = finish(&mut server(&machine)).expect(1);
    assert!(started.stderr.contains("recoup is not installed"), "{}", started.stderr);
}

#[test]
fn hooks_of_init_silence_those_of_the_plugin() {
    for client in ["claude-code", "codex"] {
        for level in ["--user", "--project"] {
            let machine = machine_with_program_at("bin/recoup");
            machine.init(&[level, "--client", client]);
            assert_eq!(fire(&machine, client, "SessionStart").text(), "", "{client} {level}");
            machine.uninstall(&[level]);
            let said = fire(&machine, client, "SessionStart").text();
            assert!(said.contains(RULE), "{client} {level}: {said}");
        }
    }
}

#[test]
fn a_server_of_init_leaves_nothing_to_that_of_the_plugin() {
    let machine = machine_with_program_at("bin/recoup");
    let started = |machine: &Machine| {
        let mut command = server(machine);
        command.env("CLAUDE_PLUGIN_ROOT", plugin_dir());
        listed_tools(&mut command)
    };
    assert!(started(&machine).contains(&"cache_lookup".to_owned()));
    machine.init(&CLAUDE);
    assert_eq!(started(&machine), [""; 0]);
    machine.uninstall(&[]);
    assert!(started(&machine).contains(&"cache_lookup".to_owned()));
}

/// A client that starts servers in the plugin's own folder, as the portable format says.
#[test]
fn a_server_that_starts_in_the_plugin_works_for_the_clients_directory() {
    let machine = machine_with_program_at("bin/recoup");
    let portable = plugin_dir().join("portable");
    let mut command = server(&machine);
    command.env("PLUGIN_ROOT", &portable).current_dir(&portable);
    let mut client = Client::spawn(&mut command);
    let here = fs::read_link("/proc/self/cwd").unwrap();
    let there = fs::read_link(format!("/proc/{}/cwd", client.child.id()));
    client.greet(&json!({}));
    let after = fs::read_link(format!("/proc/{}/cwd", client.child.id())).unwrap();
    assert_eq!(after, here, "it began in {there:?}");
}

#[test]
fn doctor_and_init_know_the_plugin() {
    let machine = machine_with_program_at("bin/recoup");
    for (client, file, enabled) in [
        ("claude-code", ".claude/settings.json", r#"{"enabledPlugins": {"recoup@recoup": true}}"#),
        ("codex", ".codex/config.toml", "[plugins.\"recoup@recoup\"]\nenabled = true\n"),
    ] {
        let found = |state: &str, words: &str| {
            let report = machine.run(&["doctor", "--json"]).json();
            let findings = report["findings"].as_array().unwrap().iter();
            let about = findings.filter(|it| it["facts"]["client"] == client);
            about
                .into_iter()
                .any(|it| it["state"] == state && it["what"].as_str().unwrap().contains(words))
        };
        machine.write(file, enabled.replace("true", "false"));
        assert!(found("skipped", "does not have recoup's hooks"), "{client}");
        machine.write(file, enabled);
        assert!(found("ok", "by recoup's plugin"), "{client}");
        let init = machine.init(&["--client", client]);
        assert!(init.stderr.contains("recoup's plugin is enabled, too"), "{}", init.stderr);
        assert!(found("warn", "plugin does nothing"), "{client}");
        machine.uninstall(&[]);
        assert!(found("ok", "by recoup's plugin"), "{client}");
    }
}

#[test]
fn the_manifests_agree() {
    let version = env!("CARGO_PKG_VERSION");
    let portable = json_of("portable/plugin.json");
    for file in [".claude-plugin/plugin.json", ".codex-plugin/plugin.json"] {
        let manifest = json_of(file);
        assert_eq!(manifest["version"], version, "{file}");
        for field in ["name", "version", "description", "author", "license", "keywords"] {
            assert_eq!(manifest[field], portable[field], "{file}: {field}");
        }
        for field in ["skills", "mcpServers", "hooks"] {
            let Some(path) = manifest[field].as_str() else { continue };
            assert!(plugin_dir().join(path).exists(), "{file}: {field}");
        }
    }
    // The portable format allows no other fields, and wants one version of its schemas.
    let fields: Vec<&String> = portable.as_object().unwrap().keys().collect();
    let allowed = ["$schema", "author", "description", "keywords", "license", "name", "version"];
    assert!(fields.iter().all(|field| allowed.contains(&field.as_str())), "{fields:?}");
    let servers = json_of("portable/mcp.json");
    let schema =
        |file: &Value| file["$schema"].as_str().unwrap().rsplit_once('/').unwrap().0.to_owned();
    assert_eq!(schema(&portable), schema(&servers));
    assert_eq!(servers.as_object().unwrap().len(), 2);
    assert_eq!(json_of(".claude-plugin/marketplace.json")["plugins"][0]["name"], portable["name"]);
}

#[test]
fn the_script_and_the_server_look_in_the_same_places() {
    let script = fs::read_to_string(plugin_dir().join("hooks/recoup.sh")).unwrap();
    let servers = json_of("portable/mcp.json");
    let line = servers["mcpServers"]["recoup"]["args"][1].as_str().unwrap().to_owned();
    let places = |text: &str| {
        let (_, rest) = text.split_once(" in recoup ").unwrap();
        rest.split_once("; do").unwrap().0.to_owned()
    };
    assert_eq!(places(&script), places(&line));
}

#[test]
fn skills_name_what_there_is() {
    let machine = machine_with_program_at("bin/recoup");
    let tools = listed_tools(&mut server(&machine));
    let skills = fs::read_dir(plugin_dir().join("portable/skills")).unwrap();
    let mut count = 0;
    for skill in skills.map(|entry| entry.unwrap()) {
        count += 1;
        let text = fs::read_to_string(skill.path().join("SKILL.md")).unwrap();
        let name = skill.file_name().into_string().unwrap();
        assert!(text.starts_with(&format!("---\nname: {name}\ndescription: ")), "{text}");
        let mut named = text.split('`').skip(1).step_by(2).peekable();
        assert!(named.peek().is_some(), "{name}");
        for code in named {
            let words: Vec<&str> = code.split_whitespace().collect();
            match words[..] {
                ["recoup", command, ..] => {
                    machine.run(&[command, "--help"]).expect(0);
                }
                [tool] if tool.contains('_') => {
                    assert!(tools.iter().any(|it| it == tool), "{name}: {tool}");
                }
                _ => {}
            }
        }
    }
    assert_eq!(count, 2);
}
