//! `recoup config`, and that what is configured takes effect.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use insta::assert_snapshot;
use recoup::config::VARIABLES;
use serde_json::Value;

use crate::config_support::Scene;

#[test]
fn show_without_any_configuration() {
    let scene = Scene::new();
    assert_snapshot!(scene.run(&["config", "show"]).out, @"
    KEY                     VALUE
    store                   sqlite:[DIR]/home/cache.db
    scope                   project
    cache.enabled           true
    cache.max_size_mb       100
    cache.max_entries       (none)
    cache.ttl               30d
    cache.freshness         auto
    cache.max_source_files  50000
    cache.max_source_mb     2048
    cache.notes             (none)
    near.store              (none)
    near.ttl                30s
    early_exit.dir          (none)
    ledger.enabled          true
    log.hits                true
    judge.enabled           false
    judge.provider          anthropic
    judge.model             (none)
    judge.url               (none)
    judge.key_env           (none)
    judge.daily_tokens      100000
    judge.deadline          20s
    capture.headless        false
    record.allow            none
    record.deny             none
    rules.enforce           remind
    rules.enforce_headless  false
    replay.allow            false
    rules.sync              false
    skills.enabled          false
    skills.place            project
    peers.keep              none
    prices                  built-in, of 2025-11
    ");
    assert!(!scene.path("home").exists(), "looking has no side effects");
}

#[test]
fn show_says_where_everything_comes_from() {
    let mut scene = Scene::new();
    scene.loa("recursive_jit:\n  cache:\n    ttl_days: 3\n    max_size_mb: 5\n");
    scene.user("[cache]\nfreshness = 'content'\nttl = '4d'\n");
    scene.project("store = 'sqlite:p.db'\n\n[cache]\nmax_entries = 9\n");
    scene.env("RECOUP_CACHE_TTL", "12h");
    let said = scene.run(&["config", "show", "--origin", "--scope", "global"]);
    assert_snapshot!(squeezed(&said.out), @"
    KEY  VALUE  ORIGIN
    store  sqlite:[DIR]/home/cache.db  built-in
      sqlite:p.db  recoup.toml:1 (ignored: not trusted)
    scope  global  --scope
    cache.enabled  true  built-in
    cache.max_size_mb  100  built-in
      5  .loa.config.yaml:4 (ignored: for the project's own scope)
    cache.max_entries  (none)
      9  recoup.toml:4 (ignored: for the project's own scope)
    cache.ttl  12h  RECOUP_CACHE_TTL
      4d  [DIR]/home/config.toml:3 (overridden)
      3d  .loa.config.yaml:3 (overridden)
    cache.freshness  content  [DIR]/home/config.toml:2
    cache.max_source_files  50000  built-in
    cache.max_source_mb  2048  built-in
    cache.notes  (none)
    near.store  (none)
    near.ttl  30s  built-in
    early_exit.dir  (none)
    ledger.enabled  true  built-in
    log.hits  true  built-in
    judge.enabled  false  built-in
    judge.provider  anthropic  built-in
    judge.model  (none)
    judge.url  (none)
    judge.key_env  (none)
    judge.daily_tokens  100000  built-in
    judge.deadline  20s  built-in
    capture.headless  false  built-in
    record.allow  none  built-in
    record.deny  none  built-in
    rules.enforce  remind  built-in
    rules.enforce_headless  false  built-in
    replay.allow  false  built-in
    rules.sync  false  built-in
    skills.enabled  false  built-in
    skills.place  project  built-in
    peers.keep  none  built-in
    prices  built-in, of 2025-11  built-in
    ");
    assert_eq!(said.err, "", "what is in the table is not said twice");
}

/// Columns are as wide as a directory's name, which differs.
fn squeezed(table: &str) -> String {
    let mut squeezed = String::new();
    for line in table.lines() {
        let cells: Vec<_> = line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
        let indent = if line.starts_with(' ') { "  " } else { "" };
        writeln!(squeezed, "{indent}{}", cells.join("  ")).unwrap();
    }
    squeezed
}

#[test]
fn show_as_json() {
    let scene = Scene::new();
    scene.user("cache.ttl = '4d'\n");
    scene.project("cache.ttl = '5d'\n");
    let said = scene.run(&["config", "show", "--origin", "--json"]);
    let rows: Value = serde_json::from_str(&said.out).unwrap();
    assert_snapshot!(serde_json::to_string_pretty(&rows[5]).unwrap(), @r#"
    {
      "key": "cache.ttl",
      "origin": {
        "layer": "project",
        "place": "recoup.toml:1"
      },
      "others": [
        {
          "origin": {
            "layer": "user",
            "place": "[DIR]/home/config.toml:1"
          },
          "value": "4d",
          "why": "overridden"
        },
        {
          "origin": {
            "layer": "built-in",
            "place": "built-in"
          },
          "value": "30d",
          "why": "overridden"
        }
      ],
      "value": "5d"
    }
    "#);
    let said = scene.run(&["config", "show", "--json"]);
    let rows: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(rows[5], serde_json::json!({"key": "cache.ttl", "value": "5d"}));
}

#[test]
fn passwords_in_urls_are_never_shown() {
    let mut scene = Scene::new();
    scene.project("store = 'redis://me:hunter2@host/0'\n");
    let said = scene.run(&["config", "show", "--origin"]);
    assert!(said.out.contains("redis://***@host/0"), "{said:?}");
    scene.user("store = 'redis://me:hunter2@host/x'\n");
    scene.env("RECOUP_STORE", "redis+sentinel://me:hunter2@host/0");
    assert_snapshot!(scene.problems(), @r#"
    error: [DIR]/home/config.toml:1: store: invalid store "redis://***@host/x": the database "x" is not a number
    error: RECOUP_STORE: invalid store "redis+sentinel://***@host/0": unknown scheme "redis+sentinel"; expected sqlite:PATH, file:DIR, dir:DIR, redis://HOST, rediss://HOST or redis+cluster://HOST
    "#);
}

#[test]
fn path_is_where_the_file_belongs() {
    let scene = Scene::new();
    assert_eq!(scene.run(&["config", "path"]).out, "[DIR]/home/config.toml\n");
    scene.user("broken");
    scene.write("project/src/lib.rs", "");
    let said = scene.run_in("project/src", &["config", "path", "--project"]);
    assert_eq!(said.out, "[DIR]/project/recoup.toml\n");
}

fn documentation(page: &str) -> String {
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    fs::read_to_string(pages.join(page)).unwrap()
}

#[test]
fn the_configuration_page_has_every_key() {
    let keys = Scene::new().run(&["config", "keys", "--json"]).out;
    let keys: Vec<Value> = serde_json::from_str(&keys).unwrap();
    let mut table = String::new();
    for key in &keys {
        let text = |name: &str| key[name].as_str().unwrap_or("none").to_owned();
        let repository = text("repository");
        let (name, takes, meaning) = (text("key"), text("takes"), text("meaning"));
        let default = text("default");
        let variable = key["variable"].as_str().map_or("none".to_owned(), |it| format!("`{it}`"));
        writeln!(
            table,
            "| `{name}` | {takes} | {default} | {variable} | {repository} | {meaning} |"
        )
        .unwrap();
    }
    let heading = "| key | takes | default | variable | a repository may set it | meaning |";
    let table = format!("{heading}\n|---|---|---|---|---|---|\n{table}\n");
    assert!(documentation("configuration.md").contains(&table), "it should be\n{table}");
}

#[test]
fn every_key_is_described_below_its_whole_name() {
    let text = Scene::new().run(&["config", "keys"]).out;
    let lines: Vec<&str> = text.lines().collect();
    let at = lines.iter().position(|line| line.starts_with("cache.ttl ")).unwrap();
    assert_snapshot!(lines[at..at + 3].join("\n"), @"
    cache.ttl               how long results are kept unless `set --ttl` says otherwise
                            takes: a duration such as 12h, 30d, forever or off
                            default: 30d; variable: RECOUP_CACHE_TTL
    ");
    assert!(lines.iter().any(|line| line.starts_with("prices ")), "{text}");
}

#[test]
fn the_environment_page_has_every_variable() {
    let mut table = "| variable | meaning |\n|---|---|\n".to_owned();
    for variable in VARIABLES {
        writeln!(table, "| `{}` | {} |", variable.name, variable.meaning).unwrap();
    }
    assert!(documentation("environment.md").ends_with(&table), "it should be\n{table}");
}

/// Strictness ends where another program's own business begins.
#[test]
fn a_disabled_cache_gives_nothing_and_keeps_nothing() {
    let scene = Scene::new();
    scene.run(&["cache", "set", "--key", "k", "--condensed", "1"]);
    scene.project("cache.enabled = false\n");
    let said = scene.run(&["cache", "get", "--key", "k", "--json"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.out, @r#"
    {
      "status": "disabled",
      "key": "k"
    }
    "#);
    let said = scene.run(&["cache", "set", "--key", "other", "--condensed", "not JSON"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert_snapshot!(said.err, @r"warning: the cache is switched off: nothing was stored");
    scene.project("");
    assert_eq!(scene.run(&["cache", "get", "--key", "k"]).code, 0);
    assert_eq!(scene.run(&["cache", "get", "--key", "other"]).code, 1);
}

#[test]
fn the_ttl_limits_and_freshness_reach_the_cache() {
    let scene = Scene::new();
    scene.user("[cache]\nttl = '2h'\nmax_entries = 1\nmax_size_mb = 0.01\nfreshness = 'content'\n");
    scene.write("project/a.txt", "same");
    for key in ["one", "two"] {
        let said =
            scene.run(&["cache", "set", "--key", key, "--condensed", "1", "--sources", "a.txt"]);
        assert_eq!(said.code, 0, "{said:?}");
    }
    scene.write("project/a.txt", "same");
    let listed: Vec<Value> =
        serde_json::from_str(&scene.run(&["cache", "ls", "--json"]).out).unwrap();
    assert_eq!(listed.len(), 1, "the other had to go");
    assert!(scene.run(&["cache", "ls"]).out.contains("in 2h"));
    assert_eq!(scene.run(&["cache", "get", "--key", "two"]).code, 0, "touched, but the same");
    let large = format!("{:?}", (0..9999).map(|n| n * 7919).collect::<Vec<_>>());
    let said = scene.run(&["cache", "set", "--key", "three", "--condensed", &large]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("more than the limit of 10485"), "{said:?}");
    let said = scene.run(&["cache", "set", "--key", "four", "--condensed", "1", "--ttl", "3d"]);
    assert_eq!(said.code, 0);
    assert!(scene.run(&["cache", "ls"]).out.contains("in 3d"));
}

/// A key depends on nothing but its parts, not even on a configuration that can be read.
#[test]
fn keys_need_no_configuration() {
    let scene = Scene::new();
    scene.project("broken");
    let parts = ["--paths", "a", "--query", "q", "--operation", "o"];
    for command in [&["cache", "generate-key"], &["key", "result"]] {
        let said = scene.run(&[&command[..], &parts].concat());
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    }
}
