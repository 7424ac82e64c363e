//! The forms under which a word is found: itself, its stem, and its beginning.
//!
//! In the index they are words of three kinds, so that each can be asked for alone:
//! `tests`, `~test`, and for long words `^migrat`.

use rust_stemmers::{Algorithm, Stemmer};

use super::split::Sort;
use super::stop::is_stop;

/// Marks a stem.
pub(super) const STEM: &str = "~";
/// Marks a beginning.
pub(super) const HEAD: &str = "^";
/// How many characters a beginning has; only longer words have one.
const HEAD_LENGTH: usize = 6;

/// Makes stems. English, which most notes are in; other languages find their own
/// forms through beginnings, which need no knowledge of any.
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
    /// The stem of a word, where it can have one: not numbers, pairs or stop words.
    pub(super) fn stem<'a>(&self, word: &'a str, sort: Sort) -> Option<std::borrow::Cow<'a, str>> {
        let may = matches!(sort, Sort::Plain | Sort::Part | Sort::Whole)
            && word.len() > 2
            && word.chars().all(char::is_alphabetic)
            && !is_stop(word);
        may.then(|| self.0.stem(word))
    }
}

/// The beginning of a long word.
pub(super) fn head(word: &str, sort: Sort) -> Option<&str> {
    if !matches!(sort, Sort::Plain | Sort::Part) {
        return None;
    }
    let (end, _) = word.char_indices().nth(HEAD_LENGTH)?;
    Some(&word[..end])
}
