//! Counts, and what is made of them.

use std::collections::BTreeMap;

use recoup_core::memory::capture::PromptClassification;

use super::Prompt;
use super::judge::{self, Fault};

/// How often something was said, was right, and was there to be said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How often it was said.
    pub(crate) said: usize,
    /// How often that was right.
    pub(crate) right: usize,
    /// How often it should have been said.
    pub(crate) wanted: usize,
}

impl Tally {
    /// Of what was said, how much was right.
    pub(crate) fn precision(self) -> f64 {
        share(self.right, self.said)
    }

    /// Of what should have been said, how much was.
    pub(crate) fn recall(self) -> f64 {
        share(self.right, self.wanted)
    }

    fn add(&mut self, said: bool, right: bool, wanted: bool) {
        self.said += usize::from(said);
        self.right += usize::from(right);
        self.wanted += usize::from(wanted);
    }
}

/// A share of one; of nothing everything is right.
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "counts of a corpus")]
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// All that is counted on a set of prompts.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    /// How many prompts there are.
    pub(crate) prompts: usize,
    /// Whether something is to be kept at all.
    pub(crate) memory: Tally,
    /// The same, where only a statement that is right in kind, words, negation and scope counts.
    pub(crate) strict: Tally,
    /// By label.
    pub(crate) by_label: BTreeMap<String, Tally>,
    /// Whether something is to be kept, by language.
    pub(crate) by_language: BTreeMap<String, Tally>,
    /// How often each fault was found.
    pub(crate) faults: BTreeMap<&'static str, usize>,
}

impl Figures {
    /// Counts one prompt.
    pub(crate) fn add(&mut self, prompt: &Prompt, reading: &PromptClassification) -> Vec<Fault> {
        let faults = judge::faults(prompt, reading);
        let found = judge::label(reading);
        let (said, wanted) = (!reading.sayings.is_empty(), prompt.is_memory());
        self.prompts += 1;
        self.memory.add(said, said && wanted, wanted);
        self.strict.add(said, said && faults.is_empty(), wanted);
        self.by_language.entry(prompt.lang.clone()).or_default().add(said, said && wanted, wanted);
        for label in [found, &prompt.label] {
            self.by_label.entry(label.to_owned()).or_default();
        }
        for (label, tally) in &mut self.by_label {
            let (said, wanted) = (label == found, *label == prompt.label);
            tally.add(said, said && wanted, wanted);
        }
        for fault in &faults {
            *self.faults.entry(name(fault)).or_default() += 1;
        }
        faults
    }
}

fn name(fault: &Fault) -> &'static str {
    match fault {
        Fault::Kept => "kept, though nothing to remember",
        Fault::Missed => "missed",
        Fault::Kind(_) => "taken for another kind",
        Fault::Lost(_) => "without what it is about",
        Fault::Inverted => "inverted",
        Fault::Scope => "wrong scope",
        Fault::Secret => "secret stored",
    }
}
