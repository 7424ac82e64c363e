//! What a sentence may be, and how sure a model has to be of it.

use crate::memory::NoteKind;

/// What a model calls a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Something to remember.
    Of(NoteKind),
    /// Nothing of the kind. This is final.
    Nothing,
}

impl Label {
    /// The word for [`Label::Nothing`].
    pub const NONE: &str = "none";

    /// The label that a word names; unknown words name none.
    pub fn parse(word: &str) -> Option<Self> {
        match word {
            Self::NONE => Some(Self::Nothing),
            word => NoteKind::parse(word).ok().map(Self::Of),
        }
    }
}

/// How sure a model says it is: 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Confidence(f64);

impl Confidence {
    /// None for what is no such number.
    pub fn new(number: f64) -> Option<Self> {
        (0.0..=1.0).contains(&number).then_some(Self(number))
    }

    /// As a number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Whether that is enough for something of this kind. What changes how an agent works
    /// takes more than what only informs it.
    pub fn is_enough_for(self, kind: NoteKind) -> bool {
        let least = match kind {
            NoteKind::Correction | NoteKind::Preference | NoteKind::Devops => 0.75,
            NoteKind::Failure | NoteKind::ProjectKnowledge => 0.6,
        };
        self.0 >= least
    }
}
