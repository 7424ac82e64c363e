//! Terms: the words of a statement, with the parts of a name or a path in one, and other names of a
//! thing unified.
//!
//! ```text
//! put e2e tests in `src/e2e`, bitte    put | e2e | tests | in | src/e2e , bitte
//! herokuはやめて                        heroku | は | やめて
//! ```

use std::borrow::Cow;
use std::ops::Range;

use crate::memory::lang::dictionary;
use crate::memory::lang::families::FAMILIES;
use crate::memory::lang::fold::{fold_char, is_apostrophe};
use crate::memory::lang::forms::WordStemmer;
use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::token::{ClauseEnd, Token, has_no_spaces, negates};
use crate::memory::lang::tokenizer::{WordSort, is_unspaced};

/// A word, a name or a path.
#[derive(Debug, Clone)]
pub(super) struct Term<'t> {
    /// As written.
    pub(super) text: &'t str,
    /// Lower case, without accents and apostrophes.
    pub(super) folded: String,
    classes: WordClasses,
    /// True if it negates or rules out the words behind it.
    pub(super) negates: bool,
    /// The end of a clause or a sentence behind it, if any.
    pub(super) ends: ClauseEnd,
}

/// Classes of words that do not tell what a statement is about: small words, and words of change.
const LIGHT: WordClasses = WordClasses::STOP
    .or(WordClasses::LIGHT)
    .or(WordClasses::NEGATION)
    .or(WordClasses::LATE_NEGATION)
    .or(WordClasses::CHANGED_START)
    .or(WordClasses::ENDED_BEHIND_START)
    .or(WordClasses::ENDED_BEFORE_START)
    .or(WordClasses::ENDED_AROUND_START)
    .or(WordClasses::PERMITTED_START)
    .or(WordClasses::KEPT_START)
    .or(WordClasses::MOVED)
    .or(WordClasses::ORIGIN)
    .or(WordClasses::TARGET)
    .or(WordClasses::VALUE_BEFORE)
    .or(WordClasses::SUBJECT_BEFORE)
    .or(WordClasses::SUBORDINATE)
    .or(WordClasses::WITHIN);

/// Joins the tokens of a statement into terms.
pub(super) fn split_terms<'t>(statement: &'t str, tokens: &[Token<'t>]) -> Vec<Term<'t>> {
    let mut terms: Vec<Term<'t>> = Vec::with_capacity(tokens.len());
    let mut start = 0;
    for (at, token) in tokens.iter().enumerate() {
        let is_foreign = |it: &Token<'_>| it.text.starts_with(has_no_spaces);
        let is_unknown = |it: &Token<'_>| !it.is(LIGHT);
        let is_joined = tokens.get(at + 1).is_some_and(|next| {
            next.is_glued
                && token.ends == ClauseEnd::Nothing
                && is_foreign(token) == is_foreign(next)
                && (!is_foreign(token) || (is_unknown(token) && is_unknown(next)))
        });
        if is_joined {
            continue;
        }
        let text = widened(statement, tokens[start].start..token.span().end);
        // A Korean particle behind a foreign name is not part of it: `vite로`.
        let particle = text.find(is_hangul).filter(|at| *at > 0);
        let text = &text[..particle.unwrap_or(text.len())];
        let mut folded = String::with_capacity(text.len());
        for c in text.chars().filter(|c| !is_apostrophe(*c) && *c != '%') {
            fold_char(c, |c| folded.push(c));
        }
        let classes = if start == at { token.classes } else { lexicon::classes_of(&folded) };
        // "Over" rules out only in a comparison.
        let negates = start == at && token.folded != "over" && negates(tokens, at);
        terms.push(Term { text, folded, classes, negates, ends: token.ends });
        start = at + 1;
    }
    terms
}

/// A term with the signs around it that are part of a name: `/api`, `.net`, `c#`, `legacy/`.
fn widened(statement: &str, span: Range<usize>) -> &str {
    let before = &statement[..span.start];
    let name = before.trim_end_matches(['/', '.', '@', '#', '\\', '_', '$']);
    let is_own = !name.ends_with(char::is_alphanumeric);
    let start = if is_own { name.len() } else { span.start };
    let signs = ["++", "#", "/"].into_iter().find(|it| statement[span.end..].starts_with(it));
    &statement[start..span.end + signs.map_or(0, str::len)]
}

pub(super) fn is_hangul(c: char) -> bool {
    matches!(c, '\u{ac00}'..='\u{d7a3}')
}

impl Term<'_> {
    pub(super) fn is(&self, classes: WordClasses) -> bool {
        self.classes.has(classes)
    }

    pub(super) fn is_path(&self) -> bool {
        self.text.contains(['/', '\\']) && self.text.chars().any(char::is_alphabetic)
    }

    /// True for host names and names with digits: `db-stg-02`, `api.example.com`.
    pub(super) fn is_identifier(&self) -> bool {
        let is_host = self.text.trim_matches('.').contains('.');
        let has = |is: fn(char) -> bool| self.text.chars().any(is);
        has(char::is_alphabetic)
            && (is_host || (self.text.contains('-') && has(|c| c.is_ascii_digit())))
    }

    /// True if it does not tell what a statement is about. A tool may have the name of a small word of
    /// some language: `jest` is Polish.
    pub(super) fn is_light(&self) -> bool {
        let is_number = || {
            unify(lexicon::SAME_THINGS, &self.folded)
                .is_some_and(|it| it.bytes().all(|b| b.is_ascii_digit()))
        };
        (self.is(LIGHT) || self.negates) && !self.is_family_value() && !is_number()
    }

    pub(super) fn is_family_value(&self) -> bool {
        FAMILIES.iter().any(|family| family.has_value(&self.folded))
    }

    /// The one name for it and the next term together: "doc comment".
    pub(super) fn unified_pair(&self, next: &Term<'_>) -> Option<&'static str> {
        let pair = format!("{}-{}", self.folded, next.folded);
        unify(lexicon::SAME_THINGS, &pair).filter(|_| self.ends == ClauseEnd::Nothing)
    }

    /// Its words, with other names of one thing unified: one for most, the words of the dictionary
    /// for scripts without spaces.
    pub(super) fn unified_words(&self) -> Vec<String> {
        if let Some(one) = unify(lexicon::SAME_THINGS, &self.folded) {
            return vec![one.to_owned()];
        }
        if self.is_family_value() {
            return vec![self.folded.clone()];
        }
        if self.folded.starts_with(is_unspaced) {
            let words = dictionary::words_in_run(&self.folded);
            let known = words.iter().filter_map(|word| dictionary::single_meaning(word));
            let known: Vec<String> = known.map(str::to_owned).collect();
            // A run of hiragana alone is grammar.
            let is_grammar = !self.folded.contains(|c: char| !matches!(c, '\u{3040}'..='\u{309f}'));
            let is_empty = !known.is_empty() || is_grammar;
            return if is_empty { known } else { vec![self.folded.clone()] };
        }
        let stem = WordStemmer::default().stem(&self.folded, WordSort::Plain).map(Cow::into_owned);
        let stemmed = || {
            let singular = self.folded.strip_suffix('s').and_then(dictionary::single_meaning);
            singular.or_else(|| stem.as_deref().and_then(dictionary::single_meaning))
        };
        let meaning = dictionary::single_meaning(&self.folded).or_else(stemmed);
        let meaning = meaning.map(|it| unify(lexicon::SAME_THINGS, it).unwrap_or(it));
        vec![meaning.map(str::to_owned).or(stem).unwrap_or_else(|| self.folded.clone())]
    }
}

/// First word of the line that has `word`.
pub(super) fn unify(lines: &'static str, word: &str) -> Option<&'static str> {
    // Most words are in no line.
    let mut lines = lines.contains(word).then(|| lines.lines()).into_iter().flatten();
    lines.find_map(|line| {
        let mut line = line.split(' ');
        let first = line.next()?;
        (first == word || line.any(|it| it == word)).then_some(first)
    })
}
