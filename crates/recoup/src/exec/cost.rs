//! Cost of a run: its time, and for clients that print them, its tokens and dollars.
//!
//! Claude Code (`-p --output-format json`) prints an object, or a list or lines that end with it:
//! `{"type":"result","total_cost_usd":…,"usage":{…}}`. Codex (`exec --json`) prints lines, of which
//! `{"type":"turn.completed","usage":{…}}` ends each turn.

use recoup_core::entry::{ProductionCost, to_micro_dollars};
use serde::Deserialize;

use super::record::OutputRecording;

/// Longer output is not parsed: no client prints that much.
const MAX_PARSED_BYTES: u64 = 8 << 20;

/// Fields of a client's output that tell the cost.
#[derive(Debug, Default, Deserialize)]
struct UsageMessage {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<TokenUsage>,
}

/// Token counts.
#[derive(Debug, Default, Deserialize)]
struct TokenUsage {
    #[serde(default, rename = "input_tokens")]
    input: u64,
    #[serde(default, rename = "output_tokens")]
    output: u64,
    /// Claude Code counts these two apart from the rest of the input.
    #[serde(default, rename = "cache_creation_input_tokens")]
    put_in_cache: u64,
    #[serde(default, rename = "cache_read_input_tokens")]
    from_cache: u64,
}

/// Cost of a run that took `took` milliseconds.
pub(super) fn run_cost(took: Option<u64>, record: &OutputRecording) -> ProductionCost {
    let timed = ProductionCost { millis: took, ..ProductionCost::default() };
    let said = record.stdout_up_to(MAX_PARSED_BYTES).as_deref().and_then(parse_reported_cost);
    said.map_or(timed, |said| ProductionCost { millis: took, ..said })
}

/// Parses output that begins as JSON.
fn parse_reported_cost(stdout: &[u8]) -> Option<ProductionCost> {
    let text = str::from_utf8(stdout).ok()?.trim();
    match text.as_bytes().first()? {
        b'{' => serde_json::from_str(text)
            .map_or_else(|_| parse_lines(text), |one: UsageMessage| vec![one]),
        b'[' => serde_json::from_str::<Vec<UsageMessage>>(text).ok()?,
        _ => return None,
    }
    .iter()
    .filter_map(cost_of)
    .reduce(add_costs)
}

/// Parses lines of JSON; skips others.
fn parse_lines(text: &str) -> Vec<UsageMessage> {
    let is_of_interest =
        |line: &&str| line.contains("\"result\"") || line.contains("turn.completed");
    text.lines().filter(is_of_interest).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn cost_of(said: &UsageMessage) -> Option<ProductionCost> {
    let UsageMessage { kind, total_cost_usd, usage } = said;
    let usage = match (kind.as_str(), usage) {
        ("result", Some(usage)) if total_cost_usd.is_some() => usage,
        ("turn.completed", Some(usage)) => usage,
        _ => return None,
    };
    let TokenUsage { input, output, put_in_cache, from_cache } = usage;
    Some(ProductionCost {
        millis: None,
        input_tokens: Some(input.saturating_add(*put_in_cache).saturating_add(*from_cache)),
        output_tokens: Some(*output),
        micro_dollars: total_cost_usd.and_then(to_micro_dollars),
    })
}

/// Adds the costs of two turns.
fn add_costs(a: ProductionCost, b: ProductionCost) -> ProductionCost {
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    ProductionCost {
        millis: None,
        input_tokens: sum(a.input_tokens, b.input_tokens),
        output_tokens: sum(a.output_tokens, b.output_tokens),
        micro_dollars: sum(a.micro_dollars, b.micro_dollars),
    }
}
