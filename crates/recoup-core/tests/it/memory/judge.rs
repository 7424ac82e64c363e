//! The judge without a model: what would be sent, what is made of answers, what is counted.

mod account;
mod learnings;
mod sent;
mod verdicts;

use recoup_core::memory::judge::Candidate;
use recoup_core::secrets::Values;

fn candidate(text: &str) -> Candidate {
    Candidate::new(text, &Values::default()).unwrap()
}
