//! Words that are hidden by their spacing: letters with spaces between them, words without, and
//! spaces in scripts that have none.

use std::borrow::Cow;

use crate::memory::lang::lexicon;
use crate::memory::lang::token::{ClauseEnd, Token, has_no_spaces};

/// Returns a text without spaces and marks between characters of scripts that have none.
pub(super) fn close_gaps(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(has_no_spaces) {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_gap = |c: char| matches!(c, ' ' | '\u{3000}' | '·' | '*' | '_' | '-');
        let is_inside = is_gap(c)
            && kept.ends_with(has_no_spaces)
            && chars.peek().is_some_and(|c| is_gap(*c) || has_no_spaces(*c));
        if !is_inside {
            kept.push(c);
        }
    }
    Cow::Owned(kept)
}

/// Letters of a word without spaces in which several words are looked for.
const SQUEEZED: usize = 16;

/// Splits long words that consist of known ones: `ignoreallpreviousinstructions`.
pub(super) fn split_squeezed(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let is_long = |token: &Token<'_>| token.folded.len() >= SQUEEZED && token.text.is_ascii();
    if !tokens.iter().any(is_long) {
        return tokens;
    }
    let mut all = Vec::with_capacity(tokens.len() + 4);
    for token in tokens {
        let mut parts = Vec::new();
        let mut rest = token.folded.as_str();
        while let Some(length) = is_long(&token).then(|| lexicon::longest_word(rest)).flatten() {
            parts.push(&rest[..length]);
            rest = &rest[length..];
        }
        if !rest.is_empty() || parts.len() < 3 {
            all.push(token);
            continue;
        }
        all.extend(parts.into_iter().map(|part| Token {
            folded: part.to_owned(),
            classes: lexicon::classes_of(part),
            ends: ClauseEnd::Nothing,
            ..token.clone()
        }));
    }
    all
}

/// Joins single letters: `i g n o r e  a l l` becomes two words, parted at the wider gaps.
pub(super) fn join_letters(tokens: Vec<Token<'_>>) -> Vec<Token<'_>> {
    let is_single = |token: &Token<'_>| {
        token.text.chars().nth(1).is_none() && !token.text.starts_with(has_no_spaces)
    };
    let gap = |one: &Token<'_>, next: &Token<'_>| next.start - one.span().end;
    if !tokens.windows(4).any(|run| run.iter().all(is_single)) {
        return tokens;
    }
    let mut all: Vec<Token<'_>> = Vec::with_capacity(tokens.len());
    let mut rest = &tokens[..];
    while let Some(first) = rest.first() {
        let run = rest.iter().take_while(|it| is_single(it)).count();
        if run < 4 {
            all.push(first.clone());
            rest = &rest[1..];
            continue;
        }
        let narrow = rest[..run].windows(2).map(|it| gap(&it[0], &it[1])).min().unwrap_or(1);
        for at in 0..run {
            match all.last_mut() {
                Some(word) if at > 0 && gap(&rest[at - 1], &rest[at]) <= narrow => {
                    word.folded.push_str(&rest[at].folded);
                    word.ends = rest[at].ends;
                }
                _ => all.push(rest[at].clone()),
            }
        }
        rest = &rest[run..];
    }
    for token in &mut all {
        token.classes = lexicon::classes_of(&token.folded);
    }
    split_squeezed(all)
}
