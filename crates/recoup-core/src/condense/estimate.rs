//! Estimated savings of each strategy.

use super::document::InputDocument;
use super::strategy::CondenseStrategy;
use super::tokens::Tokenizer;
use super::{CondenseOptions, condense_or_keep};
use crate::error::Result;

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
