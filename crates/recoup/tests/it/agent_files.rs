//! Agent files: the four dialects, what is wrong in them, includes, other agents and trust.

use insta::assert_snapshot;
use serde_json::Value;

use crate::config_support::Scene;

/// What `agents check` complains about.
pub(crate) fn problems(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "check", file]);
    assert_eq!((said.code, said.out.as_str()), (2, ""), "{said:?}");
    said.err
}

/// The messages of `agents check` on files that are valid.
pub(crate) fn notices(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "check", file]);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    said.err
}

/// The report of `agents show`: a line for each part, with `+` where it is hashed and `-` where not.
pub(crate) fn shown(scene: &Scene, file: &str) -> String {
    let said = scene.run(&["agents", "show", file, "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let line = |part: &Value| {
        let text = |name: &str| part[name].as_str().unwrap().to_owned();
        let sign = text("hashed").replace("yes", "+").replace("no", "-");
        let value = text("value");
        let is_digest = value.len() == 16 && value.bytes().all(|byte| byte.is_ascii_hexdigit());
        format!("{sign} {}: {}", text("part"), if is_digest { "[digest]" } else { &value })
    };
    let lines: Vec<String> = report["parts"].as_array().unwrap().iter().map(line).collect();
    lines.join("\n")
}

pub(crate) fn agent(scene: &Scene, name: &str, front: &str, body: &str) {
    scene.write(&format!("project/{name}"), format!("---\n{front}\n---\n{body}\n"));
}

pub(crate) const MODEL: &str = "models: openai/gpt-4.1";

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
    assert_snapshot!(shown(&scene, "all.ai"), @r#"
    + system prompt: Do. --- Still the prompt.
    + models: openai/gpt-4.1 openrouter/anthropic/claude-sonnet-4.5@https://openrouter.ai/api/v1
    + settings: temperature=0.5 top_p=0.9 top_k=40 reasoning="low" max_turns=7 max_tool_calls_per_turn=3 max_output_tokens=99 tool_response_max_bytes=1000 max_repeats=0
    + format: json
    + schema: [digest]
    + prompt: yours, with the values of variables
    + tools, other agents, rules: known once its servers have been asked
    + history: the conversation before the prompt
    - file: all.ai
    - name: all
    - tool name: review-it
    - cache: 1d
    - time limits: model 30s, tools 1m
    - retries: 0
    "#);
    assert_snapshot!(notices(&scene, "all.ai"), @"
    warning: all.ai:29: plugins: plugins are not supported and do not run: offer what they do as an MCP server in tools, or as an agent in advisors or handoff
    The agent file is valid.
    ");
}

#[test]
fn every_key_of_our_own_files_is_read() {
    let scene = Scene::new();
    let front = "name: Diff reviewer\nprovider: anthropic\nmodel: claude-sonnet-4-5\nmemory: true\n\
        sources: [src/**/*.rs]\nkey: ${version}\ntags: [review]\nhistory: ignore\nmax_time: 10m\n\
        max_tokens: 100000\nmax_cost: 0.5\nmax_repeats: 0\nmax_turns: 3\ntool_name: rev\n\
        llm_timeout: 10s\ntop_k: off\ntemperature: null\nreasoning_tokens: 2000\ncache: forever";
    agent(&scene, "own.md", front, "Review as ${role}.\n---\nFirst.\n```\n---\n```\n---\nSecond.");
    assert_snapshot!(shown(&scene, "own.md"), @r#"
    - system prompt: Review as ${role}.
    - turn 1: First. ``` --- ```
    - turn 2: Second.
    - models: anthropic/claude-sonnet-4-5
    - settings: reasoning={"tokens":2000} max_turns=3 max_tool_calls_per_turn=10 max_output_tokens=4096 tool_response_max_bytes=12288 max_repeats=0
    - format: text
    - prompt: yours, with the values of variables
    - rules: 0
    replaces the key key: ${version}
    checked sources: src/**/*.rs
    - history: the conversation before the prompt
    - file: own.md
    - name: Diff reviewer
    - tool name: rev
    - cache: forever
    - tags: review
    - time limits: model 10s, tools 5m, whole run 10m
    - retries: 5
    "#);
    assert_snapshot!(notices(&scene, "own.md"), @"The agent file is valid.");
}

#[test]
fn a_damaged_trust_store_and_an_unreadable_path_are_told_as_that() {
    let scene = Scene::new();
    scene.write("outside.md", "Hi");
    agent(&scene, "a.ai", MODEL, "{% include '../outside.md' %}");
    let trusted = scene.run(&["trust", "--yes", "a.ai"]);
    assert_eq!(trusted.code, 0, "{trusted:?}");
    let store = scene.path("home/trust.json");
    std::fs::write(&store, "{").unwrap();
    let said = problems(&scene, "a.ai");
    assert!(said.contains("is damaged; remove it to start over"), "{said}");
    assert!(!said.contains("recoup trust"), "{said}");
    std::os::unix::fs::symlink("loop.ai", scene.path("project/loop.ai")).unwrap();
    let said = problems(&scene, "loop.ai");
    assert!(said.contains("cannot open") && !said.contains("no such file"), "{said}");
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
    assert_snapshot!(shown(&scene, "report.agent.md"), @r#"
    + system prompt: You write reports at {{now}}.
    + turn 1: (after clearing) First.
    + turn 2: Second.
    + models: anthropic/claude-sonnet-4-5
    + settings: temperature=0.2 reasoning="high" max_turns=5 max_tool_calls_per_turn=10 max_output_tokens=500 tool_response_max_bytes=12288 max_repeats=3
    + format: text
    + prompt: yours, with the values of variables
    + tools, other agents, rules: known once its servers have been asked
    + history: the conversation before the prompt
    - file: report.agent.md
    + name: reporter
    - tool name: reporter
    - tags: daily
    - time limits: model 45s, tools 2m
    - retries: 5
    "#);
    assert_snapshot!(notices(&scene, "report.agent.md"), @"
    warning: report.agent.md:9: enabled: the agent is disabled for its own program; `recoup run` runs it nevertheless
    warning: report.agent.md:11: skills: skills are not loaded here: put their text into the prompt with {% include %}
    warning: report.agent.md:15: schedule: schedules and queues are not run here: `recoup run` runs the agent once; call it from cron or from what fills the queue
    warning: report.agent.md:16: queue_input: schedules and queues are not run here: `recoup run` runs the agent once; call it from cron or from what fills the queue
    warning: report.agent.md:17: extra: unknown key; `recoup agents keys` lists all
    warning: report.agent.md:21: tools of a single turn are not supported: all turns have those of the agent
    warning: report.agent.md: {{now}} in a prompt changes all the time: no answer would ever be a hit
    The agent file is valid.
    ");
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
    assert_snapshot!(said.err, @"
    report.lifecycle.yaml sets:
      output[0] = report.md
      output[1] = PUT https://x.example
      hooks.pre_run = echo start
      hooks.post_success = echo a; echo b
      hooks.post_error = echo no
    Trusted: report.lifecycle.yaml
    ");
    assert_snapshot!(shown(&scene, "report.lifecycle.yaml"), @r#"
    - system prompt: You write reports at {{now}}.
    - turn 1: Report of {{parameters.day}}
    - models: openai/gpt-4.1
    - settings: temperature=0.2 reasoning="high" max_turns=5 max_tool_calls_per_turn=10 max_output_tokens=500 tool_response_max_bytes=12288 max_repeats=2
    - format: text
    - prompt: yours, with the values of variables
    - tools, other agents, rules: known once its servers have been asked
    replaces the key key: daily-{{parameters.day}}
    - history: the conversation before the prompt
    - file: report.lifecycle.yaml
    - name: daily
    - tool name: daily
    - cache: 1h
    - tags: daily
    - time limits: model 45s, tools 2m
    - retries: 5
    - outputs: report.md, PUT https://x.example
    - hooks: echo start, echo a, echo b, echo no
    "#);
    assert_snapshot!(notices(&scene, "report.lifecycle.yaml"), @"
    warning: report.agent.md:9: enabled: the agent is disabled for its own program; `recoup run` runs it nevertheless
    warning: report.agent.md:11: skills: skills are not loaded here: put their text into the prompt with {% include %}
    warning: report.agent.md:15: schedule: schedules and queues are not run here: `recoup run` runs the agent once; call it from cron or from what fills the queue
    warning: report.agent.md:16: queue_input: schedules and queues are not run here: `recoup run` runs the agent once; call it from cron or from what fills the queue
    warning: report.agent.md:17: extra: unknown key; `recoup agents keys` lists all
    warning: report.agent.md:21: tools of a single turn are not supported: all turns have those of the agent
    warning: report.agent.md: {{now}} in a prompt changes all the time: no answer would ever be a hit
    warning: report.lifecycle.yaml:4: schedule: schedules and queues are not run here: `recoup run` runs the agent once; call it from cron or from what fills the queue
    warning: report.lifecycle.yaml:7: cache.ttl: 3600 means seconds in this file, as in its program
    warning: report.lifecycle.yaml:12: instances: only the first of 2 instances runs; run the others with --var NAME=VALUE
    warning: report.lifecycle.yaml:16: odd: unknown key; expected one of agent, schedule, name, model, prompt, prompts, parameters, cache, output, hooks, instances, max_repeats
    The agent file is valid.
    ");
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
    assert_snapshot!(problems(&scene, "bad.ai"), @r#"
    error: bad.ai:4: models: missing; expected provider/model, such as anthropic/claude-sonnet-4-5
    error: bad.ai:4: modls: unknown key; did you mean models?
    error: bad.ai:5: maxTurns: expected a whole number above 0 (got "lots")
    error: bad.ai:6: maxOutputTokens: expected a whole number above 0 (got 0)
    error: bad.ai:7: tools: unknown tool "gthub": define it in [mcpServers.gthub] or [restTools.gthub]
    error: bad.ai:7: tools: unknown tool "openapi:pets": define it in [openapi.pets]
    error: bad.ai:9: agents: there is no file gone.ai
    error: bad.ai:11: output.format: expected text, json or markdown (got "yaml")
    error: bad.ai:12: output.schema: expected a JSON schema, which is an object (got "no")
    error: bad.ai:15: input.schemaRef: none.json is not a JSON object
    error: bad.ai:16: cache: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got true)
    error: bad.ai:17: llmTimeout: expected a number of milliseconds or a duration such as 30s (got "5 min")
    error: bad.ai:18: temperature: expected a number (got "warm")
    error: bad.ai:19: caching: expected full or none: the provider's prompt cache (got "on")
    error: bad.ai:20: reasoning: expected none, minimal, low, medium, high, or a number of tokens (got "much")
    error: bad.ai:21: toolName: expected letters, digits, _ and -, at most 64 (got "a b")
    error: bad.ai:23: router.destination: unknown key; did you mean router.destinations?
    error: bad.ai:24: toolOutput.enable: unknown key; did you mean toolOutput.enabled?
    error: bad.ai:25: usage: expected text (got a list)
    error: bad.ai:27: name: unknown key; `recoup agents keys` lists all
    "#);
    scene.write(
        "project/bad.md",
        "---\nmodels: [opnai/gpt-4.1, claude-sonnet-4-5, mistral/large, openai/, qwen]\n\
         maxTurns: 3\nschedule: daily\nhistory: all\nmax_cost: -1\ncache: 5 min\n\
         output: {format: text, schema: {}}\ninput: {format: json, schemaRef: broken.json}\n\
         mcp_servers:\n  a: {command: x, url: y}\n  b: {type: websocket, url: y}\n  c: {toolsAlowed: []}\n\
         memory: maybe\n---\n\n",
    );
    assert_snapshot!(problems(&scene, "bad.md"), @r#"
    error: bad.md:2: models: unknown provider "opnai"; did you mean openai/gpt-4.1?
    error: bad.md:2: models: expected provider/model, such as anthropic/claude-sonnet-4-5 (got "claude-sonnet-4-5")
    error: bad.md:2: models: unknown provider "mistral"; expected provider/model with one of anthropic, openai, ollama, openrouter, or a provider that is defined in [providers.mistral]
    error: bad.md:2: models: expected provider/model (got "openai/")
    error: bad.md:2: models: expected provider/model, such as PROVIDER/qwen (got "qwen")
    error: bad.md:3: maxTurns: unknown key; did you mean max_turns?
    error: bad.md:4: schedule: schedules are not run here: call `recoup run` from cron
    error: bad.md:5: history: expected ignore (got "all")
    error: bad.md:6: max_cost: expected a number (got -1)
    error: bad.md:7: cache: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got "5 min")
    error: bad.md:8: output: a schema needs format: json
    error: bad.md:9: input.schemaRef: broken.json is not JSON: EOF while parsing an object at line 1 column 1
    error: bad.md:11: mcp_servers.a: expected either command or url, not both
    error: bad.md:12: mcp_servers.b: expected type stdio with command, or http or sse with url; others are not supported
    error: bad.md:13: mcp_servers.c.toolsAlowed: unknown key; did you mean mcp_servers.c.tools_allowed?
    error: bad.md:14: memory: expected true or false (got "maybe")
    error: bad.md:16: expected a prompt after the front matter
    "#);
    scene.write(
        "project/bad.agent.md",
        "---\nmodel: [qwen3]\ntimeout: soon\ntool_rounds: -1\n---\nHi\n",
    );
    assert_snapshot!(problems(&scene, "bad.agent.md"), @r#"
    error: bad.agent.md:2: name: missing; expected a name for the agent
    error: bad.agent.md:2: model: expected provider/model, such as PROVIDER/qwen3 (got "qwen3")
    error: bad.agent.md:3: timeout: expected a number of seconds or a duration such as 30s (got "soon")
    error: bad.agent.md:4: tool_rounds: expected a whole number above 0 (got -1)
    "#);
    scene.write(
        "project/bad.lifecycle.yaml",
        "agent: gone\ncache: {ttl: -5}\noutput: [{type: mail}]\nhooks: [x]\nprompt: {a: b}\ninstances: 3\n",
    );
    assert_snapshot!(problems(&scene, "bad.lifecycle.yaml"), @"
    error: bad.lifecycle.yaml:1: agent: there is no file gone.agent.md
    error: bad.lifecycle.yaml:2: cache.ttl: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got -5)
    error: bad.lifecycle.yaml:3: output[0]: expected type file with a path, or type http with a url
    error: bad.lifecycle.yaml:4: hooks: expected a table (got a list)
    error: bad.lifecycle.yaml:5: prompt: expected text, or a list of texts (got a table)
    error: bad.lifecycle.yaml:6: instances: expected a list of instances (got 3)
    ");
    scene.write("project/less.lifecycle.yaml", "name: x\n");
    assert_snapshot!(problems(&scene, "less.lifecycle.yaml"), @"error: less.lifecycle.yaml:1: agent: missing; expected the path of an .agent.md file");
}

#[test]
fn what_is_not_yaml_is_reported_with_its_line() {
    let scene = Scene::new();
    scene.write("project/open.ai", "---\nmodels: openai/gpt-4.1\n");
    assert_snapshot!(problems(&scene, "open.ai"), @"error: open.ai:1: the front matter has no end: expected a line with ---");
    agent(&scene, "twice.ai", "models: openai/gpt-4.1\ncache: 1d\ncache: 2d", "Hi");
    assert_snapshot!(problems(&scene, "twice.ai"), @"error: twice.ai:4: not valid YAML: duplicate mapping key: cache");
    agent(&scene, "odd.ai", "models: [openai/gpt-4.1", "Hi");
    assert_snapshot!(problems(&scene, "odd.ai"), @"error: odd.ai:2: not valid YAML: unclosed bracket '['");
    agent(&scene, "list.ai", "- a", "Hi");
    assert_snapshot!(problems(&scene, "list.ai"), @"error: list.ai:2: expected keys and values in the front matter");
    scene.write("project/bare.ai", "Just a prompt.\n");
    assert_snapshot!(problems(&scene, "bare.ai"), @"error: bare.ai:1: models: missing; expected `models: provider/model` between two lines of --- at the top");
    scene.write("project/latin.ai", b"---\nmodels: \xff\n---\n");
    assert_snapshot!(problems(&scene, "latin.ai"), @"error: latin.ai: not valid UTF-8");
    assert_snapshot!(problems(&scene, "gone.ai"), @"error: gone.ai: there is no such file");
    assert_snapshot!(problems(&scene, "."), @"error: .: [DIR]/project/. is not a regular file");
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
    assert!(said.contains("+ system prompt: Be kind. Be brief.|Be brief.|\n"), "{said}");

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
    assert_snapshot!(problems(&scene, "b.ai"), @"
    error: b.ai: needs your trust, because of include: run `recoup trust b.ai`
    error: b.ai:5: {% include '.env' %}: .env may have secrets: .env files are refused
    error: b.ai:6: {% include 'prod.env' %}: prod.env may have secrets: .env files are refused
    error: b.ai:7: {% include 'harmless.md' %}: harmless.md may have secrets: .env files are refused
    error: b.ai:8: {% include 'gone.md' %}: there is no file gone.md
    error: b.ai:9: {% include gone %}: expected the name of a file in quotes
    error: b.ai:10: {% render 'one.md', a: 1 %}: parameters of an included file are not supported
    error: b.ai:11: {% include '../outside.md' %}: ../outside.md is outside of the project [DIR]/project; only an agent file that you have trusted may name such files
    error: b.ai:12: {% include 'inside.md' %}: inside.md is outside of the project [DIR]/project; only an agent file that you have trusted may name such files
    error: deep8.md:1: {% include 'deep9.md' %}: included files are nested more than 8 deep
    error: two.md:2: {% include 'one.md' %}: includes itself: one.md → two.md → one.md
    ");
    agent(&scene, "c.ai", MODEL, "Hi {% if x %}{% endif %}");
    assert_snapshot!(notices(&scene, "c.ai"), @"
    warning: c.ai:4: {% if x %} stays as it is: only include and render are known
    warning: c.ai:4: {% endif %} stays as it is: only include and render are known
    The agent file is valid.
    ");
}

#[test]
fn agents_that_refer_to_each_other_in_a_circle_are_named() {
    let scene = Scene::new();
    agent(&scene, "a.ai", &format!("{MODEL}\nagents: [b.ai]"), "Hi");
    agent(&scene, "b.ai", &format!("{MODEL}\nadvisors:\n- c.ai"), "Hi");
    agent(&scene, "c.ai", &format!("{MODEL}\nhandoff: a.ai"), "Hi");
    assert_snapshot!(problems(&scene, "a.ai"), @"error: c.ai:3: handoff: agents refer to each other in a circle: a.ai → b.ai → c.ai → a.ai");
    for at in 1..=9 {
        let front = format!("{MODEL}\nagents: [deep{}.ai]", at + 1);
        agent(&scene, &format!("deep{at}.ai"), &front, "Hi");
    }
    assert_snapshot!(problems(&scene, "deep1.ai"), @"error: deep8.ai:3: agents: agents are nested more than 8 deep");
    // One agent for two others is no circle, and read once.
    agent(&scene, "leaf.ai", MODEL, "Hi");
    agent(&scene, "left.ai", &format!("{MODEL}\nagents: [leaf.ai]"), "Hi");
    agent(&scene, "right.ai", &format!("{MODEL}\nagents: [leaf.ai]"), "Hi");
    agent(&scene, "top.ai", &format!("{MODEL}\nagents: [left.ai, right.ai]"), "Hi");
    assert_eq!(notices(&scene, "top.ai"), "The agent file is valid.\n");
    scene.write("project/more/leaf.ai", format!("---\n{MODEL}\n---\nHi\n"));
    agent(&scene, "same.ai", &format!("{MODEL}\nagents: [leaf.ai, more/leaf.ai]"), "Hi");
    assert_snapshot!(problems(&scene, "same.ai"), @r#"error: same.ai: leaf.ai and more/leaf.ai have the same name for tools, "leaf": give one of them another"#);
}

#[test]
fn problems_of_other_agents_are_reported_with_their_own_files() {
    let scene = Scene::new();
    scene
        .write("project/sub/b.ai", "---\nmodels: openai/gpt-4.1\nfoo: 1\n---\n{% include 'x' %}\n");
    agent(&scene, "a.ai", "models: openai/gpt-4.1\nagents: [sub/b.ai, sub/b.ai]\nbar: 1", "Hi");
    assert_snapshot!(problems(&scene, "a.ai"), @"
    error: a.ai:4: bar: unknown key; `recoup agents keys` lists all
    error: sub/b.ai:3: foo: unknown key; `recoup agents keys` lists all
    error: sub/b.ai:5: {% include 'x' %}: there is no file sub/x
    ");
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
    assert_snapshot!(problems(&scene, "own.md"), @"error: own.md: needs your trust, because of mcp_servers.fs, ${TEAM}: run `recoup trust own.md`");
    let said = scene.run(&["trust", "--yes", "own.md"]);
    assert_snapshot!(said.err, @"
    own.md sets:
      mcp_servers.fs = npx server (variables A)
      ${TEAM} = from the environment
    Trusted: own.md
    ");
    assert_eq!(notices(&scene, "own.md"), "The agent file is valid.\n");
    let unset = front.replace("topsecret", "'${UNSET}'");
    agent(&scene, "unset.md", &unset, "Hi");
    assert_eq!(scene.run(&["trust", "--yes", "unset.md"]).code, 0);
    assert_snapshot!(problems(&scene, "unset.md"), @"error: unset.md:4: mcp_servers.fs: env.A: the variable UNSET is not set");
    agent(&scene, "own.md", front, "For ${TEAM}, changed.");
    assert!(problems(&scene, "own.md").contains("recoup trust own.md"));
    // Without files everything in the project is asked about.
    let said = scene.run(&["trust", "--yes"]);
    assert!(said.err.contains("own.md has changed since you trusted it"), "{said:?}");
    assert_eq!(notices(&scene, "own.md"), "The agent file is valid.\n");
    let said = scene.run(&["trust", "--revoke"]);
    assert_eq!(said.err, "No longer trusted: own.md, unset.md\n");

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
    assert_snapshot!(problems(&scene, "a.ai"), @"
    error: a.ai: needs your trust, because of agents, include: run `recoup trust a.ai`
    error: a.ai:5: {% include '../outside.md' %}: ../outside.md is outside of the project [DIR]/project; only an agent file that you have trusted may name such files
    ");
    assert_snapshot!(scene.run(&["trust", "--yes", "a.ai"]).err, @"
    a.ai sets:
      agents = ../other.ai
      include = ../outside.md
    Trusted: a.ai
    ");
    assert_eq!(notices(&scene, "a.ai"), "The agent file is valid.\n");
    // What it includes is not bound by the trust in it.
    scene.write("project/inner.md", "{% include '../outside.md' %}");
    agent(&scene, "b.ai", MODEL, "{% include 'inner.md' %}");
    let said = scene.run(&["trust", "--yes", "b.ai"]);
    assert_eq!((said.code, said.err), (2, problems(&scene, "b.ai")));
    assert_snapshot!(problems(&scene, "b.ai"), @"error: inner.md:1: {% include '../outside.md' %}: ../outside.md is outside of the project [DIR]/project; only an agent file that you have trusted may name such files");
}

#[test]
fn the_page_about_agent_files_has_every_key() {
    let said = Scene::new().run(&["agents", "keys", "--json"]);
    let keys: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/src/agent-files.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = |dialect: &str| {
        let heading = match dialect {
            "recoup" => "## Our own files".to_owned(),
            other => format!("## `{other}` files"),
        };
        let start = page.find(&heading).unwrap() + heading.len();
        page[start..].split("\n## ").next().unwrap()
    };
    for key in &keys {
        let text = |name: &str| key[name].as_str().unwrap();
        let row = format!("\n| `{}` | {} | ", text("key"), text("takes"));
        assert!(section(text("dialect")).contains(&row), "{row}");
    }
    assert_eq!(page.matches("\n| `").count(), keys.len() + 2, "and no other");
}
