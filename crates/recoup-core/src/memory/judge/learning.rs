//! Learnings from a session, strictly parsed from a model's answer.

use serde_json::Value;

use super::answer;
use super::grounds::is_mostly_in_the_words_of;
use super::label::{Confidence, Label};
use super::tail::{Speaker, Tail};
use super::verdict::{confidence, text};
use crate::error::Result;
use crate::memory::refuse::refusal;
use crate::memory::{NoteKind, Source};

/// Most learnings from one session.
pub const MOST_LEARNINGS: usize = 5;
/// Most items in an answer; one with more is invalid.
const MOST_SAID: usize = 20;

/// Something that a session has taught: never more than a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Learning {
    /// Kind of content.
    pub kind: NoteKind,
    /// Confidence of the model.
    pub confidence: Confidence,
    /// Statement of what was learned.
    pub text: String,
    /// [`Source::Extraction`], or [`Source::Tool`] if only a tool's output says so.
    pub source: Source,
}

impl Learning {
    /// Parses the answer to a prompt about `tail`: failures first, then facts about the project,
    /// then corrections. Invalid items are left out.
    pub fn parse(answer: &str, tail: &Tail) -> Result<Vec<Self>> {
        let items = answer::items(answer, "learnings", MOST_SAID)?;
        let mut learnings: Vec<Self> = Vec::new();
        for learning in items.iter().filter_map(|item| Self::of(item, tail)) {
            if !learnings.iter().any(|known| known.text == learning.text) {
                learnings.push(learning);
            }
        }
        learnings.sort_by_key(|learning| rank(learning.kind));
        learnings.truncate(MOST_LEARNINGS);
        Ok(learnings)
    }

    fn of(item: &Value, tail: &Tail) -> Option<Self> {
        let Label::Of(kind) = Label::parse(item.get("label")?.as_str()?)? else { return None };
        let confidence = confidence(item).filter(|it| it.is_enough_for(kind))?;
        let text = text(item, "text")?;
        if refusal(&text).is_some() {
            return None;
        }
        let source = source(&text, kind, &cited(item, tail)?)?;
        Some(Self { kind, confidence, text, source })
    }
}

fn rank(kind: NoteKind) -> u8 {
    match kind {
        NoteKind::Failure => 0,
        NoteKind::Devops | NoteKind::ProjectKnowledge => 1,
        NoteKind::Preference | NoteKind::Correction => 2,
    }
}

type Turn = (Speaker, String);

/// Turns that an item cites; each must exist.
fn cited<'t>(item: &Value, tail: &'t Tail) -> Option<Vec<&'t Turn>> {
    let turn = |number: &Value| {
        let place = usize::try_from(number.as_u64()?).ok()?.checked_sub(1)?;
        tail.turns().get(place)
    };
    item.get("from")?.as_array()?.iter().map(turn).collect()
}

/// Source of a learning. Only the user can say what the user wants; what only a tool says is
/// untrusted.
fn source(text: &str, kind: NoteKind, cited: &[&Turn]) -> Option<Source> {
    let said_by = |speakers: &[Speaker]| {
        let words: Vec<&str> = cited
            .iter()
            .filter(|(speaker, _)| speakers.contains(speaker))
            .map(|(_, text)| text.as_str())
            .collect();
        is_mostly_in_the_words_of(text, &words.join("\n"))
    };
    match kind {
        NoteKind::Correction | NoteKind::Preference => {
            said_by(&[Speaker::User]).then_some(Source::Extraction)
        }
        _ if said_by(&[Speaker::User, Speaker::Agent]) => Some(Source::Extraction),
        _ => said_by(&[Speaker::User, Speaker::Agent, Speaker::Tool]).then_some(Source::Tool),
    }
}
