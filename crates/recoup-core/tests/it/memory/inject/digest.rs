//! The digest of the rules that a session begins with.

use std::collections::HashSet;

use recoup_core::base::digest::Digest;
use recoup_core::memory::inject::{Block, Budget, Change, Context, RulesDigest, told};
use recoup_core::memory::{Note, Source};

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

/// What is told where there is room for so many tokens at the start of a session.
fn told_within(notes: &[Note], tokens: u32) -> Digest {
    let given = HashSet::new();
    let within = |tokens| {
        let budget = Budget { tokens, units: usize::MAX };
        Block::of(notes, &Context { budget, ..context(&given) }, never_stale)
    };
    told(within(u32::MAX).as_ref(), within(tokens).as_ref())
}

/// How many rules fit into so many tokens.
fn fits(notes: &[Note], tokens: u32) -> usize {
    let given = HashSet::new();
    let context = Context { budget: Budget { tokens, units: usize::MAX }, ..context(&given) };
    Block::of(notes, &context, never_stale).map_or(0, |block| block.included().len())
}

#[test]
fn what_is_told_has_no_order_while_all_of_it_fits() {
    let (a, b) = (note("Use tabs."), note("Use pnpm."));
    let cited = Note { evidence: 16, ..a.clone() };
    let (before, after) = ([a, b.clone()], [cited, b]);
    assert_ne!(of(&before).digest, of(&after).digest, "it has moved");
    assert_eq!(told_within(&before, 2_000), told_within(&after, 2_000));
    let room_for_one = (1..2_000).rfind(|room| fits(&before, *room) == 1).unwrap();
    let one = told_within(&before, room_for_one);
    assert_ne!(one, told_within(&before, 2_000), "one of two is told at the start");
    assert_ne!(one, told_within(&after, room_for_one), "and now it is the other");
}

#[test]
fn every_rule_and_who_says_so_is_told() {
    let (a, b) = (note("Use tabs."), note("Use pnpm."));
    let team = Note { source: Source::Team, ..b.clone() };
    let other_id = Note { id: note("").id, ..a.clone() };
    let digests = [
        told_within(&[], 2_000),
        told_within(std::slice::from_ref(&a), 2_000),
        told_within(&[a.clone(), b], 2_000),
        told_within(&[a.clone(), team], 2_000),
        told_within(&[note("Use tabs. Use pnpm.")], 2_000),
    ];
    assert_eq!(digests.iter().collect::<HashSet<_>>().len(), digests.len());
    assert_eq!(digests[1], told_within(&[other_id], 2_000), "ids are nobody else's");
}
