//! Questions to a model: is a sentence worth keeping, and what has a session taught?
//!
//! Everything but the call itself: what is sent (without secrets and private parts, bounded, framed
//! as data), how the answer is parsed (strictly), and what it may cost. The HTTP client implements
//! [`MemoryJudge`].
//!
//! ```text
//! text ──► Candidate, Tail ──► Prompt ──► Account: may it be asked? ──► a model
//!                                                                         │
//! Verdict, Learning ◄── labels, thresholds, grounds, refusals ◄── one JSON object
//! ```

pub mod account;
mod grounding;
mod learning;
mod prompt;
mod sent_text;
mod verdict;

use std::fmt::Debug;

use crate::error::Result;

pub use learning::{MOST_LEARNINGS, SessionLearning};
pub use prompt::JudgePrompt;
pub use sent_text::{
    FEWEST_TURNS, JudgeCandidate, MOST_CANDIDATES, MOST_TURNS, SessionTail, TurnSpeaker,
};
pub use verdict::{JudgeVerdict, JudgedStatement, UndecidedReason};

/// A model that is asked. On an error, what was decided without a model stands.
pub trait MemoryJudge: Debug + Send + Sync {
    /// Returns one verdict for each candidate, in their order.
    fn classify(&self, candidates: &[JudgeCandidate]) -> Result<Vec<JudgeVerdict>>;

    /// Returns what a session has taught, at most [`MOST_LEARNINGS`], failures first.
    fn learn(&self, tail: &SessionTail) -> Result<Vec<SessionLearning>>;
}
