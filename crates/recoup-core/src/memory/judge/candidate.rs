//! Candidate sentences, as a model is shown them.

use super::clean::{clean, shorten_middle};
use crate::memory::refuse::MOST_CHARS;
use crate::secrets::SecretValues;

/// Most candidates in one question.
pub const MOST_CANDIDATES: usize = 20;

/// A sentence of the user, reduced to what may leave the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgeCandidate(String);

impl JudgeCandidate {
    /// Makes a candidate of `text`, without private parts and secrets, `hidden` ones among them;
    /// none if nothing is left.
    pub fn new(text: &str, hidden: &SecretValues) -> Option<Self> {
        let text = shorten_middle(clean(text, hidden), MOST_CHARS);
        (!text.is_empty()).then_some(Self(text))
    }

    /// Text that is sent.
    pub fn text(&self) -> &str {
        &self.0
    }
}
