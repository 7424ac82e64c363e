//! What each strategy would save.

use super::document::Document;
use super::strategy::Strategy;
use super::tokens::Tokenizer;
use super::{Options, condense_or_keep};
use crate::error::Result;

/// Tokens before, and after each strategy.
#[derive(Debug, Clone)]
pub struct Estimate {
    /// What the input has.
    pub original: usize,
    /// What each strategy leaves of it.
    pub condensed: [(Strategy, usize); 3],
}

impl Estimate {
    /// Condenses `input` with every strategy, and counts.
    pub fn of(input: &[u8]) -> Result<Self> {
        let document = Document::read(input)?;
        let tokenizer = Tokenizer::load();
        let after = |strategy| {
            let options = Options { strategy, ..Options::default() };
            let condensed = condense_or_keep(&document, &options);
            (strategy, tokenizer.count(&condensed.to_json()))
        };
        Ok(Self {
            // Text, or it would not have been read.
            original: tokenizer.count(&String::from_utf8_lossy(input)),
            condensed: Strategy::ALL.map(after),
        })
    }

    /// How many of a hundred tokens are saved, rounded down; below 0 where the
    /// result is larger than the input, as that of a tiny report may be.
    pub fn saved_pct(&self, tokens: usize) -> i64 {
        let as_int = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (before, after) = (as_int(self.original), as_int(tokens));
        (before - after).saturating_mul(100).checked_div_euclid(before).unwrap_or(0)
    }
}
