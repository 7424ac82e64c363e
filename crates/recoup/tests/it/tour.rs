//! `recoup tour` shows the main job with the real commands, and leaves no
//! trace of it.

mod picture;
mod terminal;

use std::fs;

use crate::support::{Home, finish, tree};

#[test]
fn the_tour_shows_a_hit_and_a_refusal_and_leaves_nothing_behind() {
    let home = Home::new();
    let temp = home.path("tmp");
    fs::create_dir(&temp).unwrap();
    let before = tree(&home.path(""));
    let mut command = home.command(&["tour"]);
    let output = finish(command.env("TMPDIR", &temp).env("RECOUP_SCOPE", "tenant:x")).expect(0);
    assert_eq!(output.stderr, "");
    let text = output.text();
    let exec = "$ recoup exec --source src/auth.rs -- sh agent.sh\n";
    assert_eq!(text.matches(&format!("{exec}2 lines reviewed, nothing found\n")).count(), 2);
    assert_eq!(text.matches(&format!("{exec}3 lines reviewed, nothing found\n")).count(), 1);
    assert!(text.contains("\nmiss: no entry for this key\n"), "{text}");
    assert!(text.contains("\n{\"verdict\":\"PASS\",\"findings\":[]}\n"), "{text}");
    assert!(text.contains("\ninvalidated: the source src/auth.rs has changed\n"), "{text}");
    assert!(text.contains("will remember: put tests in __tests__/"), "{text}");
    assert!(text.contains("\\nThe user said:\\n- put tests in __tests__/\\n"), "{text}");
    assert_eq!(text.matches("3 documents found").count(), 2, "{text}");
    assert_eq!(text.matches("io.recoup/age").count(), 1, "the second from the cache: {text}");
    let run = "$ recoup run review-diff.md -";
    assert_eq!(text.matches(run).count(), 2, "{text}");
    assert_eq!(text.matches("\"verdict\": \"request_changes\"").count(), 2, "{text}");
    assert_eq!(text.matches("recoup: hit: ").count(), 1, "the second from the cache: {text}");
    assert_eq!(tree(&home.path("")), before, "nothing is left, in TMPDIR or in HOME");
}

#[test]
fn the_tour_needs_no_home() {
    let home = Home::new();
    let mut command = home.command(&["tour"]);
    finish(command.env_remove("HOME").env_remove("RECOUP_HOME").env("TMPDIR", home.path("")))
        .expect(0);
}

#[test]
fn a_tour_without_room_says_so() {
    let home = Home::new();
    let gone = home.path("gone");
    finish(home.command(&["tour"]).env("TMPDIR", gone))
        .expect_failure("creating a temporary home directory");
}

#[test]
fn plain_is_what_there_is_without_a_terminal() {
    let home = Home::new();
    let plain = home.run(&["tour", "--plain"]).expect(0).text();
    assert!(plain.starts_with("\n# A slow command"), "{plain}");
    assert!(plain.contains("\n$ recoup exec --source src/auth.rs -- sh agent.sh\n"), "{plain}");
}
