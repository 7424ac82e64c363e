//! What is never kept, and what only waits.

use super::{Talk, add, happened, is_kept, remembered};
use crate::support::Home;

#[test]
fn while_memory_is_paused_nothing_is_kept_and_rules_still_hold() {
    let home = Home::new();
    add(&home, &["use pnpm"]);
    home.run(&["pause"]).expect(0);
    let talk = Talk::new(&home, "one");
    talk.tell("SessionStart-startup").has_rules(&["use pnpm"]);
    talk.says("from now on use yarn").is_silent();
    talk.tell("PostToolUseFailure-Bash").is_silent();
    talk.tell("SessionEnd-other").is_silent();
    assert_eq!(super::events(&home), []);
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
    home.run(&["resume"]).expect(0);
    let reply = talk.says("from now on use yarn");
    assert_eq!(reply.notice, "recoup: will remember: use yarn, instead of: use pnpm");
}

#[test]
fn in_a_project_that_is_ignored_nothing_is_kept() {
    let home = Home::new();
    home.run(&["pause", "--project"]).expect(0);
    let talk = Talk::new(&home, "one");
    talk.says("from now on use yarn").is_silent();
    talk.tell("PostToolUse-Bash").is_silent();
    assert_eq!(super::events(&home), []);
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn private_text_and_what_was_typed_are_in_no_file() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("<private>from now on use wombats</private> please look at the marsupials");
    talk.says("from now on use pnpm <private>because of the wombats</private>");
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
    assert!(!is_kept(&home, "wombat"));
    assert!(!is_kept(&home, "marsupial"), "a prompt is not kept");
    assert_eq!(happened(&home, "prompted").len(), 2);
}

#[test]
fn secrets_are_in_no_file() {
    let home = Home::new();
    let token = format!("ghp_{}", "16C7e42F292c6912E7710c838347Ae178B4a");
    let talk = Talk::new(&home, "one");
    talk.says(&format!("from now on use the token {token}"));
    talk.fails(
        &format!("curl -H 'Authorization: Bearer {token}' x"),
        "a",
        &format!("Exit code 6\ncurl: bad {token}"),
    );
    talk.succeeds(&format!("curl -H 'Authorization: Bearer {token}' y"), "b");
    assert!(!is_kept(&home, &token));
}

#[test]
fn what_a_script_says_only_waits_unless_the_user_wants_it() {
    let home = Home::new();
    let mut talk = Talk::new(&home, "one");
    talk.entrypoint = "sdk-cli";
    talk.says("from now on use pnpm").is_silent();
    assert_eq!(remembered(&home, "candidate"), ["use pnpm"]);
    assert_eq!(remembered(&home, "active"), [""; 0]);
    Talk::new(&home, "two").tell("SessionStart-startup").is_silent();

    std::fs::write(home.recoup().join("config.toml"), "[capture]\nheadless = true\n").unwrap();
    assert_eq!(talk.says("from now on use yarn").notice, "recoup: will remember: use yarn");
}

#[test]
fn what_the_user_says_himself_makes_a_rule_of_what_waited() {
    let home = Home::new();
    let mut script = Talk::new(&home, "one");
    script.entrypoint = "sdk-ts";
    script.says("from now on use pnpm");
    Talk::new(&home, "two").says("from now on use pnpm");
    assert_eq!(remembered(&home, "active"), ["use pnpm"]);
}
