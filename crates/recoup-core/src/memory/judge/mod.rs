//! Questions to a model: is a sentence worth keeping, and what has a session taught?
//!
//! Everything but the call itself: what is sent (without secrets and private parts, bounded, framed
//! as data), how the answer is parsed (strictly), and what it may cost. The HTTP client implements
//! [`Judge`].
//!
//! ```text
//! text ──► Candidate, Tail ──► Prompt ──► Account: may it be asked? ──► a model
//!                                                                         │
//! Verdict, Learning ◄── labels, thresholds, grounds, refusals ◄── one JSON object
//! ```

pub mod account;
mod answer;
mod candidate;
mod clean;
mod grounds;
mod label;
mod learning;
mod prompt;
mod tail;
mod verdict;

use std::fmt::Debug;

use crate::error::Result;

pub use candidate::{Candidate, MOST_CANDIDATES};
pub use label::{Confidence, Label};
pub use learning::{Learning, MOST_LEARNINGS};
pub use prompt::Prompt;
pub use tail::{FEWEST_TURNS, MOST_TURNS, Speaker, Tail};
pub use verdict::{Finding, Undecided, Verdict};

/// A model that is asked. On an error, what was decided without a model stands.
pub trait Judge: Debug + Send + Sync {
    /// Returns one verdict for each candidate, in their order.
    fn classify(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>>;

    /// Returns what a session has taught, at most [`MOST_LEARNINGS`], failures first.
    fn learn(&self, tail: &Tail) -> Result<Vec<Learning>>;
}
