//! List prices of model families, in dollars for a million tokens, without discounts for batches or
//! cached input. Names are prefixes: the longest match counts.

use super::TokenPrice;

/// Month in which they were looked up.
pub(crate) const DATE: &str = "2025-11";

/// A price in cents, because a constant cannot round.
const fn price(name: &'static str, input: u64, output: u64) -> (&'static str, TokenPrice) {
    (name, TokenPrice { input: input * 10_000, output: output * 10_000 })
}

pub(super) static PRICES: [(&str, TokenPrice); 27] = [
    price("claude-opus-4", 15_00, 75_00),
    price("claude-opus-4-5", 5_00, 25_00),
    price("claude-sonnet-4", 3_00, 15_00),
    price("claude-haiku-4", 1_00, 5_00),
    price("claude-3-7-sonnet", 3_00, 15_00),
    price("claude-3-5-sonnet", 3_00, 15_00),
    price("claude-3-5-haiku", 80, 4_00),
    price("claude-3-opus", 15_00, 75_00),
    price("claude-3-haiku", 25, 1_25),
    price("gpt-5", 1_25, 10_00),
    price("gpt-5-mini", 25, 2_00),
    price("gpt-5-nano", 5, 40),
    price("gpt-5-pro", 15_00, 12_000),
    price("gpt-4.1", 2_00, 8_00),
    price("gpt-4.1-mini", 40, 1_60),
    price("gpt-4.1-nano", 10, 40),
    price("gpt-4o", 2_50, 10_00),
    price("gpt-4o-mini", 15, 60),
    price("gpt-4-turbo", 10_00, 30_00),
    price("gpt-3.5-turbo", 50, 1_50),
    price("o1", 15_00, 60_00),
    price("o1-mini", 1_10, 4_40),
    price("o3", 2_00, 8_00),
    price("o3-mini", 1_10, 4_40),
    price("o3-pro", 20_00, 80_00),
    price("o4-mini", 1_10, 4_40),
    price("codex-mini", 1_50, 6_00),
];
