//! Whose rules hold where.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::Talk;
use crate::support::Home;

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
fn a_directory_that_is_gone_is_no_reason_to_be_silent() {
    let home = Home::new();
    super::add(&home, &["--universal", "use pnpm"]);
    let gone = home.path("gone");
    Talk::new(&home, "s1").within(&gone).tell("SessionStart-startup").has_rules(&["use pnpm"]);
}
