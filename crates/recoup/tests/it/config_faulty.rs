//! A repository's file with a fault stops nobody; the user's own stops only what needs it.

use crate::config_support::{Said, Scene};

const TYPO: &str = "x = 1\n[cache]\nttl = '1h'\n";
const WARNING: &str = "warning: ignoring recoup.toml as a whole: line 1: x: unknown key";

/// The commands that protect the user, as they are typed.
fn protecting(id: &str) -> [Vec<&str>; 10] {
    [
        vec!["pause", "1h"],
        vec!["pause", "--project"],
        vec!["resume"],
        vec!["resume", "--project"],
        vec!["memory", "list"],
        vec!["memory", "retire", id],
        vec!["memory", "restore", id],
        vec!["memory", "forget", "--yes", id],
        vec!["config", "show"],
        vec!["uninstall", "--yes"],
    ]
}

fn remember(scene: &Scene) -> String {
    let said = scene.run(&["memory", "add", "use pnpm", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let note: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    note["id"].as_str().unwrap_or_else(|| note["note"]["id"].as_str().unwrap()).to_owned()
}

#[track_caller]
fn fine(said: Said) -> Said {
    assert_eq!(said.code, 0, "{said:?}");
    said
}

#[test]
fn a_fault_in_a_repositorys_file_is_a_warning_and_the_file_is_left_out() {
    for (file, text) in [
        ("recoup.toml", TYPO),
        ("recoup.toml", "[cache]\nttl = 'soon'\nenabled = false\n"),
        ("recoup.toml", "[[["),
        (".loa.config.yaml", "recursive_jit:\n  cache:\n    enabled: false\n    tll: 1\n"),
        (".ai-agent.json", r#"{"cache": {"maxEntries": 0}}"#),
    ] {
        let scene = Scene::new();
        scene.write(&format!("project/{file}"), text);
        let said = fine(scene.run(&["cache", "set", "--key", "k", "--condensed", "1"]));
        assert!(said.err.contains(&format!("ignoring {file} as a whole: ")), "{said:?}");
        assert_eq!(fine(scene.run(&["cache", "get", "--key", "k"])).out, "1\n");
        let said = fine(scene.run(&["exec", "--", "/bin/echo", "ran"]));
        assert_eq!(said.out, "ran\n", "{file}: {text}");
        assert_eq!(scene.value("cache.ttl"), "30d", "{file}: {text}");
        assert_eq!(scene.value("cache.enabled"), true, "{file}: {text}");
        assert!(scene.problems().contains(file), "config check still finds it");
    }
}

#[test]
fn a_warning_says_where_the_fault_is_and_how_many_more_there_are() {
    let scene = Scene::new();
    scene.project("[[[");
    let said = scene.run(&["memory", "list"]);
    assert!(said.err.contains("ignoring recoup.toml as a whole: line 1, column 3: "), "{said:?}");
    scene.project("x = 1\ny = 2\n");
    let said = scene.run(&["memory", "list"]);
    assert!(said.err.contains("(1 more: `recoup config check`)"), "{said:?}");
}

#[test]
fn what_protects_the_user_works_whatever_a_repository_says() {
    let scene = Scene::new();
    let id = remember(&scene);
    scene.project(TYPO);
    for args in protecting(&id) {
        let said = fine(scene.run(&args));
        assert!(args[0] == "uninstall" || said.err.contains(WARNING), "{args:?}: {said:?}");
    }
}

#[test]
fn what_protects_the_user_works_without_the_users_own_file_and_the_rest_does_not() {
    let mut scene = Scene::new();
    let id = remember(&scene);
    scene.user("x = 1\n");
    scene.env("RECOUP_CACHE_TTL", "soon");
    for args in protecting(&id).iter().take(9) {
        let said = fine(scene.run(args));
        assert!(
            said.err.contains("home/config.toml as a whole: line 1: x: unknown key"),
            "{args:?}: {said:?}"
        );
        assert!(said.err.contains("ignoring RECOUP_CACHE_TTL: "), "{args:?}: {said:?}");
    }
    for (args, code) in [
        (&["cache", "get", "--key", "k"][..], 2),
        (&["exec", "--", "true"], 125),
        (&["memory", "add", "y"], 2),
    ] {
        let said = scene.run(args);
        assert_eq!(said.code, code, "{args:?}: {said:?}");
    }
    let said = scene.run(&["memory", "promote", "7khwnwww"]);
    assert!(said.err.contains("no such memory: 7khwnwww"), "memory was asked: {said:?}");
    assert!(scene.problems().contains("config.toml:1: x"));
    let doctor = scene.run(&["doctor"]);
    assert!(doctor.err.contains("config.toml:1: x") || doctor.out.contains("config.toml:1: x"));
}

#[test]
fn a_faulty_file_is_not_trusted() {
    let scene = Scene::new();
    scene.project("store = 'sqlite:data/cache.db'\nx = 1\n");
    let said = fine(scene.run(&["trust", "--yes"]));
    assert!(
        said.err.contains("ignoring recoup.toml as a whole: line 2: x: unknown key"),
        "{said:?}"
    );
    assert!(!said.err.contains("Trusted"), "{said:?}");
}
