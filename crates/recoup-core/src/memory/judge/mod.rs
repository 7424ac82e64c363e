//! What memory asks a model: whether a sentence is worth keeping, and what a session
//! has taught.
//!
//! Here is everything but the asking itself: what is sent (without secrets and private
//! parts, bounded, framed as data), what is made of the answer (strictly), and what it may
//! cost. Who speaks HTTP implements [`Judge`].
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

/// Who is asked. An error means that nothing was said, and what was decided without a
/// model stands.
pub trait Judge: Debug + Send + Sync {
    /// One verdict for each candidate, in their order.
    fn classify(&self, candidates: &[Candidate]) -> Result<Vec<Verdict>>;

    /// What a session has taught, at most [`MOST_LEARNINGS`], what failed first.
    fn learn(&self, tail: &Tail) -> Result<Vec<Learning>>;
}
