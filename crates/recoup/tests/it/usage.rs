//! Wrong usage: exit 2, nothing on stdout, and words that name what was wrong.

use crate::support::{Home, finish};

#[test]
fn bad_keys_are_refused_wherever_they_are_given() {
    let home = Home::new();
    let long = "k".repeat(129);
    let keys = [
        ("../../x", "'/' is not allowed"),
        ("", "it is empty"),
        (".", "not a name"),
        ("..", "not a name"),
        ("a b", "' ' is not allowed"),
        ("a\n", "'\\n' is not allowed"),
        ("clé", "'é' is not allowed"),
        (&long, "it has 129 characters"),
    ];
    for (key, words) in keys {
        home.get(key).expect_usage(words);
        home.cache(&["set", "--key", key, "--condensed", "1"]).expect_usage(words);
        home.cache(&["delete", "--key", key]).expect_usage(words);
        home.cache(&["show", "--key", key]).expect_usage(words);
    }
    assert!(!home.recoup().exists(), "nothing was begun");
}

#[test]
fn a_bad_key_is_told_what_a_good_one_is() {
    let stderr = Home::new().get("../../x").stderr;
    insta::assert_snapshot!(stderr, @r#"error: invalid key "../../x": '/' is not allowed; expected 1 to 128 characters of A-Z a-z 0-9 . _ - (not . or ..)"#);
}

#[test]
fn a_bad_duration_is_told_what_a_good_one_is() {
    let home = Home::new();
    let output = home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", "1h30m"]).expect(2);
    insta::assert_snapshot!(output.stderr, @r#"error: --ttl: cache duration must be 'off', 'forever', a number of milliseconds or a duration such as 5m, 2h or 1d (got "1h30m")"#);
    for ttl in ["", "-1", "-5m", "5", "5 parsecs", "soon", "99999999999999999999d"] {
        let output = home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", ttl]);
        if ttl == "5" {
            output.expect(0);
        } else {
            output.expect_usage("cache duration must be");
        }
    }
}

#[test]
fn an_entry_must_be_named() {
    let home = Home::new();
    home.cache(&["get"]).expect_usage("--key KEY, or --paths CSV --query TEXT --operation NAME");
    home.cache(&["set", "--condensed", "1"]).expect_usage("which entry?");
    home.cache(&["set", "--key", "k"]).expect_usage("--condensed");
}

#[test]
fn unknown_flags_and_commands_are_refused() {
    let home = Home::new();
    home.cache(&["get", "--key", "k", "--frobnicate"]).expect_usage("--frobnicate");
    home.cache(&["delet"]).expect_usage("a similar subcommand exists: 'delete'");
    home.run(&["cahce"]).expect_usage("a similar subcommand exists: 'cache'");
}

#[test]
fn without_any_home_the_error_says_what_to_set() {
    let home = Home::new();
    let mut command = home.command(&["cache", "get", "--key", "k"]);
    finish(command.env_remove("HOME").env_remove("RECOUP_HOME")).expect_usage("set RECOUP_HOME");
}

#[test]
fn a_key_needs_no_home() {
    let home = Home::new();
    let mut command = home.command(&["key", "canonical", "1"]);
    finish(command.env_remove("HOME").env_remove("RECOUP_HOME")).expect(0);
}

#[test]
fn words_for_a_terminal_are_not_obeyed_in_errors() {
    let home = Home::new();
    home.get("\u{1b}[31mred").expect_usage("not allowed");
    let output = home.cache(&["get", "--key", "k", "--scope", "\u{1b}]0;title\u{7}"]).expect(2);
    assert!(!output.stderr.contains('\u{1b}'), "{:?}", output.stderr);
    let output = home.cache(&["set", "--key", "k", "--condensed", "@\u{1b}[2J"]).expect(1);
    assert!(!output.stderr.contains('\u{1b}'), "{:?}", output.stderr);
}
