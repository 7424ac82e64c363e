//! Verdicts of a model on sentences, strictly parsed. Whatever is not certain is undecided: then
//! the decision that was made without a model stands.

use serde_json::Value;

use super::answer;
use super::candidate::Candidate;
use super::grounds::is_in_the_words_of;
use super::label::{Confidence, Label};
use crate::error::Result;
use crate::memory::NoteKind;
use crate::memory::refuse::{Refusal, refusal};

/// Decision about a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// To be kept, as this.
    Keep(Finding),
    /// Nothing to keep. This is final.
    Nothing,
    /// Not decided by the model.
    Undecided(Undecided),
}

/// Statement that a candidate makes.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// Kind of content.
    pub kind: NoteKind,
    /// Confidence of the model.
    pub confidence: Confidence,
    /// The statement, in the candidate's own words.
    pub statement: String,
}

/// Reason why a candidate is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecided {
    /// Missing from the answer.
    Unsaid,
    /// Item that does not have the requested form.
    Malformed,
    /// Unknown label.
    UnknownLabel,
    /// Missing or invalid confidence.
    NoConfidence,
    /// Confidence that is too low.
    Unsure,
    /// Statement that says something else than the candidate.
    NotItsWords,
    /// Statement that must not be kept.
    Refused(Refusal),
    /// Two items for one candidate.
    Twice,
}

impl Verdict {
    /// Parses the answer to a prompt about `candidates`: one verdict for each.
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

/// Parses a number from 0 to 1, not a text that looks like one.
pub(super) fn confidence(item: &Value) -> Option<Confidence> {
    item.get("confidence").and_then(Value::as_f64).and_then(Confidence::new)
}

/// Returns a text on one line; none if it is empty.
pub(super) fn text(item: &Value, name: &str) -> Option<String> {
    let text = item.get(name)?.as_str()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}
