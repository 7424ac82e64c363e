//! Prices of tokens: the user's own table, and a built-in one with a date. The longest matching
//! prefix of a model's name counts; the user's table takes precedence.

use recoup_core::entry::to_micro_dollars;

use super::document::{ConfigNode, ConfigValue};

/// Price in millionths of a dollar for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenPrice {
    pub(crate) input: u64,
    pub(crate) output: u64,
}

/// The user's prices, backed by the built-in ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceTable {
    own: Vec<(String, TokenPrice)>,
}

impl PriceTable {
    pub(super) fn new(own: Vec<(String, TokenPrice)>) -> Self {
        Self { own }
    }

    /// Number of the user's prices.
    pub(crate) fn own_count(&self) -> usize {
        self.own.len()
    }

    /// Description of the tables in use, for display.
    pub(crate) fn describe(&self) -> String {
        match self.own.len() {
            0 => format!("built-in, of {DATE}"),
            1 => format!("1 of your own, then built-in, of {DATE}"),
            many => format!("{many} of your own, then built-in, of {DATE}"),
        }
    }

    /// The price of a model, if known.
    pub(crate) fn price_of(&self, model: &str) -> Option<TokenPrice> {
        // Some routers write `anthropic/claude-…`.
        let bare = model.rsplit('/').next().unwrap_or(model);
        let own = self.own.iter().map(|(name, price)| (name.as_str(), *price));
        longest_match(own.clone(), model)
            .or_else(|| longest_match(own, bare))
            .or_else(|| longest_match(BUILT_IN_PRICES.iter().copied(), bare))
    }
}

impl TokenPrice {
    /// Cost in millionths of a dollar, rounded.
    pub(crate) fn cost(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let input = u128::from(self.input) * u128::from(input_tokens);
        let output = u128::from(self.output) * u128::from(output_tokens);
        u64::try_from((input + output + 500_000) / 1_000_000).unwrap_or(u64::MAX)
    }
}

/// Input of Anthropic's API in tokens at the list price: what is read from its cache costs a tenth of
/// that, what is written there a quarter more, or twice as much if it is kept for an hour.
pub(crate) fn anthropic_input(fresh: u64, read: u64, written: u64, written_for_hour: u64) -> u64 {
    let for_hour = written_for_hour.min(written);
    let short = (written - for_hour).saturating_mul(5) / 4;
    fresh.saturating_add(short).saturating_add(for_hour.saturating_mul(2)).saturating_add(read / 10)
}

fn longest_match<'a>(
    prices: impl Iterator<Item = (&'a str, TokenPrice)>,
    model: &str,
) -> Option<TokenPrice> {
    // `o3` matches neither `o30` nor `o3mini`; `us.anthropic.claude-…` is a Claude model.
    let model = model.to_lowercase();
    let model = model.rsplit('/').next().unwrap_or(&model);
    let model = model.split_once("anthropic.").map_or(model, |(_, model)| model);
    let matching = prices.filter(|(name, _)| {
        model.strip_prefix(&name.to_lowercase()).is_some_and(|rest| {
            rest.chars().next().is_none_or(|next| !next.is_ascii_alphanumeric())
        })
    });
    matching.max_by_key(|(name, _)| name.len()).map(|(_, price)| price)
}

/// Reads a model's prices from `[prices."MODEL"]`; an error has the faulty entry and the reason.
pub(super) fn read_price(node: &ConfigNode) -> Result<TokenPrice, (String, String)> {
    let ConfigValue::Table(entries) = &node.value else {
        return Err((String::new(), format!("expected {EXPECTED} (got {})", node.value)));
    };
    let (mut input, mut output) = (None, None);
    for (name, node) in entries {
        let place = match name.as_str() {
            "input" => &mut input,
            "output" => &mut output,
            _ => return Err((format!(".{name}"), format!("unknown key; expected {EXPECTED}"))),
        };
        let number = match &node.value {
            ConfigValue::Number(number) => number.as_f64().and_then(to_micro_dollars),
            _ => None,
        };
        let wrong = || {
            (
                format!(".{name}"),
                format!("expected dollars per million tokens (got {})", node.value),
            )
        };
        *place = Some(number.ok_or_else(wrong)?);
    }
    match (input, output) {
        (Some(input), Some(output)) => Ok(TokenPrice { input, output }),
        _ => Err((String::new(), format!("expected {EXPECTED}"))),
    }
}

const EXPECTED: &str = "input and output, in dollars per million tokens";

/// Month in which the built-in prices were looked up.
pub(crate) const DATE: &str = "2025-11";

/// A price in cents, because a constant cannot round.
const fn price(name: &'static str, input: u64, output: u64) -> (&'static str, TokenPrice) {
    (name, TokenPrice { input: input * 10_000, output: output * 10_000 })
}

/// List prices of model families, without discounts for batches or cached input. Names are prefixes.
static BUILT_IN_PRICES: [(&str, TokenPrice); 27] = [
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
