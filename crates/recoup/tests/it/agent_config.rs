//! Providers, servers and REST tools that agents use: where they may be defined, what needs trust,
//! and how mistakes are told.

use insta::assert_snapshot;
use serde_json::Value;

use crate::config_support::Scene;

/// The values of `config show` about definitions, a line for each.
fn shown(scene: &Scene) -> String {
    let said = scene.run(&["config", "show", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let names = ["mcpServers", "restTools", "providers", "agents"];
    let is_meant =
        |row: &&Value| names.iter().any(|name| row["key"].as_str().unwrap().starts_with(name));
    let line = |row: &Value| format!("{} = {}", row["key"].as_str().unwrap(), row["value"]);
    rows.iter().filter(is_meant).map(line).collect::<Vec<_>>().join("\n")
}

/// What `agents check` says about an agent with these tools and this model.
fn check(scene: &Scene, tools: &str, model: &str) -> String {
    let text = format!("---\nmodels: {model}\ntools: [{tools}]\n---\nHi\n");
    scene.write("project/a.ai", text);
    scene.run(&["agents", "check", "a.ai"]).err
}

const VALID: &str = "The agent file is valid.\n";

const USER: &str = r#"
[agents]
variables = ["TEAM"]
[providers.work]
type = "openai"
base_url = "https://llm.example/v1"
key_env = "WORK_KEY"
[providers.anthropic]
base_url = "https://gateway.example"
[mcpServers.files]
command = "npx"
args = ["-y", "server"]
cwd = "~/x"
toolsAllowed = ["read_*"]
toolsDenied = ["read_secret"]
requestTimeoutMs = 5000
shared = true
cache = "5m"
[mcpServers.files.env]
TOKEN = "${FILES_TOKEN}"
[mcpServers.files.toolSchemas.read_file]
type = "object"
properties = { path = { type = "string" } }
[mcpServers.web]
type = "sse"
url = "https://user:pw@mcp.example/sse"
headers = { Authorization = "Bearer topsecret" }
[mcpServers.off]
command = ["server"]
enabled = false
[restTools.weather]
description = "The weather"
method = "post"
url = "https://w.example/${parameters.city}"
headers = { Key = "topsecret" }
bodyTemplate = { city = "${parameters.city}" }
parametersSchema = { type = "object" }
timeout = "5s"
cache = "10m"
"#;

#[test]
fn definitions_are_shown_without_values_of_variables_and_headers() {
    let scene = Scene::new();
    scene.user(USER);
    assert_snapshot!(shown(&scene), @"");
}

#[test]
fn an_agent_can_use_what_is_defined_and_nothing_else() {
    let mut scene = Scene::new();
    scene.user(USER);
    assert_snapshot!(check(&scene, "files, web, weather, fils, off", "work/any"), @"");
    assert_eq!(check(&scene, "web, weather", "work/any, anthropic/claude-sonnet-4-5"), VALID);
    scene.env("FILES_TOKEN", "x");
    assert_eq!(check(&scene, "files", "ollama/qwen3"), VALID);
    scene.env("OPENAI_BASE_URL", "http://elsewhere.example/v1");
    assert_snapshot!(check(&scene, "", "openai/gpt-4.1"), @"");
    scene.env("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1");
    assert_eq!(check(&scene, "", "openai/gpt-4.1"), VALID);
}

#[test]
fn the_other_programs_file_counts_after_trust_and_its_faults_hinder_only_agents() {
    let scene = Scene::new();
    scene.ai_agent(
        r#"{
            "providers": {
                "mine": {"type": "openai-compatible", "baseUrl": "https://llm.example/v1", "apiKey": "${MY_KEY}", "models": {}},
                "literal": {"type": "openai", "apiKey": "sk-topsecret"},
                "google": {"type": "google", "apiKey": "${G}"}
            },
            "mcpServers": {
                "files": {"type": "stdio", "command": "npx", "env": {"T": "${FROM_FILE}"}, "queue": "q", "odd": 1},
                "unset": {"command": "npx", "env": {"T": "${NOWHERE}"}},
                "swap": {"command": "${FROM_FILE}"},
                "socket": {"type": "websocket", "url": "wss://x"}
            },
            "restTools": {"weather": {"url": "https://w.example"}},
            "defaults": {"x": 1}
        }"#,
    );
    scene.write("project/.ai-agent.env", "# comment\nexport FROM_FILE='value'\n");
    // Other commands do not mind.
    assert_eq!(scene.run(&["config", "check"]).err, "The configuration is valid.\n");
    assert_snapshot!(check(&scene, "files, weather", "mine/x"), @"");
    let said = scene.run(&["trust", "--yes"]);
    assert_snapshot!(said.err, @"");
    assert_eq!(check(&scene, "files, weather", "mine/x"), VALID);
    assert_snapshot!(check(&scene, "unset, swap, socket", "literal/x, google/gemini"), @"");
}

#[test]
fn mistakes_in_our_own_files_are_told_with_their_lines() {
    let scene = Scene::new();
    scene.user(
        r#"
[agents]
variable = ["A"]
variables = ["sk-not a name"]
[providers.a]
kind = "openai"
[providers.b]
type = "google"
[providers.c]
type = "openai"
base_url = "http://far.example"
key_env = "sk-123 456"
[providers]
d = 5
[providers.e]
type = "openai-compatible"
[mcpServers.a]
command = "x"
url = "y"
[mcpServers.b]
comand = "x"
[mcpServers.c]
command = 5
env = { A = [] }
toolSchemas = { x = 1 }
enabled = "maybe"
requestTimeoutMs = "soon"
[restTools.a]
method = "FETCH"
[restTools.b]
description = "no address"
"#,
    );
    assert_snapshot!(scene.problems(), @"");
}
