//! Indexed forms of a word: itself, its stem and its beginning. In the index they are words of three
//! kinds, so that each can be queried alone: `tests`, `~test`, and for long words `^migrat`.
//!
//! Stop words are indexed like others, and queried only if a query has nothing else.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use crate::memory::lang::lexicon::{self, WordClasses};
use crate::memory::lang::tokenizer::{WordSort, tokenize};

/// Prefix of a stem.
pub(crate) const STEM: &str = "~";
/// Prefix of a beginning.
pub(crate) const HEAD: &str = "^";
/// Characters of a beginning; only longer words have one.
const HEAD_LENGTH: usize = 6;

/// Stemmer for English, which most notes are in. Other languages find their own forms through
/// beginnings, which need no knowledge of any.
pub(crate) struct WordStemmer(Stemmer);

impl Default for WordStemmer {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl WordStemmer {
    /// Returns the stem of a word; `None` for numbers, pairs and stop words.
    pub(crate) fn stem<'a>(&self, word: &'a str, sort: WordSort) -> Option<Cow<'a, str>> {
        let may = matches!(sort, WordSort::Plain | WordSort::Part | WordSort::Whole)
            && word.len() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_stop_word(word);
        may.then(|| self.0.stem(word))
    }
}

/// A word as search knows it.
#[derive(Debug)]
pub(crate) struct SearchWord {
    /// Folded text.
    pub(crate) exact: String,
    /// Stem, if it has one.
    pub(crate) stem: Option<String>,
    pub(crate) sort: WordSort,
    /// True for a stop word.
    pub(crate) is_small: bool,
}

impl SearchWord {
    pub(crate) fn new(word: &str, sort: WordSort) -> Self {
        let stem = WordStemmer::default().stem(word, sort).map(Cow::into_owned);
        Self { exact: word.to_owned(), stem, sort, is_small: is_stop_word(word) }
    }
}

/// Returns the words of a text, in order.
pub(crate) fn split_words(text: &str) -> Vec<SearchWord> {
    let mut words = Vec::new();
    tokenize(text, |word, sort| words.push(SearchWord::new(word, sort)));
    words
}

/// Returns the beginning of a long word.
pub(crate) fn head(word: &str, sort: WordSort) -> Option<&str> {
    if !matches!(sort, WordSort::Plain | WordSort::Part) {
        return None;
    }
    let (end, _) = word.char_indices().nth(HEAD_LENGTH)?;
    Some(&word[..end])
}

/// True if a folded word is a stop word.
pub(crate) fn is_stop_word(word: &str) -> bool {
    lexicon::is_in(word, WordClasses::STOP)
}

/// True if a folded word is typical of requests, whatever their subject: it counts for less than
/// its rarity suggests.
pub(crate) fn is_request_word(word: &str) -> bool {
    let is_request = |word: &str| lexicon::is_in(word, WordClasses::REQUEST);
    let endings = ["s", "es", "d", "ed", "ing"];
    is_request(word)
        || endings.iter().filter_map(|ending| word.strip_suffix(ending)).any(is_request)
}
