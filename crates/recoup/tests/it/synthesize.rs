//! `cache set --synthesize`: a decision is also written down for people.

use std::fs;

use crate::support::{Home, finish};

/// The notes after `message`, with the day of each row replaced.
fn noted(home: &Home, message: &str) -> String {
    let args = ["cache", "set", "--key", "k", "--condensed", "1", "--synthesize", message];
    finish(home.command(&args).env("RECOUP_CACHE_NOTES", "NOTES.md")).expect(0);
    let text = fs::read_to_string(home.project().join("NOTES.md")).unwrap();
    let today = text.rsplit("| ").find(|cell| cell.starts_with("20")).unwrap().trim_end();
    text.replace(today, "DATE")
}

#[test]
fn a_dated_row_is_appended_and_the_table_is_begun_when_there_is_none() {
    let home = Home::new();
    insta::assert_snapshot!(noted(&home, "use  pnpm |\nnot npm"), @r"
    | Date | Decision | Cache key |
    |---|---|---|
    | DATE | use pnpm \| not npm | k |
    ");
    insta::assert_snapshot!(noted(&home, "-5 is fine"), @r"
    | Date | Decision | Cache key |
    |---|---|---|
    | DATE | use pnpm \| not npm | k |
    | DATE | -5 is fine | k |
    ");
}

#[test]
fn what_was_in_the_file_stays() {
    let home = Home::new();
    home.write("NOTES.md", "# Notes");
    assert!(noted(&home, "one").starts_with("# Notes\n| DATE | one | k |"));
}

#[test]
fn without_a_notes_file_nothing_is_stored_and_the_error_says_what_to_set() {
    let home = Home::new();
    let args = ["set", "--key", "k", "--condensed", "1", "--synthesize", "one"];
    let output = home.cache(&args).expect(2);
    assert!(output.stderr.contains("set cache.notes"), "{}", output.stderr);
    home.get("k").expect_miss();
}
