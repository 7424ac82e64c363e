//! What a model says about sentences, strictly read. What is not certain is undecided: then
//! what was decided without a model stands.

use serde_json::Value;

use super::answer;
use super::candidate::Candidate;
use super::grounds::is_in_the_words_of;
use super::label::{Confidence, Label};
use crate::error::Result;
use crate::memory::NoteKind;
use crate::memory::refuse::{Refusal, refusal};

/// What is to become of a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It is to be kept, as this.
    Keep(Finding),
    /// There is nothing in it to keep. This is final.
    Nothing,
    /// The model has not decided it.
    Undecided(Undecided),
}

/// What a candidate says.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// How sure the model is.
    pub confidence: Confidence,
    /// The statement, in the candidate's own words.
    pub statement: String,
}

/// Why a candidate is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// It was not spoken of.
    Unsaid,
    /// What was said of it is not what was asked for.
    Malformed,
    /// A label that there is not.
    UnknownLabel,
    /// A confidence that is none.
    NoConfidence,
    /// The model is not sure enough.
    Unsure,
    /// The statement says what the candidate does not.
    NotItsWords,
    /// The statement must not be kept.
    Refused(Refusal),
    /// Two things were said of it.
    Twice,
}

impl Verdict {
    /// Reads the answer to a prompt about `candidates`: one verdict for each.
    pub fn parse(answer: &str, candidates: &[Candidate]) -> Result<Vec<Self>> {
        let mut verdicts = vec![Self::Undecided(Undecided::Unsaid); candidates.len()];
        for item in answer::items(answer, "verdicts", candidates.len())? {
            let id = item.get("id").and_then(Value::as_u64);
            let place = id.and_then(|id| usize::try_from(id).ok()?.checked_sub(1));
            let Some((place, candidate)) =
                place.and_then(|place| Some((place, candidates.get(place)?)))
            else {
                continue; // it speaks of something that was not asked
            };
            let unsaid = verdicts[place] == Self::Undecided(Undecided::Unsaid);
            verdicts[place] =
                if unsaid { Self::of(&item, candidate) } else { Self::Undecided(Undecided::Twice) };
        }
        Ok(verdicts)
    }

    fn of(item: &Value, candidate: &Candidate) -> Self {
        match kept(item, candidate) {
            Ok(Some(finding)) => Self::Keep(finding),
            Ok(None) => Self::Nothing,
            Err(why) => Self::Undecided(why),
        }
    }
}

fn kept(item: &Value, candidate: &Candidate) -> Result<Option<Finding>, Undecided> {
    let label = item.get("label").and_then(Value::as_str).ok_or(Undecided::Malformed)?;
    let Label::Of(kind) = Label::parse(label).ok_or(Undecided::UnknownLabel)? else {
        return Ok(None);
    };
    let confidence = confidence(item).ok_or(Undecided::NoConfidence)?;
    if !confidence.is_enough_for(kind) {
        return Err(Undecided::Unsure);
    }
    let statement = text(item, "statement").ok_or(Undecided::Malformed)?;
    if let Some(refusal) = refusal(&statement) {
        return Err(Undecided::Refused(refusal));
    }
    if !is_in_the_words_of(&statement, candidate.text()) {
        return Err(Undecided::NotItsWords);
    }
    Ok(Some(Finding { kind, confidence, statement }))
}

/// A number from 0 to 1, and not a text that looks like one.
pub(super) fn confidence(item: &Value) -> Option<Confidence> {
    item.get("confidence").and_then(Value::as_f64).and_then(Confidence::new)
}

/// A text on one line.
pub(super) fn text(item: &Value, name: &str) -> Option<String> {
    let text = item.get(name)?.as_str()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
