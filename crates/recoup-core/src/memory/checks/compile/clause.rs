//! Clauses: where in a clause something begins to be forbidden, and by which words.
//!
//! ```text
//! use pnpm, never npm               use pnpm | never: npm
//! replace npm with pnpm             replace: npm | pnpm
//! vendor/ is off limits             vendor/ is | off limits:
//! ```

use crate::memory::checks::segment::{RuleObject, RuleSegment, RuleVerb, SegmentMode, is_tool};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::ClauseEnd;
use crate::memory::shell::is_known_program;

/// A part of a clause, before it is read.
#[derive(Debug)]
pub(super) struct RawSegment<'a, 't> {
    /// The word that forbids it; an empty one if that stands behind it.
    pub(super) negation: Option<&'a RuleTerm<'t>>,
    pub(super) terms: Vec<RuleTerm<'t>>,
    /// Verb that its negation has in itself: "hands off".
    pub(super) verb: Option<RuleVerb>,
}

impl RawSegment<'_, '_> {
    /// True if it names nothing, so that what it forbids stands before it.
    pub(super) fn is_about_what_is_before(&self) -> bool {
        let mode = SegmentMode { verb: self.verb, ..SegmentMode::default() };
        let read = RuleSegment::read(&self.terms, mode);
        read.has_only_verbs(&self.terms) && !names_act(&self.terms)
    }
}

/// Splits a clause where something begins to be forbidden.
pub(super) fn split_segments<'a, 't>(clause: &'a [RuleTerm<'t>]) -> Vec<RawSegment<'a, 't>> {
    let new = |negation, verb| RawSegment { negation, terms: Vec::new(), verb };
    let mut segments = vec![new(None, None)];
    let mut at = 0;
    while at < clause.len() {
        // "Replace npm with pnpm": the second half asks again.
        let is_swap = segments
            .last()
            .and_then(|it| it.negation)
            .is_some_and(|it| it.is(WordClasses::DISCARD));
        if is_swap && is_one_of(&clause[at].folded, "with by for") && at + 1 < clause.len() {
            segments.push(new(None, None));
            at += 1;
        } else if let Some((count, verb)) = negation_at(clause, at) {
            at += count;
            let words: Vec<&str> =
                clause[at.min(clause.len())..].iter().map(|it| it.folded.as_str()).collect();
            let phrase = lexicon::RESORT.matched_start(&words);
            let verb = verb.or(phrase.map(|_| RuleVerb::Touch));
            segments.push(new(Some(&clause[at - count]), verb));
            at += phrase.unwrap_or(0);
        } else {
            let last = segments.len() - 1;
            segments[last].terms.push(clause[at].clone());
            at += 1;
        }
    }
    if segments[0].terms.is_empty() && segments.len() > 1 {
        segments.remove(0);
    }
    segments
}

/// Returns the number of terms of a negation at a place, and the verb that is in it.
fn negation_at(clause: &[RuleTerm<'_>], at: usize) -> Option<(usize, Option<RuleVerb>)> {
    let term = &clause[at];
    if term.is_code {
        return None;
    }
    let words: Vec<&str> = clause[at..].iter().map(|it| it.folded.as_str()).collect();
    match words[..] {
        ["keep", .., "out", "of", "git" | "commits" | "version"]
        | ["keep", .., "out", "of", "version", _] => {
            return Some((1, Some(RuleVerb::Commit)));
        }
        ["hands", "off", ..] => return Some((2, Some(RuleVerb::Touch))),
        ["stay" | "keep", "out" | "away" | "off", "of" | "from", ..] => {
            return Some((3, Some(RuleVerb::Alter)));
        }
        ["stay" | "keep", "out" | "away" | "off", ..] => return Some((2, Some(RuleVerb::Alter))),
        ["untouched" | "unchanged" | "unmodified", ..] if at > 0 => {
            return Some((1, Some(RuleVerb::Alter)));
        }
        ["as", "it", "is"] | ["as", "they", "are"] => return Some((3, Some(RuleVerb::Alter))),
        ["as", "is"] => return Some((2, Some(RuleVerb::Alter))),
        ["steer" | "keep", "clear", "of", ..] => return Some((3, Some(RuleVerb::Touch))),
        ["leave" | "keep", .., "out", "of", "the", "commit", _]
        | ["leave" | "keep", .., "out", "of", "commit", _] => {
            return Some((1, Some(RuleVerb::Put)));
        }
        ["has" | "have", "to", "go", ..] if at > 0 => return Some((3, None)),
        ["refrain", "from", ..] => return Some((2, None)),
        ["doesnt" | "dont", "belong", ..] => return Some((2, Some(RuleVerb::Put))),
        ["not", "belong", ..] => return Some((2, Some(RuleVerb::Put))),
        ["over", ..] => {
            let is_program = |at: usize| {
                clause.get(at).is_some_and(|it| is_known_program(&it.folded) || is_tool(&it.folded))
            };
            return (at > 0 && is_program(at - 1) && is_program(at + 1)).then_some((1, None));
        }
        ["read-only", ..] if at > 0 => return Some((1, Some(RuleVerb::Alter))),
        ["finger", "weg", "von", ..] => return Some((3, Some(RuleVerb::Touch))),
        ["leave", _, "to", _, ..] if clause[at + 1].path().is_some() => {
            return Some((1, Some(RuleVerb::Touch)));
        }
        ["leave", .., "alone"] => return Some((1, Some(RuleVerb::Touch))),
        ["off", "limits" | "limit", ..] => return Some((2, Some(RuleVerb::Touch))),
        // "No, use pnpm" answers; French "ne … jamais" is one negation.
        ["no" | "nein" | "non", ..] if term.ends != ClauseEnd::Nothing => return None,
        ["ne", ..] if clause[at + 1..].iter().any(|it| it.negates) => return None,
        _ => {}
    }
    if let Some(count) = lexicon::CONTRAST.matched_start(&words) {
        return Some((count, None));
    }
    // "The tests never stop": only an order to stop forbids.
    let lead = WordClasses::LEAD.or(WordClasses::POLITE);
    let is_first = clause[..at].iter().all(|it| it.is(lead));
    let is_order = |it: &RuleTerm<'_>| is_first && it.is(WordClasses::END_VERB);
    let is_nothing = is_one_of(&term.folded, "nothing nichts rien nada niente")
        && !clause.iter().any(|it| it.negates);
    let is_discarded = term.is(WordClasses::DISCARD)
        && is_first
        && clause.get(at + 1).is_some_and(|it| {
            it.is_code
                || it.is_flag()
                || is_known_program(&it.folded)
                || is_tool(&it.folded)
                || it.is(WordClasses::DETERMINER)
        });
    if is_discarded {
        return Some((1, None));
    }
    let is_forbidden = term.means("forbid") || is_one_of(&term.folded, "banned taboo no-go tabu");
    let negates = term.negates && !(term.is(WordClasses::END_VERB) && !is_first);
    (negates || is_order(term) || is_nothing || is_forbidden).then_some((1, None))
}

/// True if a negation does not forbid: "you don't need npm", "not only npm", "doesn't", "not never".
pub(super) fn releases(segment: &RawSegment<'_, '_>) -> bool {
    const OTHERS: &str = "doesnt didnt wasnt werent hasnt havent wont couldnt wouldnt";
    const NEEDS: &str = "need needs have has had care mind like only just forget brauchst \
        brauchen musst mussen muss nur solo seulement worry bother hesitate";
    let negation = segment.negation.map_or("", |it| it.folded.as_str());
    let first = segment.terms.first().map_or("", |it| it.folded.as_str());
    is_one_of(negation, OTHERS) || is_one_of(first, NEEDS)
}

/// True if words name an act of their own, without an object.
pub(super) fn names_act(terms: &[RuleTerm<'_>]) -> bool {
    let is_package = terms.iter().any(RuleTerm::is_package_noun);
    let is_act = |it: &RuleTerm<'_>| {
        matches!(it.verb(), Some(RuleVerb::Push | RuleVerb::Commit))
            && it.ends >= ClauseEnd::Nothing
    };
    is_package || terms.first().is_some_and(is_act)
}

/// True if a clause only goes on with the list of the clause before it.
pub(super) fn is_list_rest(clause: &[RuleTerm<'_>], is_first: bool) -> bool {
    let is_thing = |it: &RuleTerm<'_>| {
        it.is_code
            || it.is_flag()
            || it.is_joint()
            || it.path().is_some()
            || is_known_program(&it.folded)
    };
    let is_list =
        clause.iter().any(|it| it.is_joint()) && !clause.iter().any(|it| it.verb().is_some());
    let is_command = || {
        let read = RuleSegment::read(clause, SegmentMode::default());
        let words: usize = read
            .objects
            .iter()
            .map(|it| match it {
                RuleObject::Command(words, true) => words.len(),
                _ => 0,
            })
            .sum();
        words == clause.len()
    };
    let is_example =
        is_first && (clause.iter().all(|it| it.is_code || it.is_flag()) || is_command());
    (is_list && clause.iter().all(is_thing)) || is_example
}
