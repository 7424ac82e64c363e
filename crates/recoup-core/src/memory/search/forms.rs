//! Indexed forms of a word: itself, its stem and its beginning.
//!
//! In the index they are words of three kinds, so that each can be queried alone: `tests`, `~test`,
//! and for long words `^migrat`.

use rust_stemmers::{Algorithm, Stemmer};

use super::stop_words::is_stop_word;
use super::tokenizer::WordSort;

/// Prefix of a stem.
pub(super) const STEM: &str = "~";
/// Prefix of a beginning.
pub(super) const HEAD: &str = "^";
/// Characters of a beginning; only longer words have one.
const HEAD_LENGTH: usize = 6;

/// Stemmer for English, which most notes are in. Other languages find their own forms through
/// beginnings, which need no knowledge of any.
pub(super) struct WordStemmer(Stemmer);

impl std::fmt::Debug for WordStemmer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forms")
    }
}

impl Default for WordStemmer {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl WordStemmer {
    /// Returns the stem of a word; `None` for numbers, pairs and stop words.
    pub(super) fn stem<'a>(
        &self,
        word: &'a str,
        sort: WordSort,
    ) -> Option<std::borrow::Cow<'a, str>> {
        let may = matches!(sort, WordSort::Plain | WordSort::Part | WordSort::Whole)
            && word.len() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_stop_word(word);
        may.then(|| self.0.stem(word))
    }
}

/// Returns the beginning of a long word.
pub(super) fn head(word: &str, sort: WordSort) -> Option<&str> {
    if !matches!(sort, WordSort::Plain | WordSort::Part) {
        return None;
    }
    let (end, _) = word.char_indices().nth(HEAD_LENGTH)?;
    Some(&word[..end])
}
