//! Savings through hits: the costs of their entries, summed up.

use serde::{Deserialize, Serialize};

use super::header::ProductionCost;

/// Summed savings. Unknown costs add nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CostSavings {
    /// Milliseconds of work.
    pub millis: u64,
    /// Tokens that did not go in.
    pub input_tokens: u64,
    /// Tokens that did not come out.
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub micro_dollars: u64,
}

impl CostSavings {
    /// Savings of `times` hits on an entry with this cost.
    pub fn by_hits(cost: &ProductionCost, times: u64) -> Self {
        let ProductionCost { millis, input_tokens, output_tokens, micro_dollars } = *cost;
        let sum = |each: Option<u64>| each.unwrap_or(0).saturating_mul(times);
        Self {
            millis: sum(millis),
            input_tokens: sum(input_tokens),
            output_tokens: sum(output_tokens),
            micro_dollars: sum(micro_dollars),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            millis: self.millis.saturating_add(other.millis),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micro_dollars: self.micro_dollars.saturating_add(other.micro_dollars),
        }
    }

    /// The four sums, in this order: milliseconds, tokens in, tokens out, millionths.
    pub fn to_array(self) -> [u64; 4] {
        [self.millis, self.input_tokens, self.output_tokens, self.micro_dollars]
    }

    /// From the four sums.
    pub fn from_array([millis, input_tokens, output_tokens, micro_dollars]: [u64; 4]) -> Self {
        Self { millis, input_tokens, output_tokens, micro_dollars }
    }

    /// True if nothing was saved, as far as is known.
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}
