//! From one session to the next: what a person says once, what only a script
//! says, what is recorded meanwhile, and what nobody may keep.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::client::{Client, KEY};
use super::hooks::Hook;
use super::{RULE, client_with_the_rule};
use crate::hooks::worker::settled;
use crate::model::{Answer, Script};

/// What of the rule is left when it was said in a prompt, and not recorded word for word.
const SAID: &str = "ever use var in JavaScript";

/// How often a text is in the request of a session that has just begun.
fn in_a_new_session(client: &Client, text: &str) -> usize {
    client.ask(&[], "hello");
    client.last_asked().count(text)
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn what_a_person_says_once_is_in_the_next_session() {
    let client = Client::new(&Hook::Recoup, Script::default());
    let mut terminal = client.sit_down();
    terminal.enter(RULE, || !client.fields("Stop", "cwd").is_empty());
    terminal.leave();
    assert_eq!(in_a_new_session(&client, SAID), 1);
}

/// Not every version tells a hook of that; the transcript has it in any case.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn what_a_person_says_while_the_agent_works_is_remembered_once() {
    for is_told in [true, false] {
        let script = Script::default().on("get to work", Answer::bash("sleep 8"));
        let client = Client::new(&Hook::Recoup, script);
        if !is_told {
            tell_of_no_prompt(&client);
        }
        let mut terminal = client.sit_down();
        terminal.enter("get to work", || !client.fields("PreToolUse", "cwd").is_empty());
        terminal.enter(RULE, || !client.fields("Stop", "cwd").is_empty());
        terminal.leave();
        settled(&client.home);
        let told = client.fields("UserPromptSubmit", "prompt");
        assert_eq!(told, if is_told { vec!["get to work", RULE] } else { Vec::new() });
        let read = client.asked().iter().filter(|it| it.count(RULE) > 0).count();
        assert_eq!(read, 1, "within the same answer");
        let notes = client.home.run(&["memory", "list", "--json"]).expect(0).json();
        assert_eq!(notes[0]["evidence"], 1, "{is_told}: {notes}");
        assert_eq!(in_a_new_session(&client, SAID), 1, "{is_told}");
    }
}

/// Takes the hooks for prompts out of the client's settings.
fn tell_of_no_prompt(client: &Client) {
    let file = client.home.path(".claude/settings.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("UserPromptSubmit").unwrap();
    fs::write(&file, settings.to_string()).unwrap();
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn what_a_script_says_is_a_rule_only_where_that_is_wanted() {
    for (setting, expected) in [("", 0), ("[capture]\nheadless = true\n", 1)] {
        let client = Client::new(&Hook::Recoup, Script::default());
        fs::create_dir(client.home.recoup()).unwrap();
        fs::write(client.home.recoup().join("config.toml"), setting).unwrap();
        client.ask(&[], RULE);
        assert_eq!(in_a_new_session(&client, SAID), expected, "{setting}");
    }
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn what_was_recorded_meanwhile_is_in_the_resumed_session_and_nothing_twice() {
    const LATER: &str = "Always use pnpm, never npm.";
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    client.ask(&[], "hello");
    client.home.run(&["memory", "add", LATER]).expect(0);
    for _ in 0..2 {
        client.ask(&["--continue"], "again");
        let request = client.last_asked();
        assert_eq!((request.count(RULE), request.count(LATER)), (1, 1));
    }
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_branch_is_given_only_what_is_new() {
    const LATER: &str = "Always use pnpm, never npm.";
    let client = client_with_the_rule(&Hook::Recoup, Script::default());
    let mut terminal = client.sit_down();
    terminal.enter("hello", || client.fields("Stop", "cwd").len() == 1);
    client.home.run(&["memory", "add", LATER]).expect(0);
    terminal.enter("/branch", || client.starts() == ["startup", "fork"]);
    terminal.enter("go on", || client.fields("Stop", "cwd").len() == 2);
    terminal.leave();
    let request = client.last_asked();
    assert_eq!((request.count("hello"), request.count(RULE), request.count(LATER)), (1, 1, 1));
}

#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn a_rule_of_one_project_is_not_told_in_another() {
    let client = Client::new(&Hook::Recoup, Script::default());
    let other = client.home.path("elsewhere");
    fs::create_dir(&other).unwrap();
    client.home.run_in(&other, &["memory", "add", RULE]).expect(0);
    assert_eq!(in_a_new_session(&client, RULE), 0);
    client.home.run_in(&other, &["memory", "add", "--universal", RULE]).expect(0);
    assert_eq!(in_a_new_session(&client, RULE), 1);
}

/// Hooks are started with the client's whole environment.
#[test]
#[ignore = "needs the real Claude Code: cargo xtask test --full"]
fn the_clients_key_is_nowhere_in_what_is_kept() {
    let script = Script::default()
        .on("list", Answer::bash("echo one"))
        .on("break", Answer::bash("echo $ANTHROPIC_API_KEY >&2; exit 3"));
    let client = client_with_the_rule(&Hook::Recoup, script);
    let mut conversation = client.talk();
    for prompt in ["list", "break", "/compact"] {
        conversation.say(prompt);
    }
    conversation.end();
    // The worker makes and removes files.
    settled(&client.home);
    let files = files_below(&client.home.recoup());
    assert!(files.len() > 1, "{files:?}");
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let found = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
        assert!(!found, "{}", file.display());
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_below(folder)));
    files
}
