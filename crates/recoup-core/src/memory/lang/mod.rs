//! Language: words, sentences and phrases, for everything in memory that reads text.

pub(crate) mod dictionary;
pub(crate) mod escape;
pub(crate) mod families;
pub(crate) mod file_kinds;
pub(crate) mod fold;
pub(crate) mod forms;
pub mod layers;
pub(crate) mod lexicon;
pub(crate) mod phrase;
pub(crate) mod token;
pub(crate) mod tokenizer;
pub(crate) mod word_hash;
pub(crate) mod word_vectors;

pub use escape::{is_unseen, one_line, readable_line};

/// True if `word` is in a list of words with spaces between them.
pub(crate) fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|it| it == word)
}
