//! Verdicts of a model on sentences: their labels, the confidence that these need, and the strict
//! parser of answers. Whatever is not certain is undecided: then the decision that was made without a
//! model stands.

use serde_json::Value;

use crate::error::{Error, ErrorKind, Result};
use crate::memory::guard::refusal::{RefusalReason, statement_refusal};
use crate::memory::judge::grounding::is_grounded;
use crate::memory::judge::sent_text::JudgeCandidate;
use crate::memory::model::NoteKind;

/// Label for nothing to keep.
const NONE: &str = "none";

/// Decision about a candidate.
#[derive(Debug, Clone, PartialEq)]
pub enum JudgeVerdict {
    /// To be kept, as this.
    Keep(JudgedStatement),
    /// Nothing to keep. This is final.
    Nothing,
    /// Not decided by the model.
    Undecided(UndecidedReason),
}

/// Statement that a candidate makes.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedStatement {
    /// Kind of content.
    pub kind: NoteKind,
    /// Confidence of the model, from 0 to 1.
    pub confidence: f64,
    /// The statement, in the candidate's own words.
    pub statement: String,
}

/// Reason why a candidate is not decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UndecidedReason {
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
    Refused(RefusalReason),
    /// Two items for one candidate.
    Twice,
}

impl JudgeVerdict {
    /// Parses the answer to a prompt about `candidates`: one verdict for each.
    pub fn parse(answer: &str, candidates: &[JudgeCandidate]) -> Result<Vec<Self>> {
        let mut verdicts = vec![Self::Undecided(UndecidedReason::Unsaid); candidates.len()];
        for item in parse_items(answer, "verdicts", candidates.len())? {
            let id = item.get("id").and_then(Value::as_u64);
            let place = id.and_then(|id| usize::try_from(id).ok()?.checked_sub(1));
            let Some((place, candidate)) =
                place.and_then(|place| Some((place, candidates.get(place)?)))
            else {
                continue; // it speaks of something that was not asked
            };
            let unsaid = verdicts[place] == Self::Undecided(UndecidedReason::Unsaid);
            let judged = if unsaid {
                judged_statement(&item, candidate)
            } else {
                Err(UndecidedReason::Twice)
            };
            verdicts[place] = match judged {
                Ok(Some(statement)) => Self::Keep(statement),
                Ok(None) => Self::Nothing,
                Err(reason) => Self::Undecided(reason),
            };
        }
        Ok(verdicts)
    }
}

/// Parses an item of an answer; none if there is nothing to keep.
fn judged_statement(
    item: &Value,
    candidate: &JudgeCandidate,
) -> std::result::Result<Option<JudgedStatement>, UndecidedReason> {
    let label = item.get("label").and_then(Value::as_str).ok_or(UndecidedReason::Malformed)?;
    if label == NONE {
        return Ok(None);
    }
    let kind = NoteKind::parse(label).map_err(|_| UndecidedReason::UnknownLabel)?;
    let confidence = confidence(item).ok_or(UndecidedReason::NoConfidence)?;
    if confidence < least_confidence(kind) {
        return Err(UndecidedReason::Unsure);
    }
    let statement = text(item, "statement").ok_or(UndecidedReason::Malformed)?;
    if let Some(refusal) = statement_refusal(&statement) {
        return Err(UndecidedReason::Refused(refusal));
    }
    if !is_grounded(&statement, candidate.text()) {
        return Err(UndecidedReason::NotItsWords);
    }
    Ok(Some(JudgedStatement { kind, confidence, statement }))
}

/// Parses a number from 0 to 1, not a text that looks like one.
pub(super) fn confidence(item: &Value) -> Option<f64> {
    item.get("confidence").and_then(Value::as_f64).filter(|it| (0.0..=1.0).contains(it))
}

/// Least confidence that a kind needs. Rules that change how an agent works need more than facts
/// that only inform it.
pub(super) fn least_confidence(kind: NoteKind) -> f64 {
    match kind {
        NoteKind::Correction | NoteKind::Preference | NoteKind::Devops => 0.75,
        NoteKind::Failure | NoteKind::ProjectKnowledge => 0.6,
    }
}

/// Returns a text on one line; none if it is empty.
pub(super) fn text(item: &Value, name: &str) -> Option<String> {
    let text = item.get(name)?.as_str()?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!line.is_empty()).then_some(line)
}

/// Returns the array `name` of the answer's object. A fence around it is ignored: some models
/// always write one. Anything else around it makes the answer invalid, because it could be text
/// that the model only quotes.
pub(super) fn parse_items(answer: &str, name: &str, most: usize) -> Result<Vec<Value>> {
    let answer = answer.trim();
    let fenced = answer.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    let answer = fenced.map_or(answer, |inner| inner.strip_prefix("json").unwrap_or(inner).trim());
    let json: Value = serde_json::from_str(answer)
        .map_err(|error| invalid_answer("is not one JSON object").with_source(error))?;
    let Value::Object(mut object) = json else {
        return Err(invalid_answer("is not one JSON object"));
    };
    let Some(Value::Array(items)) = object.remove(name) else {
        return Err(invalid_answer(&format!("has no array {name:?}")));
    };
    if items.len() > most {
        let items = items.len();
        return Err(invalid_answer(&format!("has {items} items, the limit is {most}")));
    }
    Ok(items)
}

/// Makes an error without the model's words: errors may be kept for longer than these.
fn invalid_answer(what: &str) -> Error {
    Error::new(ErrorKind::Invalid, format!("the model's answer {what}"))
}
