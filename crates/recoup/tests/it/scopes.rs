//! Who shares an entry: a project with its clones and worktrees, a tenant, or
//! everyone; and nobody else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::{Home, finish};

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

/// A repository at `one`, with `src/a.rs` committed.
fn repository(home: &Home) -> PathBuf {
    let one = home.path("one");
    fs::create_dir_all(one.join("src")).unwrap();
    fs::write(one.join("src/a.rs"), "fn a() {}\n").unwrap();
    git(&one, &["init", "-q", "."]);
    git(&one, &["add", "."]);
    git(&one, &["commit", "-q", "-m", "first"]);
    one
}

const SET: [&str; 8] = ["cache", "set", "--key", "k", "--condensed", "1", "--sources", "src/a.rs"];
const GET: [&str; 4] = ["cache", "get", "--key", "k"];

#[test]
fn a_clone_and_a_worktree_share_while_their_contents_agree() {
    let home = Home::new();
    let one = repository(&home);
    git(&one, &["clone", "-q", ".", "../two"]);
    git(&one, &["worktree", "add", "-q", "../three"]);
    home.run_in(&one, &SET).expect(0);
    for other in ["two", "three"] {
        let other = home.path(other);
        home.run_in(&other, &GET).expect_hit("1");
        home.run_in(&other.join("src"), &GET).expect_hit("1");
        fs::write(other.join("src/a.rs"), "fn b() {}\n").unwrap();
        home.run_in(&other, &GET).expect_miss();
    }
    home.run_in(&one, &GET).expect_hit("1");
}

#[test]
fn two_folders_of_the_same_name_do_not_share() {
    let home = Home::new();
    let [a, b] = ["a/app", "b/app"].map(|name| home.path(name));
    for dir in [&a, &b] {
        fs::create_dir_all(dir).unwrap();
    }
    home.run_in(&a, &["cache", "set", "--key", "k", "--condensed", "1"]).expect(0);
    home.run_in(&a, &GET).expect_hit("1");
    home.run_in(&b, &GET).expect_miss();
}

#[test]
fn two_repositories_of_the_same_name_do_not_share() {
    let home = Home::new();
    for dir in ["a/app", "b/app"].map(|name| home.path(name)) {
        fs::create_dir_all(&dir).unwrap();
        git(&dir, &["init", "-q", "."]);
    }
    home.run_in(&home.path("a/app"), &["cache", "set", "--key", "k", "--condensed", "1"]).expect(0);
    home.run_in(&home.path("b/app"), &GET).expect_miss();
}

#[test]
fn the_same_key_in_two_scopes_is_two_entries() {
    let home = Home::new();
    let scopes = ["project", "global", "tenant:a", "tenant:b", "session:a"];
    for scope in scopes {
        let body = format!("\"{scope}\"");
        home.cache(&["set", "--scope", scope, "--key", "k", "--condensed", &body]).expect(0);
    }
    for scope in scopes {
        home.cache(&["get", "--key", "k", "--scope", scope]).expect_hit(format!("\"{scope}\""));
    }
    home.get("k").expect_hit("\"project\"");
    home.cache(&["delete", "--key", "k", "--scope", "tenant:a"]).expect(0);
    home.cache(&["get", "--key", "k", "--scope", "tenant:a"]).expect_miss();
    home.cache(&["get", "--key", "k", "--scope", "tenant:b"]).expect_hit("\"tenant:b\"");
}

#[test]
fn a_wider_scope_is_seen_from_every_folder() {
    let home = Home::new();
    fs::create_dir(home.path("elsewhere")).unwrap();
    home.cache(&["--scope", "global", "set", "--key", "k", "--condensed", "1"]).expect(0);
    let get = ["cache", "get", "--key", "k", "--scope", "global"];
    home.run_in(&home.path("elsewhere"), &get).expect_hit("1");
}

#[test]
fn the_environment_names_a_scope_and_the_flag_wins() {
    let home = Home::new();
    let run = |args: &[&str]| finish(home.command(args).env("RECOUP_SCOPE", "tenant:a"));
    run(&["cache", "set", "--key", "k", "--condensed", "1"]).expect(0);
    home.cache(&["get", "--key", "k", "--scope", "tenant:a"]).expect_hit("1");
    home.get("k").expect_miss();
    run(&["cache", "get", "--key", "k", "--scope", "global"]).expect_miss();
}

#[test]
fn a_project_s_scope_can_be_named_from_elsewhere() {
    let home = Home::new();
    home.set("k", "1");
    let shown = home.cache(&["show", "--key", "k", "--json"]).json();
    let scope = shown["scope"].as_str().unwrap();
    fs::create_dir(home.path("elsewhere")).unwrap();
    let get = ["cache", "get", "--key", "k", "--scope", scope];
    home.run_in(&home.path("elsewhere"), &get).expect_hit("1");
}

#[test]
fn a_scope_that_is_none_is_wrong_usage() {
    let home = Home::new();
    for scope in ["", "nobody", "tenant", "tenant:", "tenant:../x", "project:1", "Global"] {
        home.cache(&["get", "--key", "k", "--scope", scope])
            .expect_usage("expected project, global, tenant:NAME, session:NAME or project:ID");
    }
}
