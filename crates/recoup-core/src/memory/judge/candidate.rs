//! A sentence that may be worth keeping, as a model is shown it.

use super::clean::{bounded, clean};
use crate::memory::refuse::MOST_CHARS;
use crate::secrets::Values;

/// How many a model is asked about at once.
pub const MOST_CANDIDATES: usize = 20;

/// Something the user said. Only what may leave the machine can be one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate(String);

impl Candidate {
    /// `text` without secrets, `hidden` ones among them, and without its private parts; none
    /// where nothing is left.
    pub fn new(text: &str, hidden: &Values) -> Option<Self> {
        let text = bounded(clean(text, hidden), MOST_CHARS);
        (!text.is_empty()).then_some(Self(text))
    }

    /// What is sent.
    pub fn text(&self) -> &str {
        &self.0
    }
}
