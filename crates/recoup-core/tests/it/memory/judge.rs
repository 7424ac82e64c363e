//! The judge without a model: what would be sent, what is made of answers, what is counted.

mod account;
mod learnings;
mod sent;
mod verdicts;

use recoup_core::memory::judge::JudgeCandidate;
use recoup_core::secrets::SecretValues;

fn candidate(text: &str) -> JudgeCandidate {
    JudgeCandidate::new(text, &SecretValues::default()).unwrap()
}
