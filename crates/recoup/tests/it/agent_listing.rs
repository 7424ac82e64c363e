//! `recoup agents list` and `show`: which files are agents, and what of them counts for the cache.

use insta::assert_snapshot;
use serde_json::Value;

use crate::agent_files::{MODEL, agent, notices, problems, shown};
use crate::config_support::Scene;
use crate::model_server::{ModelTurn, Server};

#[test]
fn other_agents_and_rest_tools_are_hashed_without_asking_anybody() {
    let scene = Scene::new();
    scene.user("[restTools.weather]\nurl = 'https://w.example'\n");
    for name in ["sub.ai", "advice.ai", "after.ai", "there.ai"] {
        agent(&scene, name, MODEL, "Help.");
    }
    let front = "tools: weather\nagents: sub.ai\nadvisors: advice.ai\nhandoff: after.ai\n\
        router: {destinations: [there.ai]}\noutput: {format: json, schema: {type: object}}";
    agent(&scene, "all.ai", &format!("{MODEL}\n{front}"), "Ask the others.");
    assert_snapshot!(shown(&scene, "all.ai"), @"
    + system prompt: Ask the others.
    + models: openai/gpt-4.1
    + settings: temperature=0 max_turns=10 max_tool_calls_per_turn=10 max_output_tokens=4096 tool_response_max_bytes=12288 max_repeats=0
    + tool rest__weather: [digest]
    + agent sub: [digest]
    + advisor advice: [digest]
    + router there: [digest]
    + handoff: [digest]
    + format: json
    + schema: [digest]
    + prompt: yours, with the values of variables
    + history: the conversation before the prompt
    - file: all.ai
    - name: all
    - tool name: all
    - time limits: model 10m, tools 5m
    - retries: 5
    ");
}

#[test]
fn a_name_for_tools_wins_over_the_name_and_is_not_too_long() {
    let scene = Scene::new();
    for front in ["tool_name: rev\nname: The reviewer", "name: The reviewer\ntool_name: rev"] {
        agent(&scene, "a.md", &format!("{MODEL}\n{front}"), "Hi");
        let said = shown(&scene, "a.md");
        assert!(said.contains("- name: The reviewer\n- tool name: rev\n"), "{said}");
    }
    agent(&scene, "a.md", &format!("{MODEL}\nname: The reviewer"), "Hi");
    assert!(shown(&scene, "a.md").contains("- tool name: The_reviewer\n"));
    agent(&scene, "a.ai", &format!("{MODEL}\ntoolName: {}", "x".repeat(64)), "Hi");
    assert_eq!(notices(&scene, "a.ai"), "The agent file is valid.\n");
    agent(&scene, "a.ai", &format!("{MODEL}\ntoolName: {}", "x".repeat(65)), "Hi");
    let expected = "error: a.ai:3: toolName: expected letters, digits, _ and -, at most 64 (got ";
    assert!(problems(&scene, "a.ai").starts_with(expected));
}

#[test]
fn cached_answers_are_those_of_the_agent_as_it_is_now() {
    let server = Server::answering(|_| ModelTurn::text("because"));
    let mut scene = Scene::new();
    scene.env("OPENAI_BASE_URL", &server.url());
    scene.env("OPENAI_API_KEY", "test-key-of-nobody");
    let cached = |scene: &Scene, file: &str| {
        let said = scene.run(&["agents", "show", file, "--json"]);
        let report: Value = serde_json::from_str(&said.out).unwrap();
        report["answers"]["cached"].as_u64()
    };
    let front = format!("{MODEL}\ncache: 1d\nname: helper");
    agent(&scene, "a.md", &front, "Help.");
    agent(&scene, "b.md", &front, "Help others.");
    for question in ["why?", "how?"] {
        assert_eq!(scene.run(&["run", "a.md", question]).code, 0);
    }
    // Another agent of the same name has answers of its own.
    assert_eq!((cached(&scene, "a.md"), cached(&scene, "b.md")), (Some(2), Some(0)));
    agent(&scene, "a.md", &front, "Help more.");
    assert_eq!(cached(&scene, "a.md"), Some(0));
    scene.user("[mcpServers.files]\ncommand = 'npx'\n");
    agent(&scene, "a.md", &format!("{front}\ntools: files"), "Help.");
    assert_eq!(cached(&scene, "a.md"), None, "its identity is not known");
}

#[test]
fn agent_files_of_the_project_are_listed() {
    let scene = Scene::new();
    assert_eq!(scene.run(&["agents", "list"]).err, "No agent files in [DIR]/project\n");
    agent(&scene, "a.ai", &format!("{MODEL}\ncache: 1d\ndescription: Helps"), "Hi");
    agent(&scene, "b.md", "models:\n  - anthropic/claude-sonnet-4-5", "Hi");
    agent(&scene, "c.agent.md", "name: c\nmodel: gpt-4.1", "Hi");
    scene.write("project/d.lifecycle.yaml", "agent: c\ncache: {ttl: 1h}\n");
    agent(&scene, "bad.ai", "modls: x", "Hi");
    agent(&scene, "README.md", "title: Not an agent\nsee: a/b", "Hi");
    agent(&scene, "claude.md", "name: reviewer\nmodel: sonnet", "Hi");
    scene.write("project/.hidden/e.ai", "x");
    scene.write("project/.gitignore", "ignored\n");
    scene.write("project/ignored/f.ai", "x");
    assert_snapshot!(scene.run(&["agents", "list"]).out, @"
    FILE              CACHE  MODELS                       DIALECT          DESCRIPTION
    a.ai              1d     openai/gpt-4.1               .ai              Helps
    b.md              -      anthropic/claude-sonnet-4-5  recoup
    bad.ai            -                                   .ai              2 problems: see `recoup agents check bad.ai`
    c.agent.md        -      openai/gpt-4.1               .agent.md
    d.lifecycle.yaml  1h     openai/gpt-4.1               .lifecycle.yaml
    ");
    // What `run` accepts is listed, too.
    scene.write("project/marked/a.md", format!("\u{feff}\n  \n---\n{MODEL}\n---\nHi\n"));
    scene.write("project/marked/b.md", "---\r\nmodel: openai/gpt-4.1\r\n---\r\nHi\r\n");
    scene.write("project/marked/c.md", "---\nsee:\n  models: a/b\n---\nHi\n");
    let said = scene.run(&["agents", "list", "marked", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let files: Vec<&str> = listed.iter().filter_map(|it| it["file"].as_str()).collect();
    assert_eq!(files, ["marked/a.md", "marked/b.md"]);
    std::fs::remove_dir_all(scene.path("project/marked")).unwrap();
    for number in 0..1001 {
        scene.write(&format!("project/many/{number}.ai"), "x");
    }
    let said = scene.run(&["agents", "list", "many", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    assert_eq!(listed.len(), 1000);
    assert!(said.err.contains("many has more than 1000 agent files"), "{}", said.err);
    std::fs::remove_dir_all(scene.path("project/many")).unwrap();
    let said = scene.run(&["agents", "list", ".", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    assert_eq!(listed[0]["name"], "a");
    assert_eq!((listed.len(), &listed[2]["problems"]), (5, &Value::from(2)));
}
