//! Token counts with the tables of a real tokenizer (`cl100k_base`), and the estimated savings of each
//! strategy. Models differ, but as a measure of savings one is as good as another.
//!
//! The tables take about a tenth of a second to load, so they are loaded only if the count is
//! needed. Without the feature `tokens`, four bytes count as a token.

use super::document::InputDocument;
use super::strategy::CondenseStrategy;
use super::{CondenseOptions, condense_or_keep};
use crate::error::Result;

/// A tokenizer that is ready to count.
pub struct Tokenizer(#[cfg(feature = "tokens")] toktok::Tokenizer);

impl Tokenizer {
    /// Loads the tables.
    pub fn load() -> Self {
        Self(
            #[cfg(feature = "tokens")]
            toktok::Tokenizer::builtin("cl100k_base").expect("the tables are part of the program"),
        )
    }

    /// Number of tokens in a text, in linear time.
    pub fn count(&self, text: &str) -> usize {
        #[cfg(feature = "tokens")]
        return self.0.count(text.as_bytes());
        #[cfg(not(feature = "tokens"))]
        text.len().div_ceil(4)
    }
}

impl std::fmt::Debug for Tokenizer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tokenizer(cl100k_base)")
    }
}

/// Token counts before and after each strategy.
#[derive(Debug, Clone)]
pub struct TokenEstimate {
    /// Tokens of the input.
    pub original: usize,
    /// Tokens of each strategy's result.
    pub condensed: [(CondenseStrategy, usize); 3],
}

impl TokenEstimate {
    /// Condenses `input` with every strategy, and counts.
    pub fn of(input: &[u8]) -> Result<Self> {
        let document = InputDocument::read(input)?;
        let tokenizer = Tokenizer::load();
        let after = |strategy| {
            let options = CondenseOptions { strategy, ..CondenseOptions::default() };
            let condensed = condense_or_keep(&document, &options);
            (strategy, tokenizer.count(&condensed.to_json()))
        };
        Ok(Self {
            // Valid UTF-8, or the document could not have been read.
            original: tokenizer.count(&String::from_utf8_lossy(input)),
            condensed: CondenseStrategy::ALL.map(after),
        })
    }

    /// Percentage of saved tokens, rounded down; negative if the result is larger than the input,
    /// as for tiny reports.
    pub fn saved_pct(&self, tokens: usize) -> i64 {
        let as_int = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (before, after) = (as_int(self.original), as_int(tokens));
        (before - after).saturating_mul(100).checked_div_euclid(before).unwrap_or(0)
    }
}
