//! Prompts that say nothing about tomorrow, and how the user takes something back.

use super::{Talk, happened, is_kept, remembered};
use crate::support::Home;

/// Prompts that people type while they work. Each was once given to the next session as a rule.
const TASKS: [&str; 5] = [
    "we are in a hurry", "CI fails on node 18", "in src/orders.py", "return an empty list",
    "set up CI: lint, test, build",
];

#[test]
fn a_task_is_no_rule_for_the_next_session() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    for task in TASKS {
        talk.says(task).is_silent();
    }
    assert_eq!(remembered(&home, "active"), [""; 0]);
    assert_eq!(remembered(&home, "candidate"), [""; 0]);
    Talk::new(&home, "two").tell("SessionStart-startup").is_silent();
}

#[test]
fn what_is_doubtful_and_said_again_in_another_session_becomes_a_rule() {
    let home = Home::new();
    let first = Talk::new(&home, "one");
    first.says("maybe use pnpm for this repo").is_silent();
    first.says("maybe use pnpm for this repo!").is_silent();
    assert_eq!(remembered(&home, "candidate"), ["use pnpm for this repo"]);
    let notice = Talk::new(&home, "two").says("maybe use pnpm for this repo").whole_notice;
    assert!(notice.starts_with("recoup: will remember: use pnpm for this repo (say"), "{notice}");
    Talk::new(&home, "three").tell("SessionStart-startup").has_rules(&["use pnpm for this repo"]);
}

/// The id in a notice of ours.
fn id_in(notice: &str, command: &str) -> String {
    let (_, id) = notice.split_once(command).unwrap_or_else(|| panic!("{notice}"));
    id.trim_end_matches(')').to_owned()
}

#[test]
fn a_notice_says_how_to_take_it_back() {
    let home = Home::new();
    let notice = Talk::new(&home, "one").says("from now on use pnpm").whole_notice;
    let id = id_in(&notice, "recoup memory retire ");
    assert_eq!(
        notice,
        format!(
            "recoup: will remember: use pnpm (say \"forget that\", or recoup memory retire {id})"
        )
    );
    home.run(&["memory", "retire", &id]).expect(0);
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn forget_that_retires_what_the_notice_named() {
    for words in [
        "forget that", "No, forget that!", "please don't remember that",
        "don't put that in your memory", "ok, keep that between us please",
        "don't remember any of that", "forget that rule", "undo", "vergiss das bitte",
        "bitte nicht merken", "Bitte nicht speichern!", "mach das rückgängig", "rückgängig",
        "oublie ça", "olvida eso", "esquece isso", "dimenticalo", "忘掉这个", "不要记住这个",
        "それは忘れて", "それは覚えなくていい",
    ] {
        let home = Home::new();
        let talk = Talk::new(&home, "one");
        talk.says("from now on use npm");
        talk.says("from now on use pnpm");
        let notice = talk.says(words).notice;
        let id = id_in(&notice, "recoup memory restore ");
        let wanted = format!("recoup: no longer remembered: use pnpm (recoup memory restore {id})");
        assert_eq!(notice, wanted, "{words}");
        assert_eq!(remembered(&home, "active"), ["use npm"], "{words}: what it replaced is back");
        assert_eq!(remembered(&home, "candidate"), [""; 0], "{words} is no memory");
    }
}

#[test]
fn only_what_was_just_said_in_this_session_is_taken_back() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm");
    Talk::new(&home, "two").says("forget that").is_silent();
    talk.says("fix the login");
    talk.says("undo").is_silent();
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "`undo` was about the login");
    talk.says("and the tests");
    talk.says("please forget that").is_silent();
    assert_eq!(remembered(&home, "active"), ["use pnpm"], "that is long ago");
    let script = Talk { entrypoint: "sdk-cli", ..talk.clone() };
    talk.says("never push to main");
    script.says("forget that").is_silent();
    assert_eq!(remembered(&home, "active"), ["never push to main", "use pnpm"]);
    assert_eq!(happened(&home, "prompted").len(), 8, "each is an event");
}

#[test]
fn an_opt_out_with_more_behind_it_takes_nothing_back() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm");
    for words in [
        "don't remember that port", "off the record: staging runs on port 8443",
        "undo the last commit",
    ] {
        talk.says(words).is_silent();
    }
    let other = Talk::new(&home, "two");
    other.says("never push to main");
    other.says("不要把这个文件删掉").is_silent();
    assert_eq!(remembered(&home, "active"), ["never push to main", "use pnpm"]);
}

#[test]
fn forget_that_reaches_a_few_prompts_back() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use pnpm");
    talk.says("fix the login");
    assert!(talk.says("forget that").notice.contains("no longer remembered: use pnpm"));
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn what_gave_way_long_ago_does_not_come_back_with_a_retraction() {
    let home = Home::new();
    let talk = Talk::new(&home, "one");
    talk.says("from now on use npm");
    talk.says("from now on use pnpm");
    let later = Talk::new(&home, "two");
    assert_eq!(later.says("from now on use pnpm").notice, "recoup: remembered already: use pnpm");
    assert!(later.says("forget that").notice.contains("no longer remembered: use pnpm"));
    assert_eq!(remembered(&home, "active"), [""; 0]);
}

#[test]
fn a_refused_secret_is_told_and_not_repeated() {
    let home = Home::new();
    let notice =
        Talk::new(&home, "one").says("remember: the staging password is Sommer-2031").notice;
    assert!(notice.starts_with("recoup: not remembered: "), "{notice}");
    assert!(!notice.contains("Sommer"), "{notice}");
    assert!(!is_kept(&home, "Sommer-2031"));
    // What was nothing to remember is not told about.
    let task = "push it with ghp_012345678901234567890123456789abcdef please";
    assert_eq!(Talk::new(&home, "two").says(task).notice, "");
}
