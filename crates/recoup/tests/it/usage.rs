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
    let set = |ttl| home.cache(&["set", "--key", "k", "--condensed", "1", "--ttl", ttl]);
    insta::assert_snapshot!(set("30m1h").expect(2).stderr, @r#"error: --ttl: expected off, forever or a duration such as 30s, 12h or 1h30m (got "30m1h")"#);
    insta::assert_snapshot!(set("60").expect(2).stderr, @"error: --ttl: 60 has no unit: write 60s for seconds, 60m for minutes or 60ms for milliseconds");
    for ttl in ["", "-1", "-5m", "5 parsecs", "soon", "99999999999999999999d"] {
        set(ttl).expect_usage("--ttl: expected off, forever or a duration");
    }
    for ttl in ["0", "off", "1h30m", "60s", "forever"] {
        set(ttl).expect(0);
    }
}

#[test]
fn a_number_without_a_unit_is_refused_wherever_a_duration_is_typed() {
    let home = Home::new();
    let typed: [(&str, &[&str]); 8] = [
        ("the duration: 30 has no unit", &["pause", "30"]),
        ("--ttl", &["exec", "--ttl", "60", "--", "true"]),
        ("--max-age", &["exec", "--max-age", "60", "--", "true"]),
        ("--wait", &["exec", "--wait", "60", "--", "true"]),
        ("--max-age", &["cache", "get", "--key", "k", "--max-age", "60"]),
        ("--took", &["cache", "set", "--key", "k", "--condensed", "1", "--took", "60"]),
        ("--lease", &["early-exit", "signal", "s", "--lease", "60"]),
        ("--since", &["stats", "--since", "60"]),
    ];
    for (place, args) in typed {
        let output = home.run(args);
        assert!(output.code == Some(2) || args[0] == "exec", "{args:?}: {output:?}");
        assert!(output.stderr.contains(place), "{args:?}: {}", output.stderr);
    }
    assert!(!home.recoup().exists(), "nothing was begun");
    home.run(&["pause", "off"]).expect_usage("use `recoup resume` to end a pause");
    home.run(&["pause", "1h30m"]).expect(0);
}

#[test]
fn our_own_configuration_needs_units_and_other_programs_files_keep_milliseconds() {
    let home = Home::new();
    let check = |name: &str, value: &str| {
        let mut command = home.command(&["config", "check"]);
        finish(command.env(name, value))
    };
    check("RECOUP_CACHE_TTL", "60").expect_usage("RECOUP_CACHE_TTL: 60 has no unit: write 60s");
    check("RECOUP_CACHE_TTL", "0").expect(0);
    home.write("recoup.toml", "[cache]\nttl = 60\n");
    home.run(&["config", "check"]).expect_usage("cache.ttl: 60 has no unit: write 60s");
    home.write("recoup.toml", "[cache]\nttl = \"1h30m\"\n");
    assert!(home.run(&["config", "show"]).expect(0).text().contains("90m"));
}

#[test]
fn a_memory_needs_words() {
    let home = Home::new();
    let id = home.run(&["memory", "add", "use tabs", "--json"]).expect(0).json()["id"].clone();
    let id = id.as_str().unwrap();
    for args in [&["add", ""][..], &["add", " ", ""], &["edit", id, ""], &["search", " "]] {
        home.run(&[&["memory"], args].concat()).expect_usage("TEXT is empty");
    }
}

/// The exceptions that docs/src/commands/index.md lists: clients and whoever runs a command give 2
/// another meaning.
#[test]
fn wrong_usage_of_exec_and_hook_and_nothing_at_all_has_other_codes() {
    let home = Home::new();
    home.run(&["exec", "--frobnicate", "--", "true"]).expect(125);
    home.run(&["hook", "--frobnicate"]).expect(0);
    home.run::<&str>(&[]).expect(1);
    home.run(&["early-exit", "race", "s", "--frobnicate", "--", "true"]).expect(2);
}

#[test]
fn an_entry_must_be_named() {
    let home = Home::new();
    home.cache(&["get"]).expect_usage("--key KEY, or --paths CSV --query TEXT --operation NAME");
    home.cache(&["set", "--condensed", "1"]).expect_usage("no entry selected");
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
