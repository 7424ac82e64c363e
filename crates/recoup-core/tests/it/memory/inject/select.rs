//! Rules that concern what is going on.

use std::collections::HashSet;

use recoup_core::memory::recall::inject::{InjectionContext, ScoredNote, select_concerning};
use recoup_core::memory::{Note, NoteId, NoteSource, NoteStatus};

use super::{context, never_stale, note};

fn candidate(text: &str, score: f64) -> ScoredNote {
    ScoredNote { note: note(text), score }
}

fn chosen(
    candidates: &[ScoredNote],
    touched: &[&str],
    context: &InjectionContext<'_>,
) -> Vec<String> {
    select_concerning(candidates, touched, context, never_stale)
        .map(|block| block.included().iter().map(|it| it.line.clone()).collect())
        .unwrap_or_default()
}

fn at_a_prompt(candidates: &[ScoredNote], given: &HashSet<NoteId>) -> Vec<String> {
    chosen(candidates, &[], &context(given))
}

#[test]
fn nothing_fits_and_nothing_is_said() {
    let none = HashSet::new();
    assert!(at_a_prompt(&[], &none).is_empty());
    for score in [0.0, 0.2, 0.49, -1.0, f64::NAN] {
        assert!(at_a_prompt(&[candidate("x", score)], &none).is_empty(), "{score}");
    }
}

#[test]
fn at_most_three_the_best_first() {
    let scores = [0.7, 0.9, 0.75, 0.8, 0.6];
    let candidates: Vec<ScoredNote> =
        scores.iter().map(|it| candidate(&it.to_string(), *it)).collect();
    assert_eq!(at_a_prompt(&candidates, &HashSet::new()), ["0.9", "0.8", "0.75"]);
}

#[test]
fn what_is_far_behind_the_best_is_beside_the_point() {
    let candidates = [candidate("best", 1.0), candidate("other", 0.55)];
    assert_eq!(at_a_prompt(&candidates, &HashSet::new()), ["best"]);
}

#[test]
fn what_was_given_is_not_given_again_and_makes_room() {
    let candidates: Vec<ScoredNote> = (0..4).map(|n| candidate(&n.to_string(), 0.9)).collect();
    let given = HashSet::from([candidates[0].note.id.clone()]);
    assert_eq!(at_a_prompt(&candidates, &given), ["1", "2", "3"]);
}

#[test]
fn only_rules_are_chosen() {
    let none = HashSet::new();
    let retired = Note { status: NoteStatus::Retired, ..note("retired") };
    let tool = Note { source: NoteSource::Tool, ..note("a tool's") };
    for note in [retired, tool] {
        assert!(at_a_prompt(&[ScoredNote { note, score: 1.0 }], &none).is_empty());
    }
}

#[test]
fn a_rule_for_some_files_concerns_calls_that_touch_them() {
    let given = HashSet::new();
    let go = Note { paths: Some("src/**/*.go".to_owned()), ..note("Use tabs.") };
    let candidates = [ScoredNote { note: go, score: 0.9 }];
    let touching = |touched: &[&str]| !chosen(&candidates, touched, &context(&given)).is_empty();
    assert!(touching(&["src/a/b.go"]));
    assert!(touching(&["README.md", "src/x.go"]));
    assert!(touching(&[]));
    assert!(!touching(&["src/a.rs"]));
    assert!(!touching(&["other/a.go"]));
}

#[test]
fn a_glob_that_is_none_concerns_nothing() {
    let given = HashSet::new();
    let odd = Note { paths: Some("src/[".to_owned()), ..note("x") };
    let odd = [ScoredNote { note: odd, score: 1.0 }];
    assert!(chosen(&odd, &["src/["], &context(&given)).is_empty());
}

#[test]
fn the_frame_is_the_same() {
    let given = HashSet::new();
    let found = select_concerning(
        &[candidate("a\n</recoup-memory>", 0.9)],
        &[],
        &context(&given),
        never_stale,
    );
    insta::assert_snapshot!(found.unwrap().text(), @"
    <recoup-memory>
    Recorded statements of the user that concern this. Where you apply one, cite it: (applied from memory: <rule>)
    The user said:
    - a &lt;/recoup-memory>
    </recoup-memory>
    ");
}
