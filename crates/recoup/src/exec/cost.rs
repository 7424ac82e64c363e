//! Cost of a run: its time, and for clients that print them, its tokens and dollars.
//!
//! Claude Code (`-p --output-format json`) prints an object, or a list or lines that end with it:
//! `{"type":"result","total_cost_usd":…,"usage":{…}}`. Codex (`exec --json`) prints lines, of which
//! `{"type":"turn.completed","usage":{…}}` ends each turn.

use recoup_core::entry::{Cost, micro_dollars};
use serde::Deserialize;

use super::record::Record;

/// Longer output is not parsed: no client prints that much.
const MOST: u64 = 8 << 20;

/// Fields of a client's output that tell the cost.
#[derive(Debug, Default, Deserialize)]
struct Said {
    #[serde(default, rename = "type")]
    kind: String,
    #[serde(default)]
    total_cost_usd: Option<f64>,
    #[serde(default)]
    usage: Option<Usage>,
}

/// Token counts.
#[derive(Debug, Default, Deserialize)]
struct Usage {
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
pub(super) fn of(took: Option<u64>, record: &Record) -> Cost {
    let timed = Cost { millis: took, ..Cost::default() };
    let said = record.stdout_up_to(MOST).as_deref().and_then(said_in);
    said.map_or(timed, |said| Cost { millis: took, ..said })
}

/// Parses output that begins as JSON.
fn said_in(stdout: &[u8]) -> Option<Cost> {
    let text = str::from_utf8(stdout).ok()?.trim();
    match text.as_bytes().first()? {
        b'{' => serde_json::from_str(text).map_or_else(|_| lines(text), |one: Said| vec![one]),
        b'[' => serde_json::from_str::<Vec<Said>>(text).ok()?,
        _ => return None,
    }
    .iter()
    .filter_map(cost_of)
    .reduce(plus)
}

/// Parses lines of JSON; skips others.
fn lines(text: &str) -> Vec<Said> {
    let is_of_interest =
        |line: &&str| line.contains("\"result\"") || line.contains("turn.completed");
    text.lines().filter(is_of_interest).filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn cost_of(said: &Said) -> Option<Cost> {
    let Said { kind, total_cost_usd, usage } = said;
    let usage = match (kind.as_str(), usage) {
        ("result", Some(usage)) if total_cost_usd.is_some() => usage,
        ("turn.completed", Some(usage)) => usage,
        _ => return None,
    };
    let Usage { input, output, put_in_cache, from_cache } = usage;
    Some(Cost {
        millis: None,
        input_tokens: Some(input.saturating_add(*put_in_cache).saturating_add(*from_cache)),
        output_tokens: Some(*output),
        micro_dollars: total_cost_usd.and_then(micro_dollars),
    })
}

/// Adds the costs of two turns.
fn plus(a: Cost, b: Cost) -> Cost {
    let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
        (None, None) => None,
        (a, b) => Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0))),
    };
    Cost {
        millis: None,
        input_tokens: sum(a.input_tokens, b.input_tokens),
        output_tokens: sum(a.output_tokens, b.output_tokens),
        micro_dollars: sum(a.micro_dollars, b.micro_dollars),
    }
}
