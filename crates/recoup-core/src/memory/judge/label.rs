//! Labels of sentences, and the confidence that they need.

use crate::memory::NoteKind;

/// Label that a model gives a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SentenceLabel {
    /// Something to remember.
    Of(NoteKind),
    /// Nothing to remember. This is final.
    Nothing,
}

impl SentenceLabel {
    /// The word for [`SentenceLabel::Nothing`].
    pub const NONE: &str = "none";

    /// Parses a label; none for unknown words.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            Self::NONE => Some(Self::Nothing),
            word => NoteKind::parse(word).ok().map(Self::Of),
        }
    }
}

/// Confidence of a model, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct LabelConfidence(f64);

impl LabelConfidence {
    /// Returns none for a number outside of the range.
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }

    /// As a number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// True if it is enough for this kind. Rules that change how an agent works need more than
    /// facts that only inform it.
    pub fn is_enough_for(self, kind: NoteKind) -> bool {
        let least = match kind {
            NoteKind::Correction | NoteKind::Preference | NoteKind::Devops => 0.75,
            NoteKind::Failure | NoteKind::ProjectKnowledge => 0.6,
        };
        self.0 >= least
    }
}
