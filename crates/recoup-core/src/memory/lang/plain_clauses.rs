//! Clauses of plain words, each with its position.

use crate::memory::lang::token::{ClauseEnd, split_at, tokenize_text};

/// Words between two marks that separate clauses.
#[derive(Debug)]
pub(crate) struct PlainClause {
    /// Words in small letters, without accents and apostrophes: `dont`, `nao`.
    pub(crate) words: Vec<String>,
    /// Offset of its first word.
    pub(crate) from: usize,
}

impl PlainClause {
    /// Words as phrases take them.
    pub(crate) fn words(&self) -> Vec<&str> {
        self.words.iter().map(String::as_str).collect()
    }
}

/// The clauses of a text that have words.
pub(crate) fn split_clauses(text: &str) -> Vec<PlainClause> {
    let tokens = tokenize_text(text);
    let clauses = split_at(&tokens, ClauseEnd::Clause).map(|clause| PlainClause {
        words: clause.iter().map(|token| token.folded.clone()).collect(),
        from: clause[0].start,
    });
    clauses.collect()
}

/// The plain words of a text.
pub(crate) fn plain_words(text: &str) -> Vec<String> {
    tokenize_text(text).into_iter().map(|token| token.folded).collect()
}
