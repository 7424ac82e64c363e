//! Words of a text as search knows them, for comparing texts.

use crate::memory::lang::forms::{WordStemmer, is_stop_word};
use crate::memory::lang::tokenizer::{WordSort, tokenize};

/// A word as search knows it, for comparing texts.
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

/// Returns the words of a text, in order.
pub(crate) fn split_words(text: &str) -> Vec<SearchWord> {
    let stemmer = WordStemmer::default();
    let mut words = Vec::new();
    tokenize(text, |word, sort| {
        let stem = stemmer.stem(word, sort).map(std::borrow::Cow::into_owned);
        words.push(SearchWord { exact: word.to_owned(), stem, sort, is_small: is_stop_word(word) });
    });
    words
}
