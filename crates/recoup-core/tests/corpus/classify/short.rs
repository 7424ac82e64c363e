//! Short prompts: what people type while they work, and what they mean to last.

use recoup_core::memory::capture::{PromptClassification, classify};
use serde::Deserialize;

/// A short prompt, and whether what it says is to hold tomorrow.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ShortPrompt {
    /// As it was typed.
    pub(crate) text: String,
    /// True if the next session should know it.
    pub(crate) durable: bool,
}

/// How many prompts of one sort become what.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ShortTally {
    /// All there are.
    pub(crate) all: usize,
    /// A rule at once.
    pub(crate) active: usize,
    /// A candidate, which a repetition in another session makes a rule.
    pub(crate) candidate: usize,
}

impl ShortTally {
    /// The part that becomes a rule at once.
    #[allow(clippy::cast_precision_loss, reason = "a few hundred")]
    pub(crate) fn active_share(&self) -> f64 {
        self.active as f64 / self.all.max(1) as f64
    }
}

/// Results for prompts that are to last, and for those that are not.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShortFigures {
    pub(crate) durable: ShortTally,
    pub(crate) passing: ShortTally,
    /// The texts that became something else than they should.
    pub(crate) errors: Vec<String>,
}

/// True if something of a prompt becomes a rule at once.
pub(crate) fn is_active(reading: &PromptClassification) -> bool {
    reading.sayings.iter().any(|saying| saying.lasting)
}

/// Reads the prompts of a text with one in each line.
pub(crate) fn measure(text: &str) -> ShortFigures {
    let mut figures = ShortFigures::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let prompt: ShortPrompt = serde_json::from_str(line).expect("a prompt in each line");
        let reading = classify(&prompt.text);
        let tally = if prompt.durable { &mut figures.durable } else { &mut figures.passing };
        tally.all += 1;
        if is_active(&reading) {
            tally.active += 1;
        } else if !reading.sayings.is_empty() {
            tally.candidate += 1;
        }
        if is_active(&reading) != prompt.durable {
            figures.errors.push(prompt.text);
        }
    }
    figures
}
