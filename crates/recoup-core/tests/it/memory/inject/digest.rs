//! The digest of the rules that a session begins with.

use std::collections::HashSet;

use recoup_core::base::digest::Sha256Digest;
use recoup_core::memory::recall::inject::{
    BlockBudget, InjectionContext, RulesBlock, rules_digest,
};
use recoup_core::memory::{Note, NoteSource};

use super::{context, never_stale, note};

#[test]
fn what_the_agent_does_not_see_changes_nothing() {
    let rule = note("Use tabs.");
    let quoted = Note {
        quote: Some("tabs please".to_owned()),
        tokens: 7,
        topic: Some("x".to_owned()),
        ..rule.clone()
    };
    assert_eq!(told_within(&[quoted], 2_000), told_within(&[rule], 2_000));
}

/// What is told where there is room for so many tokens at the start of a session.
fn told_within(notes: &[Note], tokens: u32) -> Sha256Digest {
    let given = HashSet::new();
    let within = |tokens| {
        let budget = BlockBudget { tokens, units: usize::MAX };
        RulesBlock::select(notes, &InjectionContext { budget, ..context(&given) }, never_stale)
    };
    rules_digest(within(u32::MAX).as_ref(), within(tokens).as_ref())
}

/// How many rules fit into so many tokens.
fn fits(notes: &[Note], tokens: u32) -> usize {
    let given = HashSet::new();
    let context =
        InjectionContext { budget: BlockBudget { tokens, units: usize::MAX }, ..context(&given) };
    RulesBlock::select(notes, &context, never_stale).map_or(0, |block| block.included().len())
}

#[test]
fn what_is_told_has_no_order_while_all_of_it_fits() {
    let (a, b) = (note("Use tabs."), note("Use pnpm."));
    let cited = Note { evidence: 16, ..a.clone() };
    let (before, after) = ([a, b.clone()], [cited, b]);
    assert_eq!(told_within(&before, 2_000), told_within(&after, 2_000));
    let room_for_one = (1..2_000).rfind(|room| fits(&before, *room) == 1).unwrap();
    let one = told_within(&before, room_for_one);
    assert_ne!(one, told_within(&before, 2_000), "one of two is told at the start");
    assert_ne!(one, told_within(&after, room_for_one), "and now it is the other");
}

#[test]
fn every_rule_and_who_says_so_is_told() {
    let (a, b) = (note("Use tabs."), note("Use pnpm."));
    let team = Note { source: NoteSource::Team, ..b.clone() };
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
