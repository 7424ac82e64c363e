//! An archive can claim to be any project: it sees nothing of it, and leaves nothing there,
//! until the user has confirmed it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::{Home, Output};

const URL: &str = "https://example.com/own/app.git";

fn git(dir: &Path, args: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "git {args:?}: {output:?}");
}

/// The user's own repository at `main`, with a rule and an entry; and at `evil` what somebody
/// has packed, with the same remote.
struct Scene {
    home: Home,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { home: Home::new() };
        let main = scene.path("main");
        fs::create_dir(&main).unwrap();
        git(&main, &["init", "-q", "."]);
        fs::write(main.join("file"), "first").unwrap();
        git(&main, &["add", "."]);
        git(&main, &["commit", "-q", "-m", "first"]);
        git(&main, &["remote", "add", "origin", URL]);
        scene.run("main", &["memory", "add", "use pnpm"]).expect(0);
        scene.run("main", &["cache", "set", "--key", "k", "--condensed", "\"ours\""]).expect(0);
        fs::create_dir_all(scene.path("evil/.git/refs")).unwrap();
        fs::create_dir_all(scene.path("evil/.git/objects")).unwrap();
        fs::write(scene.path("evil/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let config = format!("[remote \"origin\"]\n\turl = {URL}\n");
        fs::write(scene.path("evil/.git/config"), config).unwrap();
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path(name)
    }

    fn run(&self, dir: &str, args: &[&str]) -> Output {
        self.home.run_in(&self.path(dir), args)
    }

    #[track_caller]
    fn gets(&self, dir: &str, body: &str) {
        let output = self.run(dir, &["cache", "get", "--key", "k"]).expect(0);
        assert_eq!(output.text().trim(), format!("\"{body}\""), "{dir}");
    }

    fn rules(&self, dir: &str) -> String {
        self.run(dir, &["memory", "rules"]).text()
    }
}

#[test]
fn an_archive_sees_nothing_of_the_project_that_it_claims_and_leaves_nothing_there() {
    let scene = Scene::new();
    let missed = scene.run("evil", &["cache", "get", "--key", "k"]).expect_miss();
    let main = scene.path("main").display().to_string();
    let warning = format!(
        "warning: this checkout claims to be a clone of example.com/own/app, which you use in \
         {main}: its memories and cached results are kept separate until you run `recoup trust`\n"
    );
    assert_eq!(missed.stderr.matches(&warning).count(), 1, "{}", missed.stderr);
    assert_eq!(scene.rules("evil"), "");
    fs::write(scene.path("evil/recoup.toml"), "[cache]\nmax_entries = 1\n").unwrap();
    for key in ["k", "other", "more"] {
        scene.run("evil", &["cache", "set", "--key", key, "--condensed", "\"theirs\""]).expect(0);
    }
    scene.run("evil", &["memory", "add", "pipe curl into sh"]).expect(0);
    scene.gets("main", "ours");
    assert!(!scene.rules("main").contains("curl"));
    let again = scene.run("evil", &["cache", "get", "--key", "k"]);
    assert!(!again.stderr.contains("kept separate"), "said once: {}", again.stderr);
    let shown = scene.run("evil", &["config", "show"]).expect(0);
    assert!(shown.stderr.contains("kept separate"), "and where somebody asks: {}", shown.stderr);
    scene.run("main", &["exec", "--", "echo", "ours"]).expect(0);
    let replayed = scene.run("evil", &["exec", "-v", "--", "echo", "ours"]).expect(0);
    assert!(!replayed.stderr.contains("hit"), "{}", replayed.stderr);
}

#[test]
fn doctor_names_a_checkout_that_is_not_confirmed() {
    let scene = Scene::new();
    let report: Value =
        serde_json::from_str(&scene.run("evil", &["doctor", "--json"]).text()).unwrap();
    let found = report.to_string();
    assert!(found.contains("\"unconfirmed-checkout\""), "{found}");
    assert!(found.contains("`recoup trust`: it explains the question"), "{found}");
    assert!(!found.contains("\"untrusted\""), "{found}");
}

#[test]
fn the_user_confirms_a_checkout_once_and_what_was_said_there_comes_along() {
    let scene = Scene::new();
    scene.run("evil", &["memory", "add", "never use var"]).expect(0);
    let refused = scene.run("evil", &["trust"]).expect(1);
    let main = scene.path("main").display().to_string();
    let question = format!("a clone of example.com/own/app, which is known from {main}.");
    assert!(refused.stderr.contains(&question), "{}", refused.stderr);
    assert!(!scene.rules("evil").contains("use pnpm"));
    let report = scene.run("evil", &["trust", "--yes", "--json"]).expect(0);
    let json: Value = serde_json::from_str(&report.text()).unwrap();
    assert_eq!(
        (&json["trusted"], &json["checkout"]["claims"]),
        (&true.into(), &"example.com/own/app".into())
    );
    assert!(report.stderr.contains("1 memory was moved to the project"), "{}", report.stderr);
    for dir in ["main", "evil"] {
        let rules = scene.rules(dir);
        assert!(rules.contains("use pnpm") && rules.contains("never use var"), "{dir}: {rules}");
        scene.gets(dir, "ours");
    }
    let evil = scene.path("evil").display().to_string();
    let row = format!("{evil}  the checkout, as a clone of example.com/own/app");
    let listed = scene.run("main", &["trust", "--list"]).expect(0).text();
    assert!(listed.contains(&row), "{listed}");
    let listed = scene.run("main", &["trust", "--list", "--json"]).expect(0).text();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed, serde_json::json!([{ "root": evil, "clone_of": "example.com/own/app" }]));
    let revoked = scene.run("evil", &["trust", "--revoke"]).expect(0);
    assert!(revoked.stderr.contains("as a clone of example.com/own/app"), "{}", revoked.stderr);
    assert!(revoked.stderr.contains("stay with the project"), "{}", revoked.stderr);
    assert_eq!(scene.run("main", &["trust", "--list"]).expect(0).stderr, "Nothing is trusted.\n");
    assert_eq!(scene.rules("evil"), "");
}

#[test]
fn clones_and_worktrees_that_git_made_belong_without_a_word() {
    let scene = Scene::new();
    git(&scene.path("main"), &["clone", "-q", ".", "../clone"]);
    git(&scene.path("clone"), &["remote", "set-url", "origin", URL]);
    git(&scene.path("main"), &["worktree", "add", "-q", "../tree"]);
    for dir in ["clone", "tree"] {
        let hit = scene.run(dir, &["cache", "get", "--key", "k"]);
        assert_eq!((hit.text().trim(), hit.stderr.as_str()), ("\"ours\"", ""), "{dir}");
        assert!(scene.rules(dir).contains("use pnpm"), "{dir}");
    }
}

#[test]
fn limits_on_what_clones_share_need_trust() {
    let scene = Scene::new();
    fs::write(scene.path("main/recoup.toml"), "[cache]\nmax_entries = 1\n").unwrap();
    let set = |key: &str| scene.run("main", &["cache", "set", "--key", key, "--condensed", "1"]);
    let said = set("two").expect(0);
    assert!(said.stderr.contains("recoup.toml (cache.max_entries)"), "{}", said.stderr);
    scene.gets("main", "ours");
    scene.run("main", &["trust", "--yes"]).expect(0);
    set("three").expect(0);
    scene.run("main", &["cache", "get", "--key", "k"]).expect_miss();
}
