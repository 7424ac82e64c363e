//! Rules with checks, with the client that asks and refuses for us: a correction in one session
//! stops the same mistake in the next.

use super::client::Client;
use super::hooks::Hook;
use crate::model::{Answer, Script};

/// The agent tries npm, and does what the refusal says.
fn script() -> Script {
    Script::default()
        .on("install", Answer::bash("npm root; echo by-npm"))
        .after_result("Use pnpm instead", Answer::bash("echo pnpm; echo by-pnpm"))
}

/// A client whose user has corrected it once.
fn corrected() -> Client {
    let client = Client::new(&Hook::Recoup, script());
    let mut terminal = client.sit_down();
    let corrected = "No! use pnpm, never npm.";
    terminal.enter(corrected, || client.fields("Stop", "cwd").len() == 1);
    terminal.leave();
    client
}

fn enforce(client: &Client, strength: &str) {
    let rules = client.home.run(&["memory", "list", "--json"]).expect(0).json();
    let id = rules[0]["id"].as_str().unwrap();
    client.home.run(&["memory", "enforce", id, strength]).expect(0);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_correction_stops_the_same_mistake_in_the_next_session() {
    let client = corrected();
    enforce(&client, "block");
    client.ask(&[], "install the packages");
    let commands = client.fields("PostToolUse", "tool_name");
    assert_eq!(commands, ["Bash"], "only the second command ran");
    let last = client.last_asked();
    assert_eq!(last.count("does not allow npm"), 1, "the agent was told why: {}", last.body);
    assert_eq!(last.count("by-pnpm"), 2, "and did the right thing: its call, and the result");
    let report = client.home.run(&["memory", "report", "--json"]).expect(0).json();
    assert_eq!(report[0]["check"]["blocked"], 1, "{report}");
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_reminder_comes_with_the_result_of_the_call() {
    let client = corrected();
    client.ask(&[], "install the packages");
    let last = client.last_asked();
    assert!(last.count("by-npm") >= 2, "the call ran");
    assert_eq!(last.count("breaks a rule that the user has recorded"), 1, "{}", last.body);
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_pause_switches_it_off_and_permissions_are_as_before() {
    let client = corrected();
    enforce(&client, "block");
    client.home.run(&["pause"]).expect(0);
    client.ask(&[], "install the packages");
    assert!(client.last_asked().count("by-npm") >= 2, "the call ran");
    client.home.run(&["resume"]).expect(0);
    enforce(&client, "off");
    client.ask(&[], "install the packages");
    assert!(client.last_asked().count("by-npm") >= 2, "the call ran");
    // Nothing here allows what the user denies.
    let ran = client.fields("PostToolUse", "tool_name");
    client.ask(&["--disallowedTools", "Bash(npm:*)"], "install the packages");
    assert_eq!(client.fields("PostToolUse", "tool_name"), ran);
}
