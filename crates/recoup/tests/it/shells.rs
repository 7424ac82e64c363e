//! `recoup completions` and `recoup man`: made from the commands themselves, so
//! they know all of them.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::support::Home;

const COMMANDS: [&str; 11] = [
    "generate-key",
    "get",
    "set",
    "delete",
    "invalidate",
    "cleanup",
    "ls",
    "show",
    "stats",
    "verify",
    "clear",
];

#[test]
fn completions_know_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let output = home.run(&["completions", shell]).expect(0);
        assert_eq!(output.stderr, "");
        for command in COMMANDS.into_iter().chain(["completions", "man", "max-size-mb"]) {
            assert!(output.text().contains(command), "{shell}: {command}");
        }
    }
    assert!(!home.recoup().exists());
}

#[test]
fn bash_can_read_its_completions() {
    let script = Home::new().run(&["completions", "bash"]).expect(0).stdout;
    let mut bash = Command::new("bash").arg("-n").stdin(Stdio::piped()).spawn().unwrap();
    bash.stdin.take().unwrap().write_all(&script).unwrap();
    assert!(bash.wait().unwrap().success());
}

#[test]
fn another_shell_is_wrong_usage() {
    let home = Home::new();
    home.run(&["completions", "tcsh"]).expect_usage("bash, zsh, fish");
    home.run(&["completions"]).expect_usage("<SHELL>");
}

#[test]
fn each_command_has_a_page_with_its_flags() {
    let home = Home::new();
    // Roff writes a hyphen as `\-`.
    let page = |words: &[&str]| {
        let output = home.run(&[&["man"], words].concat()).expect(0);
        assert_eq!(output.stderr, "");
        assert!(output.text().contains(".TH "), "{words:?}");
        output.text().replace("\\-", "-")
    };
    assert!(page(&[]).contains("RECOUP_HOME"));
    let get = page(&["cache", "get"]);
    for flag in ["--key", "--paths", "--query", "--operation", "--json", "--token", "--sources"] {
        assert!(get.contains(flag), "{flag}");
    }
    for command in COMMANDS {
        assert!(page(&["cache", command]).contains(command), "{command}");
    }
    page(&["key", "agent-run"]);
}

#[test]
fn all_pages_can_be_written_at_once() {
    let home = Home::new();
    let dir = home.path("pages/man1");
    home.run(&["man", "--dir", dir.to_str().unwrap()]).expect(0);
    for command in COMMANDS {
        let page = fs::read_to_string(dir.join(format!("recoup-cache-{command}.1"))).unwrap();
        assert!(page.contains(".TH "), "{command}");
    }
    let mut names: Vec<_> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    for name in
        ["recoup.1", "recoup-cache.1", "recoup-key.1", "recoup-key-result.1", "recoup-man.1"]
    {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
}

#[test]
fn an_unknown_command_has_no_page() {
    let home = Home::new();
    home.run(&["man", "cache", "frobnicate"])
        .expect_usage("there is no command \"cache frobnicate\"");
    home.run(&["man", "frobnicate"]).expect_usage("there is no command");
}
