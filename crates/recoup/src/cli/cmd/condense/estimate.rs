//! `recoup condense estimate`.

use clap::Args;
use recoup_core::condense::TokenEstimate;
use serde::Serialize;

use super::read_input;
use crate::cli::{CommandAnswer, CommandResult, ui};

/// Tell how many tokens each strategy would save.
#[derive(Debug, Args)]
pub(super) struct EstimateArgs {
    /// The result: JSON from a file, or from stdin
    #[arg(long, value_name = "FILE|-")]
    input: String,
    /// As JSON
    #[arg(long)]
    json: bool,
}

impl EstimateArgs {
    pub(super) fn run(self) -> CommandResult {
        let estimate = TokenEstimate::of(&read_input(&self.input)?)?;
        if self.json {
            ui::json(&build_report(&estimate))?;
        } else {
            ui::fields(&rows(&estimate))?;
        }
        Ok(CommandAnswer::Yes)
    }
}

#[derive(Serialize)]
struct EstimateReport {
    original_tokens: usize,
    condensed: CondensedTokens,
    savings: SavedPercent,
}

#[derive(Serialize)]
struct CondensedTokens {
    structured_verdict: usize,
    identifiers_only: usize,
    summary: usize,
}

#[derive(Serialize)]
struct SavedPercent {
    #[serde(rename = "structured_verdict_pct")]
    structured_verdict: i64,
    #[serde(rename = "identifiers_only_pct")]
    identifiers_only: i64,
    #[serde(rename = "summary_pct")]
    summary: i64,
}

fn build_report(estimate: &TokenEstimate) -> EstimateReport {
    // In the order of `Strategy::ALL`.
    let [structured_verdict, identifiers_only, summary] = estimate.condensed.map(|(_, n)| n);
    EstimateReport {
        original_tokens: estimate.original,
        condensed: CondensedTokens { structured_verdict, identifiers_only, summary },
        savings: SavedPercent {
            structured_verdict: estimate.saved_pct(structured_verdict),
            identifiers_only: estimate.saved_pct(identifiers_only),
            summary: estimate.saved_pct(summary),
        },
    }
}

fn rows(estimate: &TokenEstimate) -> Vec<(&'static str, String)> {
    let after = estimate.condensed.iter().map(|(strategy, tokens)| {
        let saved = match estimate.saved_pct(*tokens) {
            saved @ 0.. => format!("{saved} % saved"),
            _ => "more than the input".to_owned(),
        };
        (strategy.name(), format!("{tokens} tokens ({saved})"))
    });
    std::iter::once(("original", format!("{} tokens", estimate.original))).chain(after).collect()
}
