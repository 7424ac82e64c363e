//! Configuration of cached tool calls: where it may stand, who wins, what needs trust, and how
//! mistakes are told.

use insta::assert_snapshot;
use serde_json::Value;

use crate::config_support::Scene;

/// The rows of `config show` about tool calls.
fn rows(scene: &Scene) -> Vec<Value> {
    let said = scene.run(&["config", "show", "--origin", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let rows: Vec<Value> = serde_json::from_str(&said.out).unwrap();
    let is_tool = |row: &Value| {
        let key = row["key"].as_str().unwrap();
        key.starts_with("mcpServers") || key.starts_with("restTools")
    };
    rows.into_iter().filter(is_tool).collect()
}

/// `KEY = VALUE (PLACE), VALUE why (PLACE)…`, a line for each row.
fn shown(scene: &Scene) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let line = |row: &Value| {
        let place = |origin: &Value| text(&origin["place"]);
        let mut words = vec![format!("{} = {}", text(&row["key"]), text(&row["value"]))];
        if !row["origin"].is_null() {
            words[0] = format!("{} ({})", words[0], place(&row["origin"]));
        }
        words.extend(row["others"].as_array().unwrap().iter().map(|other| {
            let (value, why) = (text(&other["value"]), text(&other["why"]));
            format!("{value} {why} ({})", place(&other["origin"]))
        }));
        words.join(", ")
    };
    rows(scene).iter().map(line).collect::<Vec<_>>().join("\n")
}

const USER: &str = r#"
[mcpServers.github]
cache = "5m"
readOnlyTools = true
neverCache = ["get_quote"]
credentials = ["GITHUB_TOKEN"]
[mcpServers.github.toolsCache]
search_code = "1h"
"get_*" = 60000
"resources/read" = "off"
[mcpServers.github.toolsCache.read_file]
ttl = "forever"
sources = ["{path}", "src/**/*.rs", "git:HEAD"]
invalidates = ["search_*"]
[mcpServers."*"]
readOnlyTools = "90s"
[restTools.weather]
cache = "10m"
"#;

#[test]
fn everything_that_is_set_is_shown() {
    let scene = Scene::new();
    assert_eq!(shown(&scene), "");
    scene.user(USER);
    assert_snapshot!(shown(&scene).replace("[DIR]/home/config.toml", "config.toml"), @r#"
    mcpServers."*".readOnlyTools = 90s (config.toml:16)
    mcpServers.github.cache = 5m (config.toml:3)
    mcpServers.github.credentials = ["GITHUB_TOKEN"] (config.toml:6)
    mcpServers.github.neverCache = ["get_quote"] (config.toml:5)
    mcpServers.github.readOnlyTools = 1m (config.toml:4)
    mcpServers.github.toolsCache."get_*" = 1m (config.toml:9)
    mcpServers.github.toolsCache."resources/read" = off (config.toml:10)
    mcpServers.github.toolsCache.read_file = { ttl = "forever", sources = ["{path}", "src/**/*.rs", "git:HEAD"], invalidates = ["search_*"] } (config.toml:11)
    mcpServers.github.toolsCache.search_code = 1h (config.toml:8)
    restTools.weather.cache = 10m (config.toml:18)
    "#);
}

#[test]
fn the_other_programs_blocks_are_its_own_but_for_the_cache_and_definitions() {
    let scene = Scene::new();
    scene.ai_agent(
        r#"{
            "mcpServers": {
                "github": {
                    "type": "stdio", "command": "npx", "args": ["-y", "server"], "env": {"A": "b"},
                    "cache": 300000, "toolsCache": {"search_code": "1h", "list_repos": "off"},
                    "readOnlyTools": "whatever", "neverCache": 7
                },
                "odd": "not a table"
            },
            "restTools": {"weather": {"url": "https://example.com", "cache": "10m"}, "odd": 1},
            "providers": [1, 2]
        }"#,
    );
    scene.trust();
    assert_snapshot!(shown(&scene), @"
    mcpServers.github = npx -y server (variables A) (.ai-agent.json)
    mcpServers.github.cache = 5m (.ai-agent.json)
    mcpServers.github.toolsCache.list_repos = off (.ai-agent.json)
    mcpServers.github.toolsCache.search_code = 1h (.ai-agent.json)
    restTools.weather = GET https://example.com (.ai-agent.json)
    restTools.weather.cache = 10m (.ai-agent.json)
    ");
}

#[test]
fn the_stronger_file_wins_and_lists_add_up() {
    let scene = Scene::new();
    scene.ai_agent(r#"{"mcpServers": {"s": {"cache": "1m"}}}"#);
    scene.user("[mcpServers.s]\ncache = '2m'\nneverCache = ['a']\n");
    scene.project("[mcpServers.s]\ncache = '3m'\nneverCache = ['b']\n");
    scene.trust();
    let shown = shown(&scene);
    assert_snapshot!(shown.replace("[DIR]/home/", ""), @r#"
    mcpServers.s.cache = 3m (recoup.toml:2), 2m overridden (config.toml:2), 1m overridden (.ai-agent.json)
    mcpServers.s.neverCache = ["b"] (recoup.toml:3)
    mcpServers.s.neverCache = ["a"] (config.toml:3)
    "#);
}

#[test]
fn a_repository_may_only_narrow_before_it_is_trusted() {
    let scene = Scene::new();
    scene.project(
        "[mcpServers.s]\ncache = 'off'\nreadOnlyTools = false\nneverCache = ['x']\n\
         credentials = ['A']\n[mcpServers.s.toolsCache]\na = '1h'\nb = 'off'\n\
         c = { ttl = 'off', invalidates = ['d'] }\n",
    );
    scene.ai_agent(r#"{"mcpServers": {"s": {"cache": "1h"}, "t": {"cache": "1h"}}}"#);
    assert_snapshot!(shown(&scene), @r#"
    mcpServers.s.cache = off (recoup.toml:2), 1h untrusted (.ai-agent.json)
    mcpServers.s.credentials = null, ["A"] untrusted (recoup.toml:5)
    mcpServers.s.neverCache = ["x"] (recoup.toml:4)
    mcpServers.s.readOnlyTools = off (recoup.toml:3)
    mcpServers.s.toolsCache.a = null, 1h untrusted (recoup.toml:7)
    mcpServers.s.toolsCache.b = off (recoup.toml:8)
    mcpServers.s.toolsCache.c = null, { ttl = "off", invalidates = ["d"] } untrusted (recoup.toml:9)
    mcpServers.t.cache = null, 1h untrusted (.ai-agent.json)
    "#);
    assert_snapshot!(scene.run(&["config", "check"]).err, @r"
    warning: ignored until you run `recoup trust`: .ai-agent.json (mcpServers.t.cache), recoup.toml (mcpServers.s.credentials, mcpServers.s.toolsCache.a, mcpServers.s.toolsCache.c) in this repository
    The configuration is valid.
    ");
    assert_snapshot!(scene.run(&["trust", "--yes"]).err, @r#"
    .ai-agent.json sets:
      mcpServers.s.cache = 1h
      mcpServers.t.cache = 1h
    recoup.toml sets:
      mcpServers.s.credentials = ["A"]
      mcpServers.s.toolsCache.a = 1h
      mcpServers.s.toolsCache.c = { ttl = "off", invalidates = ["d"] }
    Trusted: .ai-agent.json, recoup.toml
    "#);
    assert_eq!(scene.value("mcpServers.s.toolsCache.a"), "1h");
}

#[test]
fn mistakes_name_the_file_the_key_and_what_was_expected() {
    let scene = Scene::new();
    scene.user(
        r#"
[mcpServers.s]
cach = "5m"
cache = "5 min"
readOnlyTools = []
neverCache = "x"
credentials = ["A KEY"]
[mcpServers.s.toolsCache]
a = true
b = { tll = "1h" }
c = { ttl = -1, sources = ["~/x"], invalidates = [1] }
"d e" = "1h"
f = ["1h"]
[restTools]
r = "5m"
[restTools.q]
ttl = "5m"
"#,
    );
    scene.project("mcpServers = 5\n");
    scene.ai_agent(r#"{"mcpServers": {"github": {"toolsCache": {"search_code": "5 min"}}}}"#);
    assert_snapshot!(scene.problems(), @r#"
    error: .ai-agent.json: mcpServers.github.toolsCache.search_code: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got "5 min")
    error: [DIR]/home/config.toml:3: mcpServers.s.cach: unknown key; did you mean mcpServers.s.cache?
    error: [DIR]/home/config.toml:4: mcpServers.s.cache: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got "5 min")
    error: [DIR]/home/config.toml:5: mcpServers.s.readOnlyTools: expected 'off', 'forever', a number of milliseconds or a duration such as 5m (got a list)
    error: [DIR]/home/config.toml:6: mcpServers.s.neverCache: expected a list of tool names (got "x")
    error: [DIR]/home/config.toml:7: mcpServers.s.credentials: expected a list of variable names, and never a key itself
    error: [DIR]/home/config.toml:9: mcpServers.s.toolsCache.a: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got true)
    error: [DIR]/home/config.toml:10: mcpServers.s.toolsCache.b.tll: unknown key; did you mean mcpServers.s.toolsCache.b.ttl?
    error: [DIR]/home/config.toml:11: mcpServers.s.toolsCache.c.invalidates: expected a list of tool names
    error: [DIR]/home/config.toml:11: mcpServers.s.toolsCache.c.sources: expected a list of paths, globs, {argument} or git:HEAD, without ~ and ${…}
    error: [DIR]/home/config.toml:11: mcpServers.s.toolsCache.c.ttl: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got -1)
    error: [DIR]/home/config.toml:12: mcpServers.s.toolsCache."d e": expected the name of a tool, or a pattern
    error: [DIR]/home/config.toml:13: mcpServers.s.toolsCache.f: expected 'off', 'forever', a number of milliseconds or a duration such as 5m (got a list)
    error: [DIR]/home/config.toml:15: restTools.r: expected a table (got "5m")
    error: [DIR]/home/config.toml:17: restTools.q.ttl: unknown key; expected one of restTools.q.cache, restTools.q.description, restTools.q.method, restTools.q.url, restTools.q.headers, restTools.q.parametersSchema, restTools.q.bodyTemplate, restTools.q.timeout, restTools.q.queue
    error: recoup.toml:1: mcpServers: expected a table (got 5)
    "#);
}

#[test]
fn a_faulty_file_of_a_repository_is_left_out_as_a_whole() {
    let scene = Scene::new();
    scene.project("[mcpServers.s]\ncache = 'soon'\nneverCache = ['x']\n");
    assert_eq!(shown(&scene), "");
    let said = scene.run(&["cache", "stats"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("ignoring recoup.toml as a whole"), "{said:?}");
}
