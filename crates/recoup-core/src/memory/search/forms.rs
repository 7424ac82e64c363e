//! Indexed forms of a word: itself, its stem and its beginning.
//!
//! In the index they are words of three kinds, so that each can be queried alone: `tests`, `~test`,
//! and for long words `^migrat`.

use rust_stemmers::{Algorithm, Stemmer};

use super::split::Sort;
use super::stop::is_stop;

/// Prefix of a stem.
pub(super) const STEM: &str = "~";
/// Prefix of a beginning.
pub(super) const HEAD: &str = "^";
/// Characters of a beginning; only longer words have one.
const HEAD_LENGTH: usize = 6;

/// Stemmer for English, which most notes are in. Other languages find their own forms through
/// beginnings, which need no knowledge of any.
pub(super) struct Forms(Stemmer);

impl std::fmt::Debug for Forms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Forms")
    }
}

impl Default for Forms {
    fn default() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }
}

impl Forms {
    /// Returns the stem of a word; `None` for numbers, pairs and stop words.
    pub(super) fn stem<'a>(&self, word: &'a str, sort: Sort) -> Option<std::borrow::Cow<'a, str>> {
        let may = matches!(sort, Sort::Plain | Sort::Part | Sort::Whole)
            && word.len() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_stop(word);
        may.then(|| self.0.stem(word))
    }
}

/// Returns the beginning of a long word.
pub(super) fn head(word: &str, sort: Sort) -> Option<&str> {
    if !matches!(sort, Sort::Plain | Sort::Part) {
        return None;
    }
    let (end, _) = word.char_indices().nth(HEAD_LENGTH)?;
    Some(&word[..end])
}
