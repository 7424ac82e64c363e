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
    let names = ["mcpServers", "restTools", "openapi", "providers", "agents"];
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
[openapi.pets]
spec = "~/pets.yaml"
base_url = "https://pets.example"
headers = { Key = "topsecret" }
includeMethods = ["get"]
tagFilter = ["read"]
cache = "1h"
"#;

#[test]
fn definitions_are_shown_without_values_of_variables_and_headers() {
    let scene = Scene::new();
    scene.user(USER);
    assert_snapshot!(shown(&scene), @r#"
    agents.variables = "[\"TEAM\"]"
    mcpServers.files = "npx -y server (variables TOKEN)"
    mcpServers.files.cache = "5m"
    mcpServers.off = "server"
    mcpServers.web = "https://***@mcp.example/sse (headers Authorization)"
    openapi.pets = "~/pets.yaml at https://pets.example (headers Key)"
    openapi.pets.cache = "1h"
    providers.anthropic = "anthropic at https://gateway.example (key in ANTHROPIC_API_KEY)"
    providers.work = "openai at https://llm.example/v1 (key in WORK_KEY)"
    restTools.weather = "POST https://w.example/${parameters.city} (headers Key)"
    restTools.weather.cache = "10m"
    "#);
}

#[test]
fn an_agent_can_use_what_is_defined_and_nothing_else() {
    let mut scene = Scene::new();
    scene.user(USER);
    assert_snapshot!(check(&scene, "files, web, weather, fils, off", "work/any"), @r#"
    error: a.ai:3: tools: files cannot be used: [DIR]/home/config.toml:10: mcpServers.files: env.TOKEN: the variable FILES_TOKEN is not set
    error: a.ai:3: tools: unknown tool "fils"; did you mean files?
    error: a.ai:3: tools: off cannot be used: mcpServers.off.enabled is false
    "#);
    assert_eq!(
        check(&scene, "web, weather, 'openapi:pets'", "work/any, anthropic/claude-sonnet-4-5"),
        VALID
    );
    scene.env("FILES_TOKEN", "x");
    assert_eq!(check(&scene, "files", "ollama/qwen3"), VALID);
    scene.env("OPENAI_BASE_URL", "http://elsewhere.example/v1");
    assert_snapshot!(check(&scene, "", "openai/gpt-4.1"), @"error: a.ai:2: models: the provider openai cannot be used: OPENAI_BASE_URL: invalid address of a model API: http:// is only allowed for this machine (127.0.0.1, localhost); use https://");
    scene.env("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1");
    assert_eq!(check(&scene, "", "openai/gpt-4.1"), VALID);
}

#[test]
fn an_agents_own_server_that_is_disabled_is_reported_like_others() {
    let scene = Scene::new();
    scene.user(USER);
    let agent = "---\nmodels: ollama/qwen3\nmcp_servers:\n  mine: {command: server, enabled: no}\n  \
                 off: {command: server}\ntools: [off]\n---\nHi\n";
    scene.write("project/a.md", agent);
    let said = scene.run(&["agents", "check", "a.md"]).err;
    let own = said.lines().filter(|line| !line.contains("needs your trust")).collect::<String>();
    assert_snapshot!(own, @"error: a.md:4: mcp_servers.mine: mine cannot be used: mcp_servers.mine.enabled is false");
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
            "openapiSpecs": {"pets": {"spec": "pets.json", "odd": 1}, "open": {"spec": "o.json", "headers": {"K": "v"}}},
            "defaults": {"x": 1}
        }"#,
    );
    scene.write("project/.ai-agent.env", "# comment\nexport FROM_FILE='value'\n");
    // Other commands do not mind.
    assert_eq!(scene.run(&["config", "check"]).err, "The configuration is valid.\n");
    assert_snapshot!(check(&scene, "files, weather", "mine/x"), @"
    error: a.ai:2: models: the provider mine cannot be used: .ai-agent.json: providers.mine counts only after `recoup trust`
    error: a.ai:3: tools: files cannot be used: .ai-agent.json: mcpServers.files counts only after `recoup trust`
    error: a.ai:3: tools: weather cannot be used: .ai-agent.json: restTools.weather counts only after `recoup trust`
    ");
    let said = scene.run(&["trust", "--yes"]);
    assert_snapshot!(said.err, @r#"
    .ai-agent.json sets:
      mcpServers.files = npx (variables T)
      mcpServers.unset = npx (variables T)
      mcpServers.swap = ${FROM_FILE}
      mcpServers.socket = cannot be used: expected type stdio with command, or http or sse with url; others are not supported
      restTools.weather = GET https://w.example
      openapiSpecs.pets = pets.json
      openapiSpecs.open = cannot be used: headers need a baseUrl: the document must not decide who receives them
      providers.mine = openai at https://llm.example/v1 (key in MY_KEY)
      providers.literal = cannot be used: apiKey: keys are read from the environment only: write "${NAME_OF_A_VARIABLE}"
      providers.google = cannot be used: type "google" is not supported: expected anthropic, or openai for an API with chat completions
    Trusted: .ai-agent.json
    "#);
    assert_eq!(check(&scene, "files, weather, 'openapi:pets'", "mine/x"), VALID);
    assert_snapshot!(check(&scene, "unset, swap, socket", "literal/x, google/gemini"), @r#"
    error: a.ai:2: models: the provider literal cannot be used: .ai-agent.json: providers.literal: apiKey: keys are read from the environment only: write "${NAME_OF_A_VARIABLE}"
    error: a.ai:2: models: the provider google cannot be used: .ai-agent.json: providers.google: type "google" is not supported: expected anthropic, or openai for an API with chat completions
    error: a.ai:3: tools: unset cannot be used: .ai-agent.json: mcpServers.unset: env.T: the variable NOWHERE is not set
    error: a.ai:3: tools: swap cannot be used: .ai-agent.json: mcpServers.swap: command: the variable FROM_FILE is not set
    error: a.ai:3: tools: socket cannot be used: .ai-agent.json: mcpServers.socket: expected type stdio with command, or http or sse with url; others are not supported
    "#);
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
    assert_snapshot!(scene.problems(), @r#"
    error: [DIR]/home/config.toml:3: agents.variable: unknown key; did you mean agents.variables?
    error: [DIR]/home/config.toml:4: agents.variables: expected a list of names of environment variables
    error: [DIR]/home/config.toml:6: providers.a.kind: unknown key; expected one of providers.a.type, providers.a.provider, providers.a.base_url, providers.a.baseUrl, providers.a.key_env, providers.a.apiKey
    error: [DIR]/home/config.toml:7: providers.b: type "google" is not supported: expected anthropic, or openai for an API with chat completions
    error: [DIR]/home/config.toml:11: providers.c.base_url: invalid address of a model API: http:// is only allowed for this machine (127.0.0.1, localhost); use https://
    error: [DIR]/home/config.toml:12: providers.c.key_env: expected the name of an environment variable
    error: [DIR]/home/config.toml:14: providers.d: expected a table (got 5)
    error: [DIR]/home/config.toml:15: providers.e: a provider of type openai-compatible needs a base_url
    error: [DIR]/home/config.toml:17: mcpServers.a: expected either command or url, not both
    error: [DIR]/home/config.toml:21: mcpServers.b.comand: unknown key; did you mean mcpServers.b.command?
    error: [DIR]/home/config.toml:23: mcpServers.c.command: expected a command, as text or a list
    error: [DIR]/home/config.toml:24: mcpServers.c.env.A: expected text
    error: [DIR]/home/config.toml:25: mcpServers.c.toolSchemas.x: expected a JSON schema (got 1)
    error: [DIR]/home/config.toml:26: mcpServers.c.enabled: expected true or false (got "maybe")
    error: [DIR]/home/config.toml:27: mcpServers.c.requestTimeoutMs: expected a number of milliseconds or a duration such as 30s (got "soon")
    error: [DIR]/home/config.toml:29: restTools.a.method: expected GET, POST, PUT, PATCH or DELETE (got "FETCH")
    error: [DIR]/home/config.toml:30: restTools.b: a REST tool needs a url
    "#);
}
