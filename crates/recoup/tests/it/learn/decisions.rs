//! What the user has dropped, forgotten, retired or taken back stays so.

use std::io::{Read as _, Write as _};

use pty_process::Size;
use pty_process::blocking::{Command, open};

use super::{PNPM, learn, remembered, state_twice, texts};
use crate::client_transcripts::Transcript;
use crate::support::Home;

#[test]
fn what_is_forgotten_or_retired_is_not_brought_back() {
    for command in ["forget", "retire"] {
        let home = Home::new();
        state_twice(&home, PNPM);
        learn(&home, &["--yes"]);
        let id = remembered(&home)[0]["id"].as_str().unwrap().to_owned();
        home.run(&["memory", command, &id]).expect(0);
        let again = learn(&home, &["--yes"]);
        assert!(texts(&again).is_empty(), "{command}: {again:#}");
        assert_eq!(again["left_out"]["given_up"], 1, "{command}");
        assert!(remembered(&home).is_empty(), "{command}");
    }
}

#[test]
fn what_was_taken_back_in_the_conversation_is_not_offered() {
    let home = Home::new();
    for day in ["01", "02"] {
        Transcript::claude_code(&home, &format!("session-{day}"), &home.project())
            .typed(&format!("2026-10-{day}T10:00:00.000Z"), PNPM)
            .typed(&format!("2026-10-{day}T10:01:00.000Z"), "forget that");
    }
    let report = learn(&home, &["--all"]);
    assert!(texts(&report).is_empty(), "{report:#}");
}

#[test]
fn a_newer_rule_in_memory_stays() {
    let home = Home::new();
    state_twice(&home, "always use pnpm here");
    home.run(&["memory", "add", "use bun here"]).expect(0);
    let report = learn(&home, &["--yes"]);
    assert!(texts(&report).is_empty(), "{report:#}");
    let notes = remembered(&home);
    assert!(notes.len() == 1 && notes[0]["text"] == "use bun here", "{notes:#?}");
}

#[test]
fn nothing_is_heard_while_memory_is_paused_or_was() {
    let home = Home::new();
    home.run(&["pause", "--project"]).expect(0);
    let later = "2099-01-01T10:00:00.000Z";
    for session in ["one", "two"] {
        Transcript::claude_code(&home, session, &home.project()).typed(later, PNPM);
    }
    assert!(texts(&learn(&home, &["--all"])).is_empty());
    home.run(&["pause"]).expect(0);
    let ended = home.run(&["learn"]).expect(1);
    assert!(ended.stderr.contains("memory is paused"), "{}", ended.stderr);
}

/// What a person sees who presses these keys, one for each rule.
fn decide(home: &Home, keys: &str) -> String {
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(40, 160)).unwrap();
    let command = Command::from(home.command(&["learn"])).env("TERM", "xterm");
    let mut child = command.spawn(pts).unwrap();
    let (mut seen, mut keys) = (String::new(), keys.chars());
    let (mut room, mut asked) = ([0; 4096], 0);
    // A terminal whose other end is closed is an error on Linux.
    while let Ok(read @ 1..) = pty.read(&mut room) {
        seen += &String::from_utf8_lossy(&room[..read]);
        while let Some(end) = seen[asked..].find("[k/a/d/s/q] ") {
            let key = keys.next().unwrap_or('q');
            pty.write_all(key.to_string().as_bytes()).unwrap();
            asked += end + "[k/a/d/s/q] ".len();
        }
    }
    assert_eq!(child.wait().unwrap().code(), Some(0), "{seen}");
    seen
}

#[test]
fn one_key_decides_about_each_rule() {
    let home = Home::new();
    let rules = [PNPM, "always use tabs, never spaces", "never edit the files in src/gen"];
    for day in ["01", "02"] {
        for (minute, rule) in rules.iter().enumerate() {
            let session = format!("session-{day}-{minute}");
            Transcript::claude_code(&home, &session, &home.project())
                .typed(&format!("2026-10-{day}T10:0{}:00.000Z", 9 - minute), rule);
        }
    }
    let seen = decide(&home, "kds");
    assert!(seen.contains("you said it 2 times in 2 sessions, 2026-10-01 to 2026-10-02"), "{seen}");
    let notes = remembered(&home);
    assert!(notes.len() == 1 && notes[0]["text"].as_str().unwrap().contains("pnpm"), "{notes:#?}");
    // What was dropped is not asked again; what was skipped is.
    let seen = decide(&home, "a");
    assert!(seen.contains("1/1  never edit the files in src/gen"), "{seen}");
    let notes = remembered(&home);
    assert!(notes.iter().any(|note| note["scope"] == "universal"), "{notes:#?}");
    assert!(texts(&learn(&home, &[])).is_empty());
}
