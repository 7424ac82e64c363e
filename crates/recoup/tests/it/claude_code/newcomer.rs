//! The whole path of somebody who has just installed it, in one go: in, a correction, a new
//! session that keeps to it, a look at whether all is well, and out again.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::client::Client;
use super::hooks::Hook;
use super::installed::{server, settings};
use crate::model::{Answer, Script};
use crate::support::{Output, RECOUP, finish};

/// What the person says, and what of it is to be in the next session.
const CORRECTION: &str = "No, never use var in JavaScript.";
const KEPT: &str = "ever use var in JavaScript";

/// recoup as the person types it, in a shell that finds it and Claude Code, and no other client.
fn recoup(client: &Client, args: &[&str]) -> Output {
    let mut command: Command = client.home.command(args);
    finish(command.env("PATH", client.home.path("bin"))).expect(0)
}

/// What `recoup doctor` says on the line of one of its checks.
fn line<'a>(report: &'a str, check: &str) -> Vec<&'a str> {
    let of = |line: &&str| line.split_whitespace().nth(1) == Some(check);
    report.lines().filter(of).collect()
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn from_the_first_command_to_the_last() {
    let script = Script::default().on("greet", Answer::bash("echo 'var greeting'"));
    let client = Client::new(&Hook::None, script);
    fs::create_dir(client.home.path("bin")).unwrap();
    symlink(RECOUP, client.home.path("bin/recoup")).unwrap();
    symlink("/bin/true", client.home.path("bin/claude")).unwrap();
    let before = settings(&client);

    recoup(&client, &["init", "--yes"]);
    let report = recoup(&client, &["doctor"]).text();
    assert!(report.ends_with("\nAll is well\n"), "{report}");

    let mut terminal = client.sit_down();
    terminal.enter("greet me", || client.fields("Stop", "cwd").len() == 1);
    terminal.enter(CORRECTION, || client.fields("Stop", "cwd").len() == 2);
    terminal.leave();

    let heard = client.ask(&[], "hello");
    let request = client.last_asked();
    assert_eq!(
        (request.count("greet me"), request.count(KEPT)),
        (0, 1),
        "a new session, told once"
    );
    assert_eq!(server(&heard).as_deref(), Some("connected"));

    let report = recoup(&client, &["doctor"]).text();
    assert!(report.ends_with("\nAll is well\n"), "{report}");
    for (check, words) in [
        ("memory", "a session started here receives 1 rule"),
        ("hooks", "Claude Code (user)"),
        ("mcp", "Claude Code (user)"),
    ] {
        let said = line(&report, check);
        let fits = |line: &&str| line.starts_with('✓') && line.contains(words);
        assert!(said.iter().any(fits), "{check}: {report}");
    }

    recoup(&client, &["uninstall", "--yes"]);
    assert_eq!(settings(&client), before);
    let report = recoup(&client, &["doctor"]).text();
    assert!(report.ends_with("\nAll is well\n"), "{report}");
    for check in ["hooks", "mcp"] {
        let said = line(&report, check);
        assert!(said.iter().all(|line| line.starts_with('·')) && said.len() == 1, "{report}");
    }
    let heard = client.ask(&[], "hello");
    assert_eq!((client.last_asked().count(KEPT), server(&heard)), (0, None));
    assert!(recoup(&client, &["memory", "list"]).text().contains(KEPT), "what was said stays");
}
