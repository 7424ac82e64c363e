//! Clauses: where in a clause something begins to be forbidden, and by which words.
//!
//! ```text
//! use pnpm, never npm               use pnpm | never: npm
//! replace npm with pnpm             replace: npm | pnpm
//! vendor/ is off limits             vendor/ is | off limits:
//! ```

use crate::memory::checks::segment::{
    RuleObject, RuleSegment, RuleVerb, SegmentMode, is_program_name,
};
use crate::memory::checks::terms::RuleTerm;
use crate::memory::lang::is_one_of;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::phrase::starts_with_phrase;
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
        } else if clause[at].is_unspaced()
            && ["ではなく", "じゃなく", "代わり"].iter().any(|it| clause[at].text.contains(it))
        {
            // "Npmではなくpnpm": what stands before it is forbidden.
            let last = segments.len() - 1;
            segments[last].negation = Some(&clause[at]);
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

/// Phrases that forbid, with the number of their words, true if something must stand before them, and
/// the verb that is in them.
const PHRASES: [(&str, usize, bool, Option<RuleVerb>); 12] = [
    ("hands off", 2, false, Some(RuleVerb::Touch)),
    ("off limits|limit", 2, true, Some(RuleVerb::Touch)),
    ("finger weg von", 3, false, Some(RuleVerb::Touch)),
    ("steer|keep clear of", 3, false, Some(RuleVerb::Touch)),
    ("stay|keep out|away|off of|from", 3, false, Some(RuleVerb::Alter)),
    ("stay|keep out|away|off", 2, false, Some(RuleVerb::Alter)),
    ("untouched|unchanged|unmodified|read-only", 1, true, Some(RuleVerb::Alter)),
    ("as it|they is|are", 3, true, Some(RuleVerb::Alter)),
    ("as is $", 2, true, Some(RuleVerb::Alter)),
    ("doesnt|dont|not belong", 2, false, Some(RuleVerb::Put)),
    ("refrain from", 2, false, None),
    ("has|have to go", 3, true, None),
];

/// Returns the number of terms of a negation at a place, and the verb that is in it.
fn negation_at(clause: &[RuleTerm<'_>], at: usize) -> Option<(usize, Option<RuleVerb>)> {
    let term = &clause[at];
    if term.is_code {
        return None;
    }
    let words: Vec<&str> = clause[at..].iter().map(|it| it.folded.as_str()).collect();
    let phrase = PHRASES.iter().find(|(phrase, _, is_behind, _)| {
        (at > 0 || !is_behind) && starts_with_phrase(phrase, &words)
    });
    if let Some((_, count, _, verb)) = phrase {
        return Some((*count, *verb));
    }
    if let Some(verb) = enclosing_verb(clause, at, &words) {
        return Some((1, Some(verb)));
    }
    let is_program = |at: usize| clause.get(at).is_some_and(|it| is_program_name(&it.folded));
    match words[..] {
        // "Rg over grep", but not "all over the code"
        ["over", ..] => {
            return (at > 0 && is_program(at - 1) && is_program(at + 1)).then_some((1, None));
        }
        // "No, use pnpm" answers; French "ne … jamais" is one negation.
        ["no" | "nein" | "non", ..] if term.ends != ClauseEnd::Nothing => return None,
        ["ne", ..] if clause[at + 1..].iter().any(|it| it.negates) => return None,
        _ => {}
    }
    if let Some(count) = lexicon::CONTRAST.matched_start(&words) {
        return Some((count, None));
    }
    // "The tests never stop": only an order to stop forbids, and one to drop something.
    let is_first = clause[..at].iter().all(|it| it.is(WordClasses::LEAD.or(WordClasses::POLITE)));
    let is_thing = |it: &RuleTerm<'_>| it.is_code || it.is_flag() || it.is(WordClasses::DETERMINER);
    let discards = term.is(WordClasses::DISCARD)
        && (is_program(at + 1) || clause.get(at + 1).is_some_and(is_thing));
    let is_order = is_first && (discards || term.is(WordClasses::END_VERB));
    let is_nothing = is_one_of(&term.folded, "nothing nichts rien nada niente")
        && !clause.iter().any(|it| it.negates);
    let avoids = is_first && term.means("avoid");
    let is_contrast =
        term.is_unspaced() && ["而不是", "代替"].iter().any(|it| term.text.contains(it));
    let is_forbidden = avoids
        || is_contrast
        || term.means("forbid")
        || is_one_of(&term.folded, "banned taboo no-go tabu");
    let negates = term.negates && (is_first || !term.is(WordClasses::END_VERB));
    (is_order || is_nothing || is_forbidden || negates).then_some((1, None))
}

/// Returns the verb of a phrase that stands around what it forbids: "leave vendor/ alone", "keep .env
/// out of git".
fn enclosing_verb(clause: &[RuleTerm<'_>], at: usize, words: &[&str]) -> Option<RuleVerb> {
    match words {
        ["keep", .., "out", "of", "git" | "commits"] => Some(RuleVerb::Commit),
        ["leave" | "keep", .., "out", "of", "commit", _] => Some(RuleVerb::Put),
        ["leave", .., "alone"] | ["lass" | "lasst", .., "in", "ruhe"] => Some(RuleVerb::Touch),
        ["leave", _, "to", _, ..] => clause[at + 1].path().map(|_| RuleVerb::Touch),
        _ => None,
    }
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
        clause.iter().any(RuleTerm::is_joint) && !clause.iter().any(|it| it.verb().is_some());
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
