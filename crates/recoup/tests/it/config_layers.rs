//! Who wins: every layer for every key, the weakest first.

use serde_json::{Value, json};

use crate::config_support::Scene;

/// Something that is said on top of what was said before.
enum Layer {
    Loa(&'static str),
    AiAgent(&'static str),
    User(&'static str),
    Project(&'static str),
    Variable(&'static str, &'static str),
}

use Layer::{AiAgent, Loa, Project, User, Variable};

/// Adds one layer after the other; each must win over those before it.
fn each_wins(key: &str, built_in: &Value, layers: &[(Layer, Value)]) {
    let mut scene = Scene::new();
    assert_eq!(scene.value(key), *built_in, "{key}, built in");
    for (layer, expected) in layers {
        match layer {
            Loa(yaml) => scene.loa(&format!("recursive_jit:\n  cache:\n    {yaml}\n")),
            AiAgent(json) => scene.ai_agent(&format!("{{\"cache\": {json}}}")),
            User(toml) => scene.user(toml),
            Project(toml) => scene.project(toml),
            Variable(name, value) => scene.env(name, value),
        }
        scene.trust();
        assert_eq!(scene.value(key), *expected, "{key}");
    }
}

#[test]
fn store() {
    each_wins(
        "store",
        &json!("sqlite:[DIR]/home/cache.db"),
        &[
            (AiAgent(r#"{"sqlite": {"path": "a.db"}}"#), json!("sqlite:[DIR]/project/a.db")),
            (User("store = 'sqlite:u.db'"), json!("sqlite:[DIR]/home/u.db")),
            (Project("store = 'sqlite:p.db'"), json!("sqlite:[DIR]/project/p.db")),
            (Variable("RECOUP_STORE", "sqlite:e.db"), json!("sqlite:[DIR]/project/e.db")),
        ],
    );
}

#[test]
fn scope() {
    each_wins(
        "scope",
        &json!("project"),
        &[
            (User("scope = 'tenant:user'"), json!("tenant:user")),
            (Project("scope = 'tenant:repository'"), json!("tenant:repository")),
            (Variable("RECOUP_SCOPE", "global"), json!("global")),
        ],
    );
}

#[test]
fn flags_win_over_everything() {
    let mut scene = Scene::new();
    scene.env("RECOUP_STORE", "sqlite:e.db");
    scene.env("RECOUP_SCOPE", "global");
    let flags = ["--store", "sqlite:f.db", "--scope", "session:s"];
    assert_eq!(scene.value_with("store", &flags), "sqlite:[DIR]/project/f.db");
    assert_eq!(scene.value_with("scope", &flags), "session:s");
}

#[test]
fn enabled() {
    each_wins(
        "cache.enabled",
        &json!(true),
        &[
            (Loa("enabled: false"), json!(false)),
            (User("cache.enabled = true"), json!(true)),
            (Project("cache.enabled = false"), json!(false)),
            (Variable("LOA_CACHE_ENABLED", "true"), json!(true)),
            (Variable("RECOUP_CACHE_ENABLED", "0"), json!(false)),
        ],
    );
}

#[test]
fn max_size_mb() {
    each_wins(
        "cache.max_size_mb",
        &json!(100),
        &[
            (Loa("max_size_mb: 1"), json!(1)),
            (User("cache.max_size_mb = 2"), json!(2)),
            (Project("cache.max_size_mb = 3.5"), json!(3.5)),
            (Variable("LOA_CACHE_MAX_SIZE_MB", "4"), json!(4)),
            (Variable("RECOUP_CACHE_MAX_SIZE_MB", "0.5"), json!(0.5)),
        ],
    );
}

#[test]
fn max_entries() {
    each_wins(
        "cache.max_entries",
        &Value::Null,
        &[
            (AiAgent(r#"{"maxEntries": 1}"#), json!(1)),
            (User("cache.max_entries = 2"), json!(2)),
            (Project("cache.max_entries = 3"), json!(3)),
            (Variable("RECOUP_CACHE_MAX_ENTRIES", "4"), json!(4)),
        ],
    );
}

#[test]
fn ttl() {
    each_wins(
        "cache.ttl",
        &json!("30d"),
        &[
            (Loa("ttl_days: 1.5"), json!("36h")),
            (User("cache.ttl = '2d'"), json!("2d")),
            (Project("cache.ttl = 'forever'"), json!("forever")),
            (Variable("LOA_CACHE_TTL_DAYS", "3"), json!("3d")),
            (Variable("RECOUP_CACHE_TTL", "off"), json!("off")),
        ],
    );
}

#[test]
fn freshness() {
    each_wins(
        "cache.freshness",
        &json!("auto"),
        &[
            (User("cache.freshness = 'content'"), json!("content")),
            (Project("cache.freshness = 'mtime'"), json!("mtime")),
            (Variable("RECOUP_CACHE_FRESHNESS", "content"), json!("content")),
        ],
    );
}

#[test]
fn notes() {
    each_wins(
        "cache.notes",
        &Value::Null,
        &[
            (User("cache.notes = '~/notes.md'"), json!("[DIR]/user/notes.md")),
            (Project("cache.notes = 'notes.md'"), json!("[DIR]/project/notes.md")),
            (Variable("RECOUP_CACHE_NOTES", "/n.md"), json!("/n.md")),
        ],
    );
}

/// A limit of a repository is for its own entries: it must not throw out what
/// others keep in a scope that they share.
#[test]
fn a_repositorys_limits_are_for_its_own_scope() {
    let scene = Scene::new();
    scene.project("[cache]\nmax_size_mb = 1\nmax_entries = 1\nttl = '1d'");
    let global = ["--scope", "global"];
    assert_eq!(scene.value("cache.max_size_mb"), 1);
    assert_eq!(scene.value_with("cache.max_size_mb", &global), 100);
    assert_eq!(scene.value_with("cache.max_entries", &global), Value::Null);
    assert_eq!(scene.value_with("cache.ttl", &global), "1d");
    scene.user("cache.max_entries = 7");
    assert_eq!(scene.value_with("cache.max_entries", &global), 7);
}

/// From a directory below the root, paths of the project's file start at the root.
#[test]
fn the_projects_files_are_found_from_below() {
    let scene = Scene::new();
    scene.project("store = 'sqlite:p.db'\ncache.ttl = '3h'");
    scene.write("project/src/lib.rs", "");
    scene.trust();
    let said = scene.run_in("project/src", &["config", "show"]);
    assert!(said.out.contains("sqlite:[DIR]/project/p.db"), "{said:?}");
    assert!(said.out.contains("3h"), "{said:?}");
}
