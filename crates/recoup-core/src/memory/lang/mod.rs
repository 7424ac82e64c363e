//! Language: words, sentences and phrases, for everything in memory that reads text.

pub(crate) mod deobfuscate;
pub(crate) mod escape;
pub(crate) mod families;
pub(crate) mod forms;
pub(crate) mod plain_clauses;
pub(crate) mod search_words;
pub(crate) mod tokenizer;
pub(crate) mod word_lists;

pub use escape::{is_unseen, one_line, readable_line};
