//! Whose rules hold where.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::{Talk, log};
use crate::support::{Home, RECOUP};

fn git(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(dir).args(args);
    command.env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", dir);
    for (name, value) in [("AUTHOR", "a"), ("COMMITTER", "a")] {
        command.env(format!("GIT_{name}_NAME"), value).env(format!("GIT_{name}_EMAIL"), "a@b.c");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn two_projects_of_one_folder_name_do_not_share_rules() {
    let home = Home::new();
    let (one, two) = (home.path("a/app"), home.path("b/app"));
    for dir in [&one, &two] {
        fs::create_dir_all(dir).unwrap();
        git(dir, &["init", "-q"]);
    }
    Talk::new(&home, "s1").within(&one).says("from now on use pnpm");
    Talk::new(&home, "s2").within(&one).tell("SessionStart-startup").has_rules(&["use pnpm"]);
    Talk::new(&home, "s3").within(&two).tell("SessionStart-startup").is_silent();
    let everywhere = Talk::new(&home, "s4").within(&one).says("in all my projects, never use var");
    assert_eq!(everywhere.notice, "recoup: will remember: never use var");
    Talk::new(&home, "s5").within(&two).tell("SessionStart-startup").has_rules(&["never use var"]);
}

#[test]
fn worktrees_and_folders_of_one_repository_share_rules() {
    let home = Home::new();
    let main = home.path("main");
    fs::create_dir_all(main.join("src")).unwrap();
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&main, &["worktree", "add", "-q", "../tree"]);
    Talk::new(&home, "s1").within(&main.join("src")).says("from now on use pnpm");
    let tree = home.path("tree");
    Talk::new(&home, "s2").within(&tree).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}

#[test]
fn a_repository_that_gets_a_remote_keeps_its_rules() {
    let home = Home::new();
    let main = home.path("main");
    fs::create_dir_all(&main).unwrap();
    Talk::new(&home, "s1").within(&main).says("from now on use pnpm");
    git(&main, &["init", "-q"]);
    let told = Talk::new(&home, "s2").within(&main).tell("SessionStart-startup");
    told.has_rules(&["use pnpm"]);
    assert_eq!(told.notice, "recoup: this folder is now a git repository: 1 memory was moved");
    git(&main, &["remote", "add", "origin", "https://example.com/own/app.git"]);
    let told = Talk::new(&home, "s3").within(&main).tell("SessionStart-startup");
    told.has_rules(&["use pnpm"]);
    assert_eq!(
        told.notice,
        "recoup: this project is now identified by its git remote: 1 memory was moved"
    );
    let told = Talk::new(&home, "s4").within(&main).tell("SessionStart-startup");
    assert_eq!(told.notice, "", "once");
}

#[test]
fn a_command_finds_what_was_said_before_there_was_a_remote() {
    let home = Home::new();
    let main = home.path("main");
    fs::create_dir_all(&main).unwrap();
    git(&main, &["init", "-q"]);
    let recoup = |args: &[&str]| {
        let output = home.command(args).current_dir(&main).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    recoup(&["memory", "add", "use pnpm"]);
    git(&main, &["remote", "add", "origin", "https://example.com/own/app.git"]);
    assert!(recoup(&["memory", "list"]).contains("use pnpm"));
}

#[test]
fn what_is_said_while_the_agent_is_in_a_repository_inside_counts_for_the_sessions_project() {
    let home = Home::new();
    let (main, inner) = (home.path("main"), home.path("main/vendor/lib"));
    fs::create_dir_all(&inner).unwrap();
    git(&main, &["init", "-q"]);
    git(&inner, &["init", "-q"]);
    Talk::new(&home, "s1").within(&main).tell("SessionStart-startup").is_silent();
    Talk::new(&home, "s1").within(&inner).says("from now on use pnpm");
    Talk::new(&home, "s2").within(&main).tell("SessionStart-startup").has_rules(&["use pnpm"]);
    let own = Talk::new(&home, "s3").within(&inner);
    own.tell("SessionStart-startup").is_silent();
    own.says("never use var");
    Talk::new(&home, "s4")
        .within(&inner)
        .tell("SessionStart-startup")
        .has_rules(&["never use var"]);
}

#[test]
fn a_directory_that_is_gone_is_no_reason_to_be_silent() {
    let home = Home::new();
    super::add(&home, &["--universal", "use pnpm"]);
    let gone = home.path("gone");
    Talk::new(&home, "s1").within(&gone).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}

#[test]
fn what_is_said_in_a_removed_directory_counts_for_its_repository() {
    let home = Home::new();
    let main = home.path("main");
    fs::create_dir_all(main.join("src/old")).unwrap();
    git(&main, &["init", "-q"]);
    let inside = Talk::new(&home, "s1").within(&main.join("src/old"));
    fs::remove_dir(main.join("src/old")).unwrap();
    assert_eq!(inside.says("from now on use pnpm").notice, "recoup: will remember: use pnpm");
    Talk::new(&home, "s2").within(&main).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}

#[test]
fn what_is_said_in_a_removed_worktree_counts_for_the_sessions_project() {
    let home = Home::new();
    let main = home.path("main");
    fs::create_dir_all(&main).unwrap();
    git(&main, &["init", "-q"]);
    git(&main, &["commit", "-q", "--allow-empty", "-m", "x"]);
    git(&main, &["worktree", "add", "-q", "../tree"]);
    let talk = Talk::new(&home, "s1").within(&home.path("tree"));
    talk.tell("SessionStart-startup").is_silent();
    git(&main, &["worktree", "remove", "../tree"]);
    assert_eq!(talk.says("from now on use pnpm").notice, "recoup: will remember: use pnpm");
    Talk::new(&home, "s2").within(&main).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}

#[test]
fn a_hook_that_is_started_in_a_removed_directory_does_its_work() {
    let home = Home::new();
    let (main, gone) = (home.path("main"), home.path("main/gone"));
    fs::create_dir_all(&gone).unwrap();
    git(&main, &["init", "-q"]);
    let talk = Talk::new(&home, "s1").within(&gone);
    let said = json!({"prompt": "from now on use pnpm"});
    let payload = talk.payload("UserPromptSubmit", said).to_string();
    // The shell is there before its directory goes.
    let script = "rmdir \"$PWD\" && exec \"$0\" hook";
    let mut shell = home.prepared("sh", &["-c", script, RECOUP]);
    shell.current_dir(&gone).env("PWD", &gone);
    let output = super::hook(shell, payload.as_bytes());
    let reply = super::Reply::checked(output, "UserPromptSubmit");
    assert_eq!(reply.notice, "recoup: will remember: use pnpm", "{}", log(&home));
    Talk::new(&home, "s2").within(&main).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}

#[test]
fn an_archive_that_claims_the_project_gets_none_of_its_rules_and_the_user_is_told_once() {
    const URL: &str = "https://example.com/own/app.git";
    let home = Home::new();
    let (main, evil) = (home.path("main"), home.path("evil"));
    for dir in [&main, &evil] {
        fs::create_dir_all(dir).unwrap();
        git(dir, &["init", "-q"]);
        git(dir, &["remote", "add", "origin", URL]);
    }
    fs::write(main.join("file"), "x").unwrap();
    git(&main, &["add", "."]);
    git(&main, &["commit", "-q", "-m", "x"]);
    Talk::new(&home, "s1").within(&main).says("from now on use pnpm");
    let told = Talk::new(&home, "s2").within(&evil).tell("SessionStart-startup");
    told.has_rules(&[]);
    let words = "this checkout claims to be a clone of example.com/own/app, which you use in";
    assert!(told.notice.contains(words) && told.notice.contains("recoup trust"), "{told:?}");
    Talk::new(&home, "s3").within(&evil).says("from now on use yarn");
    let told = Talk::new(&home, "s4").within(&evil).tell("SessionStart-startup");
    told.has_rules(&["use yarn"]);
    assert_eq!(told.notice, "", "once");
    Talk::new(&home, "s5").within(&main).tell("SessionStart-startup").has_rules(&["use pnpm"]);
    git(&main, &["clone", "-q", ".", "../clone"]);
    let clone = home.path("clone");
    git(&clone, &["remote", "set-url", "origin", URL]);
    Talk::new(&home, "s6").within(&clone).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}
