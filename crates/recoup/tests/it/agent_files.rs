//! Agent files: the three dialects, what is wrong in them, includes, other agents and trust.

use insta::assert_snapshot;
use serde_json::Value;

use crate::config_support::Scene;

/// What `agents check` complains about.
fn problems(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "check", file]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    said.err
}

/// The messages of `agents check` on files that are valid.
fn notices(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "check", file]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    said.err
}

/// The report of `agents show`: a line for each part, with `+` where it is hashed.
fn shown(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "show", file, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let lines = |list: &str, sign: &str| -> Vec<String> {
        let text = |part: &Value, name: &str| part[name].as_str().unwrap().to_owned();
        let parts = report[list].as_array().unwrap().iter();
        parts.map(|it| format!("{sign} {}: {}", text(it, "part"), text(it, "value"))).collect()
    };
    [lines("hashed", "+"), lines("not_hashed", "-")].concat().join("\n")
}

fn agent(scene: &Scene, name: &str, front: &str, body: &str) {
    scene.write(&format!("project/{name}"), format!("---\n{front}\n---\n{body}\n"));
}

const MODEL: &str = "models: openai/gpt-4.1";

#[test]
fn every_key_of_an_ai_file_is_read() {
    let scene = Scene::new();
    scene.user(
        "[mcpServers.files]\ncommand = 'npx'\n[restTools.weather]\nurl = 'https://w.example'\n",
    );
    for name in ["sub.ai", "advice.ai", "after.ai", "there.ai"] {
        agent(&scene, name, MODEL, "Help.");
    }
    scene.write("project/answer.json", r#"{"type": "object"}"#);
    let front = "description: Reviews\nusage: give it a diff\ntoolName: review-it\n\
        models: openai/gpt-4.1, openrouter/anthropic/claude-sonnet-4.5\ntools: [files, weather]\n\
        agents: [./sub.ai]\nadvisors: advice.ai\nhandoff: after.ai\n\
        router: {destinations: [there.ai]}\ninput: {format: markdown}\n\
        output: {format: json, schemaRef: answer.json}\nmaxTurns: 7\nmaxToolCallsPerTurn: '3'\n\
        maxRetries: 0\nmaxOutputTokens: 99\ntoolResponseMaxBytes: 1000\nllmTimeout: 30000\n\
        toolTimeout: 1m\ntemperature: 0.5\ntopP: 0.9\ntopK: 40\nrepeatPenalty: none\n\
        reasoning: low\ncache: 1d\ncaching: none\ntoolOutput: {enabled: yes, maxChunks: 3}\n\
        plugins: [x.js]";
    scene.write(
        "project/all.ai",
        format!(
            "#!/usr/bin/env -S recoup run\n---\n{front}\n---\nDo.\n\n---\n\nStill the prompt.\n"
        ),
    );
    assert_snapshot!(shown(&scene, "all.ai"), @"");
    assert_snapshot!(notices(&scene, "all.ai"), @"");
}

#[test]
fn every_key_of_our_own_files_is_read() {
    let scene = Scene::new();
    let front = "name: Diff reviewer\nprovider: anthropic\nmodel: claude-sonnet-4-5\nmemory: true\n\
        sources: [src/**/*.rs]\nkey: ${version}\ntags: [review]\nhistory: ignore\nmax_time: 10m\n\
        max_tokens: 100000\nmax_cost: 0.5\nmax_repeats: 0\nmax_turns: 3\ntool_name: rev\n\
        llm_timeout: 10s\ntop_k: off\ntemperature: null\nreasoning_tokens: 2000\ncache: forever";
    agent(&scene, "own.md", front, "Review as ${role}.\n---\nFirst.\n```\n---\n```\n---\nSecond.");
    assert_snapshot!(shown(&scene, "own.md"), @"");
    assert_snapshot!(notices(&scene, "own.md"), @"");
}

#[test]
fn an_agent_md_and_its_lifecycle_are_one_agent() {
    let scene = Scene::new();
    scene.user("[mcpServers.files]\ncommand = 'npx'\n");
    let front = "name: reporter\nmodel: claude-sonnet-4-5\nmax_tokens: 500\ncompletion_reserve: 100\n\
        timeout: 45\ntool_timeout: 2m\ntemperature: 0.2\nenabled: no\ntags: [daily]\n\
        skills: [writing]\ntoolsets: [files]\ntool_rounds: 5\nthinking: high\n\
        schedule: '0 6 * * *'\nqueue_input: reports\nextra: 1";
    agent(
        &scene,
        "report.agent.md",
        front,
        "You write reports at {{now}}.\n---\nclear: true\ntools: [files]\n---\nFirst.\n---\nSecond.",
    );
    assert_snapshot!(shown(&scene, "report.agent.md"), @"");
    assert_snapshot!(notices(&scene, "report.agent.md"), @"");
    scene.write(
        "project/report.lifecycle.yaml",
        "agent: report\nname: daily\nmodel: gpt-4.1\nschedule: '@daily'\n\
         prompt: Report of {{parameters.day}}\nparameters: {day: 2026-01-01}\n\
         cache: {enabled: yes, ttl: 3600, key: 'daily-{{parameters.day}}'}\n\
         output:\n- {type: file, path: report.md}\n\
         - {type: http, url: 'https://x.example', method: put, headers: {A: b}}\n\
         hooks: {pre_run: echo start, post_success: [echo a, echo b], post_error: echo no}\n\
         instances:\n- {name: one, parameters: {day: 2026-01-02}}\n- {name: two}\nmax_repeats: 2\nodd: 1\n",
    );
    let said = scene.run(&["trust", "report.lifecycle.yaml", "--yes"]);
    assert_snapshot!(said.err, @"");
    assert_snapshot!(shown(&scene, "report.lifecycle.yaml"), @"");
    assert_snapshot!(notices(&scene, "report.lifecycle.yaml"), @"");
}

#[test]
fn every_problem_has_its_file_line_and_key() {
    let scene = Scene::new();
    scene.write("project/none.json", "[1]");
    scene.write("project/broken.json", "{");
    scene.write(
        "project/bad.ai",
        "#!/usr/bin/env -S recoup run\n\n---\nmodls: x\nmaxTurns: lots\nmaxOutputTokens: 0\n\
         tools: [gthub, 'openapi:pets']\nagents:\n  - gone.ai\noutput:\n  format: yaml\n  schema: no\n\
         input:\n  format: json\n  schemaRef: none.json\ncache: true\nllmTimeout: 5 min\n\
         temperature: warm\ncaching: on\nreasoning: much\ntoolName: a b\nrouter:\n  destination: x\n\
         toolOutput: {enable: true}\nusage:\n  - a list\nname: x\n---\nHi\n",
    );
    assert_snapshot!(problems(&scene, "bad.ai"), @"");
    scene.write(
        "project/bad.md",
        "---\nmodels: [opnai/gpt-4.1, claude-sonnet-4-5, mistral/large, openai/, qwen]\n\
         maxTurns: 3\nschedule: daily\nhistory: all\nmax_cost: -1\ncache: 5 min\n\
         output: {format: text, schema: {}}\ninput: {format: json, schemaRef: broken.json}\n\
         mcp_servers:\n  a: {command: x, url: y}\n  b: {type: websocket, url: y}\n  c: {toolsAlowed: []}\n\
         memory: maybe\n---\n\n",
    );
    assert_snapshot!(problems(&scene, "bad.md"), @"");
    scene.write(
        "project/bad.agent.md",
        "---\nmodel: [qwen3]\ntimeout: soon\ntool_rounds: -1\n---\nHi\n",
    );
    assert_snapshot!(problems(&scene, "bad.agent.md"), @"");
    scene.write(
        "project/bad.lifecycle.yaml",
        "agent: gone\ncache: {ttl: -5}\noutput: [{type: mail}]\nhooks: [x]\nprompt: {a: b}\ninstances: 3\n",
    );
    assert_snapshot!(problems(&scene, "bad.lifecycle.yaml"), @"");
    scene.write("project/less.lifecycle.yaml", "name: x\n");
    assert_snapshot!(problems(&scene, "less.lifecycle.yaml"), @"");
}

#[test]
fn what_is_not_yaml_is_reported_with_its_line() {
    let scene = Scene::new();
    scene.write("project/open.ai", "---\nmodels: openai/gpt-4.1\n");
    assert_snapshot!(problems(&scene, "open.ai"), @"");
    agent(&scene, "twice.ai", "models: openai/gpt-4.1\ncache: 1d\ncache: 2d", "Hi");
    assert_snapshot!(problems(&scene, "twice.ai"), @"");
    agent(&scene, "odd.ai", "models: [openai/gpt-4.1", "Hi");
    assert_snapshot!(problems(&scene, "odd.ai"), @"");
    agent(&scene, "list.ai", "- a", "Hi");
    assert_snapshot!(problems(&scene, "list.ai"), @"");
    scene.write("project/bare.ai", "Just a prompt.\n");
    assert_snapshot!(problems(&scene, "bare.ai"), @"");
    scene.write("project/latin.ai", b"---\nmodels: \xff\n---\n");
    assert_snapshot!(problems(&scene, "latin.ai"), @"");
    assert_snapshot!(problems(&scene, "gone.ai"), @"");
    assert_snapshot!(problems(&scene, "."), @"");
}

#[test]
fn cache_off_is_a_word_and_not_a_boolean() {
    let scene = Scene::new();
    for (written, read) in [("off", "off"), ("OFF", "off"), ("'1.5h'", "90m"), ("60000", "1m")] {
        agent(&scene, "a.ai", &format!("{MODEL}\ncache: {written}"), "Hi");
        let said = shown(&scene, "a.ai");
        assert!(said.contains(&format!("- cache: {read}\n")), "{written}: {said}");
    }
    for written in ["no", "false", "5 m", "-1", "''", "[1d]"] {
        agent(&scene, "a.ai", &format!("{MODEL}\ncache: {written}"), "Hi");
        assert!(problems(&scene, "a.ai").starts_with("error: a.ai:3: cache: "), "{written}");
    }
}

#[test]
fn included_files_take_the_place_of_their_tags() {
    let scene = Scene::new();
    scene.write("project/parts/tone.md", "Be kind.\n{% render \"more.md\" %}\n");
    scene.write("project/parts/more.md", "Be brief.\n");
    agent(&scene, "a.ai", MODEL, "{% include 'parts/tone.md' %}|{%- include 'parts/more.md' -%}|");
    let said = shown(&scene, "a.ai");
    assert!(said.contains("+ prompt: 29 characters\n"), "{said}");
    let files = "+ included files: parts/tone.md, parts/more.md, parts/more.md\n";
    assert!(said.contains(files), "{said}");

    scene.write("project/one.md", "{% include 'two.md' %}");
    scene.write("project/two.md", "\n{% include 'one.md' %}");
    scene.write("project/.env", "KEY=1\n");
    scene.write("project/prod.env", "KEY=1\n");
    std::os::unix::fs::symlink(".env", scene.path("project/harmless.md")).unwrap();
    scene.write("outside.md", "secret\n");
    std::os::unix::fs::symlink("../outside.md", scene.path("project/inside.md")).unwrap();
    for at in 1..=10 {
        scene
            .write(&format!("project/deep{at}.md"), format!("{{% include 'deep{}.md' %}}", at + 1));
    }
    let body = "{% include 'one.md' %}\n{% include '.env' %}\n{% include 'prod.env' %}\n\
        {% include 'harmless.md' %}\n{% include 'gone.md' %}\n{% include gone %}\n\
        {% render 'one.md', a: 1 %}\n{% include '../outside.md' %}\n{% include 'inside.md' %}\n\
        {% include 'deep1.md' %}\n{% if x %}";
    agent(&scene, "b.ai", MODEL, body);
    assert_snapshot!(problems(&scene, "b.ai"), @"");
    agent(&scene, "c.ai", MODEL, "Hi {% if x %}{% endif %}");
    assert_snapshot!(notices(&scene, "c.ai"), @"");
}

#[test]
fn agents_that_refer_to_each_other_in_a_circle_are_named() {
    let scene = Scene::new();
    agent(&scene, "a.ai", &format!("{MODEL}\nagents: [b.ai]"), "Hi");
    agent(&scene, "b.ai", &format!("{MODEL}\nadvisors:\n- c.ai"), "Hi");
    agent(&scene, "c.ai", &format!("{MODEL}\nhandoff: a.ai"), "Hi");
    assert_snapshot!(problems(&scene, "a.ai"), @"");
    for at in 1..=9 {
        let front = format!("{MODEL}\nagents: [deep{}.ai]", at + 1);
        agent(&scene, &format!("deep{at}.ai"), &front, "Hi");
    }
    assert_snapshot!(problems(&scene, "deep1.ai"), @"");
    // One agent for two others is no circle, and read once.
    agent(&scene, "leaf.ai", MODEL, "Hi");
    agent(&scene, "left.ai", &format!("{MODEL}\nagents: [leaf.ai]"), "Hi");
    agent(&scene, "right.ai", &format!("{MODEL}\nagents: [leaf.ai]"), "Hi");
    agent(&scene, "top.ai", &format!("{MODEL}\nagents: [left.ai, right.ai]"), "Hi");
    assert_eq!(notices(&scene, "top.ai"), "The agent file is valid.\n");
    scene.write("project/more/leaf.ai", format!("---\n{MODEL}\n---\nHi\n"));
    agent(&scene, "same.ai", &format!("{MODEL}\nagents: [leaf.ai, more/leaf.ai]"), "Hi");
    assert_snapshot!(problems(&scene, "same.ai"), @"");
}

#[test]
fn problems_of_other_agents_are_reported_with_their_own_files() {
    let scene = Scene::new();
    scene
        .write("project/sub/b.ai", "---\nmodels: openai/gpt-4.1\nfoo: 1\n---\n{% include 'x' %}\n");
    agent(&scene, "a.ai", "models: openai/gpt-4.1\nagents: [sub/b.ai, sub/b.ai]\nbar: 1", "Hi");
    assert_snapshot!(problems(&scene, "a.ai"), @"");
    let said = scene.run(&["agents", "show", "a.ai"]);
    assert_eq!((said.code, said.err), (2, problems(&scene, "a.ai")));
    let said = scene.run(&["agents", "check", "a.ai", "--json"]);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((said.code, &report["ok"]), (2, &Value::Bool(false)));
    assert_eq!(report["problems"][1]["line"], 3);
    assert_eq!(report["problems"][1]["file"], "sub/b.ai");
}

#[test]
fn a_file_that_names_commands_or_variables_needs_trust_in_a_repository() {
    let mut scene = Scene::new();
    scene.env("TEAM", "core");
    scene.user("[agents]\nvariables = ['TEAM']\n");
    let front = "models: openai/gpt-4.1\nmcp_servers:\n  fs:\n    command: [npx, server]\n    env: {A: topsecret}";
    agent(&scene, "own.md", front, "For ${TEAM} and ${other}.");
    assert_snapshot!(problems(&scene, "own.md"), @"");
    let said = scene.run(&["trust", "--yes", "own.md"]);
    assert_snapshot!(said.err, @"");
    assert_eq!(notices(&scene, "own.md"), "The agent file is valid.\n");
    agent(&scene, "own.md", front, "For ${TEAM}, changed.");
    assert!(problems(&scene, "own.md").contains("recoup trust own.md"));
    // Without files everything in the project is asked about.
    let said = scene.run(&["trust", "--yes"]);
    assert!(said.err.contains("own.md has changed since you trusted it"), "{said:?}");
    assert_eq!(notices(&scene, "own.md"), "The agent file is valid.\n");
    let said = scene.run(&["trust", "--revoke"]);
    assert_eq!(said.err, "No longer trusted: own.md\n");

    // A prompt needs no trust, and neither does a file outside of any repository.
    agent(&scene, "plain.ai", MODEL, "For ${TEAM}.");
    assert_eq!(notices(&scene, "plain.ai"), "The agent file is valid.\n");
    scene.write(
        "user/own.md",
        format!("---\n{front}\n---\nFor ${{TEAM}}. {{% include '../outside.md' %}}\n"),
    );
    scene.write("outside.md", "Hi");
    assert_eq!(notices(&scene, "../user/own.md"), "The agent file is valid.\n");
    let said = scene.run(&["trust", "--yes", "plain.ai"]);
    assert_eq!((said.code, said.err.as_str()), (0, "Nothing in these files needs your trust.\n"));
}

#[test]
fn files_outside_of_the_project_need_trust() {
    let scene = Scene::new();
    scene.write("outside.md", "Hi");
    scene.write("other.ai", format!("---\n{MODEL}\n---\nHi\n"));
    agent(
        &scene,
        "a.ai",
        &format!("{MODEL}\nagents: [../other.ai]"),
        "{% include '../outside.md' %}",
    );
    assert_snapshot!(problems(&scene, "a.ai"), @"");
    assert_snapshot!(scene.run(&["trust", "--yes", "a.ai"]).err, @"");
    assert_eq!(notices(&scene, "a.ai"), "The agent file is valid.\n");
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
    assert_snapshot!(scene.run(&["agents", "list"]).out, @"");
    let said = scene.run(&["agents", "list", ".", "--json"]);
    let listed: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    assert_eq!(listed[0]["name"], "a");
    assert_eq!((listed.len(), &listed[2]["problems"]), (5, &Value::from(2)));
}
