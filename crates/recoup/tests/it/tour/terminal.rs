//! The tour as a person sees it, who presses Enter at each pause and answers the question.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;

use pty_process::Size;
use pty_process::blocking::{Command, open};
use regex::Regex;
use unicode_width::UnicodeWidthStr as _;

use super::picture;
use crate::support::{Home, RECOUP, heeding, tree};

const PAUSE: &str = "Enter goes on, q ends";
const QUESTION: &str = "[y/N]";

/// Exit code, and what was on the terminal, of a tour with this `key` at each pause and this answer
/// to the question.
fn tour(home: &Home, columns: u16, plain_colours: bool, key: &str, answer: &str) -> (i32, String) {
    let (mut pty, pts) = open().unwrap();
    pty.resize(Size::new(40, columns)).unwrap();
    let temp = home.path("tmp");
    fs::create_dir(&temp).unwrap();
    // `recoup init` refuses a program that the next build replaces.
    fs::create_dir(home.path("bin")).unwrap();
    symlink(RECOUP, home.path("bin/recoup")).unwrap();
    let path = format!("{}:/usr/bin:/bin", home.path("bin").display());
    let mut command = heeding(home, &["tour"]);
    command.env("TERM", "xterm").env("TMPDIR", &temp).env("PATH", path);
    if plain_colours {
        command.env("NO_COLOR", "1");
    }
    let mut child = Command::from(command).spawn(pts).unwrap();
    let (mut bytes, mut answered) = (Vec::new(), 0);
    let mut room = [0; 4096];
    // A terminal whose other end is closed is an error on Linux.
    while let Ok(read @ 1..) = pty.read(&mut room) {
        bytes.extend_from_slice(&room[..read]);
        let seen = String::from_utf8_lossy(&bytes);
        let asked = seen.matches(PAUSE).count() + seen.matches(QUESTION).count();
        if asked > answered {
            let keys = if seen.contains(QUESTION) { answer } else { key };
            pty.write_all(keys.as_bytes()).unwrap();
            answered = asked;
        }
    }
    assert!(tree(&temp).is_empty(), "something is left: {:?}", tree(&temp));
    (child.wait().unwrap().code().unwrap(), String::from_utf8(bytes).unwrap())
}

fn without_styles(shown: &str) -> String {
    Regex::new("\u{1b}\\[[0-9;]*m").unwrap().replace_all(shown, "").replace('\r', "")
}

#[test]
fn each_scene_waits_for_a_key_and_the_picture_shows_them_all() {
    let home = Home::new();
    let (code, shown) = tour(&home, 80, false, "\n", "n");
    assert_eq!(code, 0, "{shown}");
    let text = without_styles(&shown);
    for words in [
        "$ recoup exec --source src/auth.rs -- sh review.sh\n  3 lines reviewed: nothing found\n",
        "+ query(\"SELECT id FROM users WHERE name = '\" + name + \"'\")",
        "miss: an entry exists, but cannot be used\n    sources: src/auth.rs changed ",
        "3 lines reviewed: line 2 makes SQL of what a user typed",
        "you     no, never use npm here, use pnpm\n  recoup  will remember: never use npm here",
        "│ The user said:\n  │ - never use npm here, use pnpm\n",
        "agent   npm install zod\n\n  │ The last call breaks a rule",
        "You asked 3 times, the agent worked 2 times: ",
        "saved by 1 hit\n",
        "Later: `recoup init`.",
    ] {
        assert!(text.contains(words), "{words:?} is not in\n{text}");
    }
    assert_eq!(text.matches(PAUSE).count(), 4, "{text}");
    assert!(!text.contains("{\""), "no JSON: {text}");
    assert!(text.lines().all(|line| line.width() <= 80), "{text}");
    assert!(shown.contains("\u{1b}[32m"), "in colours: {shown}");
    assert!(!home.recoup().exists(), "nothing of the user's is written");
    picture::compare(&shown);
}

#[test]
fn a_narrow_terminal_without_colours_is_enough_and_yes_sets_up() {
    let home = Home::new();
    let (code, shown) = tour(&home, 46, true, " ", "y");
    assert!(!shown.contains('\u{1b}'), "{shown}");
    let text = without_styles(&shown);
    // The last lines are those of `recoup init`.
    let (tour, init) = text.split_once("[y/N] y\n").unwrap();
    assert!(tour.lines().all(|line| line.width() <= 46), "{tour}");
    assert!(
        tour.contains("$ recoup exec --source src/auth.rs -- sh \\\n    review.sh\n"),
        "{tour}"
    );
    assert!(init.contains("no supported client found on this machine"), "{text}");
    assert_eq!(code, 1, "as `recoup init` says");
}

#[test]
fn it_can_be_left_at_any_time() {
    for (key, expected) in [("q", 0), ("\u{3}", 130)] {
        let (code, shown) = tour(&Home::new(), 80, false, key, "y");
        assert_eq!(code, expected, "{shown}");
        assert_eq!(shown.matches(PAUSE).count(), 1, "{shown}");
        assert!(!shown.contains("error"), "{shown}");
    }
}
