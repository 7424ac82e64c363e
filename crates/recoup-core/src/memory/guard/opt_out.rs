//! Opt-outs: requests not to remember something, as in "don't remember this: …" or "off the record,
//! …". The request and all that follows it count as private, like text in `<private>` tags. If
//! nothing follows, the request is about the text before it.

use crate::memory::lang::lexicon::{self, WordClasses as C};
use crate::memory::lang::token::{ClauseEnd, Token, has_no_spaces, split_at, tokenize_text};

/// Bytes that are searched at either end of a longer text: what lies between was pasted.
const EDGE: usize = 6_000;

/// Most words of a bare opt-out; a longer clause has its subject in it: "don't remember that we …".
const LONGEST: usize = 6;

/// Returns the text without an opt-out and what it covers; may be empty.
pub(crate) fn without_opted_out(text: &str) -> &str {
    if text.len() <= 2 * EDGE {
        return cut_at_opt_out(text, text);
    }
    let kept = cut_at_opt_out(text, &text[..text.floor_char_boundary(EDGE)]);
    if kept.len() < text.len() {
        return kept;
    }
    cut_at_opt_out(text, &text[text.floor_char_boundary(text.len() - EDGE)..])
}

/// Returns `text` up to the opt-out in `part` of it.
fn cut_at_opt_out<'a>(text: &'a str, part: &str) -> &'a str {
    let tokens = tokenize_text(part);
    let starts = C::OPT_OUT_START.or(C::OPT_OUT_RUN).or(C::OPT_OUT_VERB);
    if !tokens.iter().any(|token| token.is(starts)) {
        return text;
    }
    let clauses: Vec<&[Token<'_>]> = split_at(&tokens, ClauseEnd::Clause).collect();
    let Some(at) = clauses.iter().position(|clause| opts_out(clause)) else { return text };
    let said = clauses[at];
    let is_head = part.len() < text.len() && text.starts_with(part);
    let follows = |clause: &&[Token<'_>]| {
        clause.len() > 1 || clause.iter().any(|it| it.text.starts_with(has_no_spaces))
    };
    let is_followed = clauses[at + 1..].iter().any(follows) || said.len() > LONGEST || is_head;
    let begins =
        at == 0 || clauses[at - 1].last().is_some_and(|token| token.ends == ClauseEnd::Sentence);
    if !begins || !is_followed {
        return "";
    }
    let before = if is_head { 0 } else { text.len() - part.len() };
    text[..before + said[0].start].trim_end()
}

fn opts_out(clause: &[Token<'_>]) -> bool {
    let words: Vec<&str> = clause.iter().map(|token| token.folded.as_str()).collect();
    let has = |class: C| clause.iter().any(|token| token.is(class));
    without_leads(&words).any(|rest| lexicon::OPT_OUT.matched_start(rest).is_some())
        || has(C::OPT_OUT_RUN)
        || (has(C::OPT_OUT_VERB)
            && (has(C::OPT_OUT_THIS)
                || clause.iter().all(|it| it.is(C::OPT_OUT_VERB.or(C::RUN_PARTICLE)))))
}

/// True if a whole prompt is an opt-out and nothing else: then it is about what was said before.
pub(crate) fn is_bare_opt_out(words: &[&str]) -> bool {
    let is_phrase = |rest: &[&str]| {
        let is_ending = |word: &&&str| lexicon::is_in(word, C::ENDING);
        let ending = rest.iter().rev().take_while(is_ending).count();
        (0..=ending).any(|cut| lexicon::OPT_OUT.is_whole(&rest[..rest.len() - cut]))
    };
    let is_run = |word: &&str| lexicon::is_in(word, C::OPT_OUT_RUN.or(C::OPT_OUT_VERB));
    let is_around = |word: &&str| is_run(word) || lexicon::is_in(word, C::RUN_PARTICLE);
    without_leads(words).any(is_phrase) || (words.iter().any(is_run) && words.iter().all(is_around))
}

/// Returns the rest of a clause for each number of leads removed: the first word of a phrase may be
/// a lead, too.
pub(crate) fn without_leads<'a>(words: &'a [&'a str]) -> impl Iterator<Item = &'a [&'a str]> {
    let leads = words.iter().take_while(|word| lexicon::is_in(word, C::LEAD)).count();
    (0..=leads).map(|count| &words[count..])
}
