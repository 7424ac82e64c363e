//! `recoup condense estimate`.

use clap::Args;
use recoup_core::condense::Estimate;
use serde::Serialize;

use super::read;
use crate::cli::{Answer, Ended, ui};

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
    pub(super) fn run(self) -> Ended {
        let estimate = Estimate::of(&read(&self.input)?)?;
        if self.json {
            ui::json(&report(&estimate))?;
        } else {
            ui::fields(&rows(&estimate))?;
        }
        Ok(Answer::Yes)
    }
}

#[derive(Serialize)]
struct Report {
    original_tokens: usize,
    condensed: Condensed,
    savings: Savings,
}

#[derive(Serialize)]
struct Condensed {
    structured_verdict: usize,
    identifiers_only: usize,
    summary: usize,
}

#[derive(Serialize)]
struct Savings {
    #[serde(rename = "structured_verdict_pct")]
    structured_verdict: i64,
    #[serde(rename = "identifiers_only_pct")]
    identifiers_only: i64,
    #[serde(rename = "summary_pct")]
    summary: i64,
}

fn report(estimate: &Estimate) -> Report {
    // In the order of `Strategy::ALL`.
    let [structured_verdict, identifiers_only, summary] = estimate.condensed.map(|(_, n)| n);
    Report {
        original_tokens: estimate.original,
        condensed: Condensed { structured_verdict, identifiers_only, summary },
        savings: Savings {
            structured_verdict: estimate.saved_pct(structured_verdict),
            identifiers_only: estimate.saved_pct(identifiers_only),
            summary: estimate.saved_pct(summary),
        },
    }
}

fn rows(estimate: &Estimate) -> Vec<(&'static str, String)> {
    let after = estimate.condensed.iter().map(|(strategy, tokens)| {
        let saved = match estimate.saved_pct(*tokens) {
            saved @ 0.. => format!("{saved} % saved"),
            _ => "more than the input".to_owned(),
        };
        (strategy.name(), format!("{tokens} tokens ({saved})"))
    });
    std::iter::once(("original", format!("{} tokens", estimate.original))).chain(after).collect()
}
