//! Phrase patterns, written as people would say them, in folded words:
//!
//! ```text
//! a|b     one of these words      a*    begins so; *a ends so       a?   it may be missing
//! ~       a few small words       !a|b  not one of these next      $    the clause ends
//! ```

use std::ops::Range;

use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::Token;

/// Maximum number of words that one `~` matches.
const MOST_SMALL: usize = 5;

/// Classes of the words that `~` matches.
const SMALL: WordClasses = WordClasses::STOP
    .or(WordClasses::BETWEEN)
    .or(WordClasses::HIDDEN)
    .or(WordClasses::BEFORE)
    .or(WordClasses::ALL);

/// Phrase patterns, those together that may begin with the same byte.
#[derive(Debug)]
pub(crate) struct PhraseList {
    /// The patterns, one a line.
    text: &'static str,
    /// First bytes, in order, each with the part of the text that has its patterns.
    buckets: &'static [(u8, u32, u32)],
    /// Class of the words that one of them may begin with.
    starts: WordClasses,
}

impl PhraseList {
    pub(crate) const fn new(
        text: &'static str,
        buckets: &'static [(u8, u32, u32)],
        starts: WordClasses,
    ) -> Self {
        Self { text, buckets, starts }
    }

    /// The patterns with which a text may begin whose first word is `word`.
    fn candidates(&self, word: &str) -> impl Iterator<Item = &'static str> {
        let bucket = word.bytes().next().filter(|_| lexicon::is_in(word, self.starts));
        let bucket = bucket.and_then(|byte| {
            let at = self.buckets.binary_search_by_key(&byte, |it| it.0).ok()?;
            Some(self.buckets[at])
        });
        let text = bucket.map(|(_, start, end)| &self.text[start as usize..end as usize]);
        text.into_iter().flat_map(|text| text.split('\n'))
    }

    /// Returns how many words the longest phrase takes with which `words` begin.
    pub(crate) fn matched_start(&self, words: &[&str]) -> Option<usize> {
        self.candidates(words.first()?).filter_map(|pattern| match_words(pattern, words)).max()
    }

    /// True if the words are one of these phrases, and nothing else.
    pub(crate) fn is_whole(&self, words: &[&str]) -> bool {
        let Some(first) = words.first() else { return false };
        self.candidates(first)
            .any(|pattern| match_words(pattern.trim_end_matches(" $"), words) == Some(words.len()))
    }

    /// Returns the first place among tokens where one of these phrases occurs.
    pub(crate) fn find(&self, tokens: &[Token<'_>]) -> Option<Range<usize>> {
        if !tokens.iter().any(|token| token.is(self.starts)) {
            return None;
        }
        let words: Vec<&str> = tokens.iter().map(|token| token.folded.as_str()).collect();
        (0..words.len())
            .filter(|at| tokens[*at].is(self.starts))
            .find_map(|at| self.matched_start(&words[at..]).map(|count| at..at + count))
    }
}

/// True if these words begin with `phrase`.
pub(crate) fn starts_with_phrase(phrase: &str, words: &[&str]) -> bool {
    match_words(phrase, words).is_some()
}

/// Returns how many words the phrase takes at the beginning of `words`.
fn match_words(pattern: &str, words: &[&str]) -> Option<usize> {
    let (part, later) = pattern.split_once(' ').unwrap_or((pattern, ""));
    match part {
        "" => Some(0),
        "$" => words.is_empty().then_some(0),
        "~" => {
            let is_small = |word: &&&str| lexicon::is_in(word, SMALL);
            let most = words.iter().take(MOST_SMALL).take_while(is_small).count();
            (0..=most).find_map(|count| Some(count + match_words(later, &words[count..])?))
        }
        part => {
            if let Some(unwanted) = part.strip_prefix('!') {
                let is_free = words.first().is_none_or(|word| !matches_choice(unwanted, word));
                return is_free.then(|| match_words(later, words)).flatten();
            }
            let (part, optional) = part.strip_suffix('?').map_or((part, false), |it| (it, true));
            let taken = words
                .split_first()
                .filter(|(word, _)| matches_choice(part, word))
                .and_then(|(_, behind)| Some(1 + match_words(later, behind)?));
            taken.or_else(|| optional.then(|| match_words(later, words)).flatten())
        }
    }
}

/// True if `word` is one of `a|b|c*`.
pub(crate) fn matches_choice(choices: &str, word: &str) -> bool {
    let first = word.as_bytes().first();
    choices.split('|').any(|choice| {
        choice.as_bytes().first() == first
            && match choice.strip_suffix('*') {
                Some(beginning) => word.starts_with(beginning),
                None => word == choice,
            }
            || choice.strip_prefix('*').is_some_and(|ending| word.ends_with(ending))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matched(phrase: &str, text: &str) -> Option<usize> {
        let words: Vec<&str> = text.split(' ').collect();
        match_words(phrase, &words)
    }

    #[test]
    fn a_pattern_takes_as_many_words_as_it_has() {
        let cases = [
            ("please? dont|never remember this", "dont remember this please", Some(3)),
            ("please? dont|never remember this", "please never remember this", Some(4)),
            ("keep this between us $", "keep this between us all", None),
            ("keep this between us $", "keep this between us", Some(4)),
            ("ignor* ~ rules", "ignoring all of the rules here", Some(5)),
            ("now !on|in branch", "now on branch", None),
            ("now !on|in branch", "now branch", Some(2)),
        ];
        for (phrase, text, expected) in cases {
            assert_eq!(matched(phrase, text), expected, "{phrase} / {text}");
        }
    }
}
