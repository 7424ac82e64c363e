//! A repository is not the user: what its files may say, what only with the
//! user's consent, and how that is given and taken back.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use insta::assert_snapshot;
use serde_json::Value;

use crate::config_support::Scene;

const ELSEWHERE: &str = "store = 'sqlite:data/cache.db'\n";

fn set(scene: &Scene) {
    let said = scene.run(&["cache", "set", "--key", "k", "--condensed", "1"]);
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn an_untrusted_store_is_ignored_with_one_warning() {
    let scene = Scene::new();
    scene.project("store = 'sqlite:data/cache.db'\nscope = 'global'\ncache.ttl = '1h'\n");
    scene.ai_agent(r#"{"cache": {"sqlite": {"path": "a.db"}}}"#);
    let said = scene.run(&["cache", "set", "--key", "k", "--condensed", "1"]);
    assert_eq!(said.code, 0);
    assert_snapshot!(said.err, @r"
    warning: ignored until you run `recoup trust`: .ai-agent.json (cache.sqlite.path), recoup.toml (store, scope) in this repository
    Cached result for key: k
    ");
    let said = scene.run(&["cache", "get", "--key", "k"]);
    assert_eq!((said.code, said.out.as_str()), (0, "1\n"));
    assert_eq!(said.err.matches("warning").count(), 1, "{said:?}");
    assert!(scene.path("home/cache.db").exists());
    assert!(!scene.path("project/data").exists() && !scene.path("project/a.db").exists());
    assert_eq!(scene.value("scope"), "project");
    assert_eq!(scene.value("cache.ttl"), "1h");
}

#[test]
fn there_is_no_warning_about_what_would_not_count_anyway() {
    let mut scene = Scene::new();
    scene.project(ELSEWHERE);
    scene.env("RECOUP_STORE", "sqlite:/nowhere/cache.db");
    assert_eq!(scene.run(&["config", "check"]).err, "The configuration is valid.\n");
}

#[test]
fn what_is_trusted_takes_effect() {
    let scene = Scene::new();
    scene.project(ELSEWHERE);
    let said = scene.run(&["trust", "--yes"]);
    assert_snapshot!(said.err, @r"
    recoup.toml sets:
      store = sqlite:data/cache.db
    Trusted: recoup.toml
    ");
    set(&scene);
    assert!(scene.path("project/data/cache.db").exists());
    assert!(!scene.path("home/cache.db").exists());
    let mode = |name: &str| scene.path(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("home/trust.json"), mode("home/trusted")), (0o600, 0o700));
    assert_snapshot!(scene.run(&["trust"]).err, @"Nothing in this repository needs your trust.");
}

#[test]
fn trust_is_never_granted_by_accident() {
    let scene = Scene::new();
    scene.project(ELSEWHERE);
    let said = scene.run(&["trust"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.err, @r"
    recoup.toml sets:
      store = sqlite:data/cache.db
    error: not trusted: cannot ask for confirmation without a terminal
    hint: use `recoup trust --yes` to confirm
    ");
    assert_eq!(scene.run(&["trust", "--json"]).code, 1);
    assert!(!scene.path("home").exists());
}

#[test]
fn a_change_asks_again_and_shows_the_difference() {
    let scene = Scene::new();
    scene.project("store = 'sqlite:data/cache.db'\n\n[cache]\nttl = '1d'\n");
    scene.trust();
    scene.project("store = 'sqlite:evil/cache.db'\n\n[cache]\nttl = '1d'\n");
    assert_snapshot!(scene.run(&["cache", "get", "--key", "k"]).err, @r"
    warning: ignored until you run `recoup trust`: recoup.toml (store, changed since you trusted it) in this repository
    miss: no entry for this key
    ");
    let said = scene.run(&["trust"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.err, @r"
    recoup.toml has changed since you trusted it, and now sets:
      store = sqlite:evil/cache.db
    --- trusted
    +++ now
    @@ -1,4 +1,4 @@
    -store = 'sqlite:data/cache.db'
    +store = 'sqlite:evil/cache.db'
     
     [cache]
     ttl = '1d'
    error: not trusted: cannot ask for confirmation without a terminal
    hint: use `recoup trust --yes` to confirm
    ");
    scene.trust();
    assert_eq!(scene.value("store"), "sqlite:[DIR]/project/evil/cache.db");
    assert_eq!(fs::read_dir(scene.path("home/trusted")).unwrap().count(), 1);
}

#[test]
fn trust_is_listed_and_taken_back() {
    let scene = Scene::new();
    assert_eq!(scene.run(&["trust", "--list"]).err, "Nothing is trusted.\n");
    assert_eq!(scene.run(&["trust", "--revoke"]).err, "Nothing was trusted in [DIR]/project\n");
    assert!(!scene.path("home").exists());
    scene.project(ELSEWHERE);
    scene.trust();
    let listed: Value =
        serde_json::from_str(&scene.run(&["trust", "--list", "--json"]).out).unwrap();
    assert_eq!(listed[0]["root"], "[DIR]/project");
    assert_eq!(listed[0]["file"], "recoup.toml");
    assert!(scene.run(&["trust", "--list"]).out.contains("[DIR]/project  recoup.toml  20"));
    assert_eq!(scene.run(&["trust", "--revoke"]).err, "No longer trusted: recoup.toml\n");
    assert_eq!(scene.value("store"), "sqlite:[DIR]/home/cache.db");
    assert_eq!(fs::read_dir(scene.path("home/trusted")).unwrap().count(), 0);
}

#[test]
fn json_says_the_same() {
    let scene = Scene::new();
    scene.project(ELSEWHERE);
    let said = scene.run(&["trust", "--json"]);
    assert_snapshot!(said.out, @r#"
    {
      "root": "[DIR]/project",
      "trusted": false,
      "files": [
        {
          "file": "recoup.toml",
          "state": "new",
          "sha256": "0d461ce2310ce4204b38ce89917bb6e5af436fae7009f62071c4d9477e834b3c",
          "says": [
            {
              "key": "store",
              "value": "sqlite:data/cache.db"
            }
          ]
        }
      ]
    }
    "#);
    scene.trust();
    let said = scene.run(&["trust", "--revoke", "--json"]);
    assert_snapshot!(said.out, @r#"
    {
      "root": "[DIR]/project",
      "revoked": [
        "recoup.toml"
      ]
    }
    "#);
}

/// Which variables are read is the user's to decide: `${VAR}` could carry a
/// secret into a path.
#[test]
fn a_repository_reads_variables_only_with_trust() {
    let mut scene = Scene::new();
    scene.env("KEEP", "5h");
    scene.project("cache.ttl = '${KEEP}'\n");
    scene.loa("recursive_jit:\n  cache:\n    ttl_days: ${DAYS}\n");
    assert_snapshot!(scene.run(&["config", "check"]).err, @r"
    warning: ignored until you run `recoup trust`: .loa.config.yaml (recursive_jit.cache.ttl_days), recoup.toml (cache.ttl) in this repository
    The configuration is valid.
    ");
    assert_eq!(scene.value("cache.ttl"), "30d");
    scene.env("DAYS", "9");
    scene.trust();
    assert_eq!(scene.value("cache.ttl"), "5h");
}

/// The text decides, wherever a link leads to it.
#[test]
fn a_link_is_trusted_by_what_it_leads_to() {
    let scene = Scene::new();
    scene.write("shared.toml", ELSEWHERE);
    symlink(scene.path("shared.toml"), scene.path("project/recoup.toml")).unwrap();
    assert_eq!(scene.value("store"), "sqlite:[DIR]/home/cache.db");
    scene.trust();
    assert_eq!(scene.value("store"), "sqlite:[DIR]/project/data/cache.db");
    scene.write("shared.toml", "store = 'sqlite:other.db'\n");
    assert_eq!(scene.value("store"), "sqlite:[DIR]/home/cache.db");
}

/// The same file in another repository is another matter.
#[test]
fn trust_is_for_one_repository() {
    let scene = Scene::new();
    scene.project(ELSEWHERE);
    scene.trust();
    scene.write("other/.git/HEAD", "ref: refs/heads/main\n");
    scene.write("other/recoup.toml", ELSEWHERE);
    let said = scene.run_in("other", &["config", "show"]);
    assert!(said.out.contains("sqlite:[DIR]/home/cache.db"), "{said:?}");
}

#[test]
fn a_damaged_ledger_trusts_nothing_and_is_left_alone() {
    let scene = Scene::new();
    scene.project(ELSEWHERE);
    scene.trust();
    scene.write("home/trust.json", "{");
    let said = scene.run(&["cache", "get", "--key", "k"]);
    assert_eq!(said.code, 1);
    assert_snapshot!(said.err, @r"
    warning: ignored until you run `recoup trust`: recoup.toml (store) in this repository; [DIR]/home/trust.json is damaged; remove it to start over: EOF while parsing an object at line 1 column 1
    miss: no entry for this key
    ");
    assert_eq!(scene.run(&["trust", "--yes"]).code, 1);
    assert_eq!(fs::read_to_string(scene.path("home/trust.json")).unwrap(), "{");
}

#[test]
fn a_terminal_is_not_made_to_obey() {
    let scene = Scene::new();
    scene.project("store = \"sqlite:\\u001b[2Jx\"\n");
    let said = scene.run(&["trust"]);
    assert!(said.err.contains(r"sqlite:\u{1b}[2Jx"), "{said:?}");
}

/// Another program's Redis store is ours once the user agrees, with all its parts.
#[test]
fn redis_as_another_program_describes_it() {
    let mut scene = Scene::new();
    scene.ai_agent(
        r#"{"cache": {"backend": "redis", "sqlite": {"path": "x.db"}, "redis": {
            "url": "redis://me:hunter2@host", "password": "${REDIS_PASSWORD}",
            "database": 3, "keyPrefix": "agents"}}}"#,
    );
    let store = |scene: &Scene| {
        let said = scene.run(&["config", "show", "--origin"]);
        assert!(!said.out.contains("hunter2") && !said.out.contains("opensesame"), "{said:?}");
        said.out.lines().find(|line| line.trim_start().starts_with("store")).unwrap().to_owned()
    };
    assert!(store(&scene).contains("sqlite:"), "not before it is trusted: {}", store(&scene));
    scene.trust();
    assert_snapshot!(scene.problems(), @"error: .ai-agent.json: cache.backend: the variable REDIS_PASSWORD is not set");
    scene.env("REDIS_PASSWORD", "opensesame");
    assert!(store(&scene).contains("redis://***@host:6379/3?prefix=agents"), "{}", store(&scene));
}

#[test]
fn the_parts_of_another_programs_redis_are_checked_without_showing_them() {
    let scene = Scene::new();
    let parts = [
        r#""url": "redis://me:hunter2@host:99999""#,
        r#""url": "redis://me:hunter2@host", "keyPrefix": "a{b}""#,
        r#""url": "redis+cluster://me:hunter2@host", "database": 3"#,
        r#""url": "mongodb://me:hunter2@host""#,
    ];
    let mut said = String::new();
    for part in parts {
        scene.ai_agent(&format!(r#"{{"cache": {{"backend": "redis", "redis": {{{part}}}}}}}"#));
        scene.trust();
        said += &scene.problems();
    }
    assert_snapshot!(said, @r#"
    error: .ai-agent.json: cache.backend: invalid store "redis://***@host:99999": the port of "host" is not a number from 1 to 65535
    error: .ai-agent.json: cache.backend: the prefix "a{b}" is not 1 to 64 characters of A-Z a-z 0-9 . _ : -
    error: .ai-agent.json: cache.backend: a cluster has no databases; use the option prefix
    error: .ai-agent.json: cache.backend: invalid store "mongodb://***@host": unknown scheme "mongodb"
    "#);
}
