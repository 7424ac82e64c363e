//! The digest of the rules that a session begins with.

use std::collections::HashSet;

use recoup_core::base::digest::Digest;
use recoup_core::memory::Note;
use recoup_core::memory::inject::{Block, Change, RulesDigest};

use super::{context, never_stale, note};

fn of(notes: &[Note]) -> RulesDigest {
    let given = HashSet::new();
    RulesDigest::of(Block::of(notes, &context(&given), never_stale).as_ref())
}

#[test]
fn it_is_the_digest_of_exactly_the_injected_text() {
    let given = HashSet::new();
    let block = Block::of(&[note("Use tabs.")], &context(&given), never_stale).unwrap();
    assert_eq!(RulesDigest::of(Some(&block)).digest, Digest::of(block.text().as_bytes()));
    assert_eq!(of(&[]).digest, Digest::of(b""));
}

#[test]
fn another_rule_makes_another_digest_and_has_a_name() {
    let (a, b) = (note("Use tabs."), note("Use pnpm."));
    let (one, both) = (of(std::slice::from_ref(&a)), of(&[a, b.clone()]));
    assert_ne!(one.digest, both.digest);
    let [Change::Added(rule)] = &both.changes_since(&one)[..] else { panic!() };
    assert_eq!((&rule.id, rule.line.as_str()), (&b.id, "Use pnpm."));
    let [Change::Removed(rule)] = &one.changes_since(&both)[..] else { panic!() };
    assert_eq!(rule.id, b.id);
    assert!(one.changes_since(&one).is_empty());
}

#[test]
fn other_words_are_a_change() {
    let old = note("Use tabs.");
    let new = Note { text: "Use spaces.".to_owned(), ..old.clone() };
    let changes = of(&[new]).changes_since(&of(&[old]));
    assert!(matches!(&changes[..], [Change::Reworded(rule)] if rule.line == "Use spaces."));
}

#[test]
fn what_the_agent_does_not_see_changes_nothing() {
    let rule = note("Use tabs.");
    let before = of(std::slice::from_ref(&rule));
    let cited = Note {
        quote: Some("tabs please".to_owned()),
        tokens: 7,
        topic: Some("x".to_owned()),
        ..rule
    };
    assert_eq!(of(&[cited]), before);
}

#[test]
fn a_rule_that_does_not_fit_changes_nothing_once_there_is_one() {
    let notes: Vec<Note> =
        (0..300).map(|n| note(&format!("Rule number {n:03} of very many."))).collect();
    assert_eq!(of(&notes[..290]).digest, of(&notes).digest);
}

#[test]
fn names_are_short() {
    let long = of(&[note(&"word ".repeat(60))]);
    assert!(long.rules[0].line.chars().count() <= 81);
}
