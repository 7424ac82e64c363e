//! What is not ours is named, and not run: neither what a repository says, however much it looks
//! like us, nor a command of the user's own around us.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{EVENTS, RECOUP, Report, claude, hook, report, script, settings, write};
use crate::support::{Home, finish};

/// A program in a directory that says when it was run.
fn trap(home: &Home, dir: &str) -> (PathBuf, PathBuf) {
    let marker = home.path("ran");
    let text = format!("#!/bin/sh\ntouch {}\ncat >/dev/null\n", marker.display());
    (script(home, dir, &text), marker)
}

fn line(text: &str) -> Value {
    json!({"type": "command", "command": text, "timeout": 5})
}

#[test]
fn a_program_of_the_repository_is_named_and_not_run() {
    let home = Home::new();
    let (program, marker) = trap(&home, "project/bin");
    let all = settings(&EVENTS, &hook(&program, &["hook"], 5)).to_string();
    home.write(".claude/settings.local.json", &all);
    let command = format!("{} hook", program.display());
    home.write(".codex/hooks.json", settings(&["Stop"], &line(&command)).to_string());
    home.write(
        ".cursor/mcp.json",
        json!({"mcpServers": {"recoup": {"command": program, "args": ["mcp"]}}}).to_string(),
    );
    let report = report(&home, 0);
    let others = report.of("hooks").into_iter().filter(|it| *it == ("other-program", "warn"));
    assert_eq!(others.count(), 2, "{:#}", report.0);
    let found = report.has("mcp", "other-program", "warn");
    assert!(found["what"].as_str().unwrap().contains("project/bin/recoup"), "{found:#}");
    assert!(!marker.exists(), "it was run");
}

#[test]
fn nor_what_its_shell_lines_smuggle_in() {
    let home = Home::new();
    let marker = home.path("ran");
    let touch = format!("touch {}", marker.display());
    for text in [
        format!("{RECOUP} hook; {touch}"),
        format!("{RECOUP} hook --client $({touch})"),
        format!("{RECOUP} hook --client=`{touch}`"),
        format!("{touch} | {RECOUP} hook"),
    ] {
        home.write(
            ".codex/hooks.json",
            settings(&["Stop", "SessionStart"], &line(&text)).to_string(),
        );
        report(&home, 0).has("hooks", "withheld", "skipped");
        assert!(!marker.exists(), "{text}");
    }
}

/// With a directory of the repository on the PATH (direnv does that), a name leads there.
#[test]
fn a_program_of_the_repository_on_the_path_is_not_run() {
    let home = Home::new();
    let (program, marker) = trap(&home, "project/bin");
    claude(&home, &settings(&EVENTS, &hook("recoup", &["hook"], 5)));
    home.write(
        ".cursor/mcp.json",
        json!({"mcpServers": {"recoup": {"command": "recoup", "args": ["mcp"]}}}).to_string(),
    );
    let dir = program.parent().unwrap().display();
    for path in [format!("{dir}:/usr/bin:/bin"), format!("/usr/bin:/bin:{dir}"), "bin:.".into()] {
        let mut command = home.command(&["doctor", "--json"]);
        let output = finish(command.env("PATH", &path));
        assert!(!marker.exists(), "it was run");
        let is_found = output.text().contains("project/bin/recoup, which is inside this project");
        assert_eq!(is_found, path != "bin:.", "{}", output.text());
    }
}

#[test]
fn a_command_of_ones_own_is_named_and_not_run() {
    let home = Home::new();
    let (program, marker) = trap(&home, "tools");
    for other in ["npx", "sudo", "mine"] {
        std::os::unix::fs::symlink(&program, program.with_file_name(other)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", program.parent().unwrap().display());
    let withheld = |check: &str| {
        let mut command = home.command(&["doctor", "--json"]);
        let report = Report(finish(command.env("PATH", &path)).json());
        assert!(!marker.exists() && !home.path("real").exists(), "{:#}", report.0);
        report.has(check, "withheld", "skipped")["what"].as_str().unwrap().to_owned()
    };
    let real = format!("RECOUP_HOME={} {RECOUP} hook", home.path("real").display());
    for (call, why) in [
        (line("npx -y recoup hook"), "recoup is started by npx"),
        (hook("npx", &["-y", "recoup", "hook"], 5), "recoup is started by npx"),
        (hook("sh", &["-c", "recoup hook"], 5), "recoup is started by sh"),
        (line("/usr/bin/env A=1 recoup hook"), "recoup is started by /usr/bin/env"),
        (line(&format!("sudo -n {RECOUP} hook")), "recoup is started by sudo"),
        (line("mine; recoup hook"), "it is more than `recoup init` writes"),
        (line(&real), "it is more than `recoup init` writes"),
        (hook(RECOUP, &["hook", "--verbose"], 5), "it is more than `recoup init` writes"),
        (line("$TOOLS/recoup hook"), "only the client can expand its path"),
    ] {
        claude(&home, &settings(&EVENTS, &call));
        let words =
            format!("Claude Code (user): its command is your own, and was not tested: {why}");
        assert_eq!(withheld("hooks"), words, "{call}");
    }
    for words in [&["npx", "-y", "recoup", "mcp"][..], &[RECOUP, "mcp", "--http", "127.0.0.1:0"]] {
        let server = json!({"command": words[0], "args": words[1..]});
        write(&home, ".claude.json", json!({"mcpServers": {"recoup": server}}).to_string());
        assert!(withheld("mcp").contains("not tested"));
    }
}
