//! Signs that a statement holds beyond the current task: "always", "from now on", "we use", "in
//! this repo", a correction. A statement without one may be meant for this moment only.

use super::features::TokenizedPrompt;
use super::outline::PromptOutline;
use super::signs::{self, LastingSign};
use super::tokens::SentenceToken;
use super::{announced, reach};
use crate::memory::refuse::phrase::is_one_of;

/// Concepts that are a sign anywhere in a sentence.
const SIGNS: &[&str] = &[
    "ALWAYS",
    "NEVER",
    "NOWON",
    "WEUSE",
    "INREPO",
    "UNIVERSAL",
    "EVERYWHERE",
    "TOLDYOU",
    "YOUKEEP",
];
/// Concepts that are a sign unless the sentence is about something at hand: "I prefer a map here".
const SIGNS_IF_GENERAL: &[&str] = &["LATER", "ASARULE", "PREFER", "OUR"];
/// Words for something at hand that also refer to what was just said: "keep that in mind".
const REFERRING: &str = " that it that's it's es ";
/// Concepts that correct what was done before, where a sentence begins with them.
const CORRECTS: &[&str] = &["NO", "STOP", "TOLDYOU", "ACTUALLY"];
/// Concepts that tie a sentence to this moment, whatever else it says.
const TIES: &[&str] = &["FORNOW", "?"];

/// "Not" and "but" between two things, of which the second is meant.
const NOT: &str = " not nicht kein keine pas non não ";
const BUT: &str = " but sondern mais sino ma bensì mas ";
/// "Not … but" in one word.
const NOT_BUT: &str = " ではなく じゃなくて じゃなく 而不是 而非 ";

/// Most words of a remark about the sentence before it: "that's how we do it here".
const LONGEST_REMARK: usize = 8;

/// True if the sentence at `at`, or a neighbour or header, says that it is to last.
pub(super) fn has_lasting_sign(outline: &PromptOutline, read: &TokenizedPrompt, at: usize) -> bool {
    let own = &read.tokens[at];
    let form = signs::lasting_sign(own);
    if form == LastingSign::Asked || announced::is_announced(outline, read, at) {
        return true;
    }
    if has(own, TIES) {
        return false;
    }
    let before = at.checked_sub(1).map(|at| &read.tokens[at]);
    let behind = read.tokens.get(at + 1);
    form != LastingSign::None
        || lasts(own)
        || corrects(own)
        || opposes(own)
        || is_for_all(own)
        || reach::is_universal(read)
        || before.is_some_and(|it| it.len() <= 3 && corrects(it))
        || behind.is_some_and(|it| is_remark(it) && (has(it, SIGNS) || has(it, SIGNS_IF_GENERAL)))
}

fn has(own: &[SentenceToken], concepts: &[&str]) -> bool {
    own.iter().any(|token| concepts.iter().any(|it| token.is(it) || token.class == *it))
}

/// True for "I prefer a map here", "use that in this file".
fn is_at_hand(own: &[SentenceToken]) -> bool {
    let points = |token: &SentenceToken| token.is("THIS") && !is_one_of(&token.word, REFERRING);
    own.iter().any(|token| token.is("HERE") || points(token))
}

/// True if a concept says that it lasts. "It never ends" is a complaint, and no rule.
fn lasts(own: &[SentenceToken]) -> bool {
    let complains = own.first().is_some_and(|first| first.is("THIS"));
    (has(own, SIGNS) && !complains) || (has(own, SIGNS_IF_GENERAL) && !is_at_hand(own))
}

/// True for "no, put tests in `__tests__/`", "non, mets-les là", "actually it's tabs".
fn corrects(own: &[SentenceToken]) -> bool {
    let denies = matches!(own, [no, comma, ..] if is_one_of(&no.word, NOT) && comma.class == ",");
    denies || own.first().is_some_and(|first| CORRECTS.iter().any(|it| first.is(it)))
}

/// True for "tabs, not spaces", "not jest but vitest".
fn opposes(own: &[SentenceToken]) -> bool {
    let is_not = |token: &SentenceToken| is_one_of(&token.word, NOT);
    let mut behind_not = own.iter().skip_while(|token| !is_not(token));
    own.windows(2).any(|pair| pair[0].class == "," && is_not(&pair[1]))
        || matches!(own, [_, not, _] if is_not(not))
        || (behind_not.any(|token| is_one_of(&token.word, BUT)) && !is_at_hand(own))
        || (own.iter().any(|token| is_one_of(&token.word, NOT_BUT)) && !is_at_hand(own))
}

/// True for "every new endpoint must have an entry".
fn is_for_all(own: &[SentenceToken]) -> bool {
    own.first().is_some_and(|first| first.is("ALLOF")) && has(own, &["MUST"])
}

/// True for "that's our process", "always": about the sentence before it.
fn is_remark(own: &[SentenceToken]) -> bool {
    own.len() <= 2
        || (own.len() <= LONGEST_REMARK && own.first().is_some_and(|first| first.is("THIS")))
}
