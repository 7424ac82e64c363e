//! Learnings from a session, strictly parsed from a model's answer.

use serde_json::Value;

use crate::error::Result;
use crate::memory::guard::refusal::statement_refusal;
use crate::memory::judge::grounding::is_mostly_grounded;
use crate::memory::judge::sent_text::{SessionTail, TurnSpeaker};
use crate::memory::judge::verdict::{confidence, least_confidence, parse_items, text};
use crate::memory::model::{NoteKind, NoteSource};

/// Most learnings from one session.
pub const MOST_LEARNINGS: usize = 5;
/// Most items in an answer; one with more is invalid.
const MOST_SAID: usize = 20;

/// Something that a session has taught: never more than a candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionLearning {
    /// Kind of content.
    pub kind: NoteKind,
    /// Statement of what was learned.
    pub text: String,
    /// [`NoteSource::Extraction`], or [`NoteSource::Tool`] if only a tool's output says so.
    pub source: NoteSource,
}

impl SessionLearning {
    /// Parses the answer to a prompt about `tail`: failures first, then facts about the project,
    /// then corrections. Invalid items are left out.
    pub fn parse(answer: &str, tail: &SessionTail) -> Result<Vec<Self>> {
        let items = parse_items(answer, "learnings", MOST_SAID)?;
        let mut learnings: Vec<Self> = Vec::new();
        for learning in items.iter().filter_map(|item| Self::of(item, tail)) {
            if !learnings.iter().any(|known| known.text == learning.text) {
                learnings.push(learning);
            }
        }
        learnings.sort_by_key(|learning| match learning.kind {
            NoteKind::Failure => 0,
            NoteKind::Devops | NoteKind::ProjectKnowledge => 1,
            NoteKind::Preference | NoteKind::Correction => 2,
        });
        learnings.truncate(MOST_LEARNINGS);
        Ok(learnings)
    }

    fn of(item: &Value, tail: &SessionTail) -> Option<Self> {
        let kind = NoteKind::parse(item.get("label")?.as_str()?).ok()?;
        confidence(item).filter(|it| *it >= least_confidence(kind))?;
        let text = text(item, "text")?;
        if statement_refusal(&text).is_some() {
            return None;
        }
        // Each turn that it cites must exist.
        let turn = |number: &Value| {
            let place = usize::try_from(number.as_u64()?).ok()?.checked_sub(1)?;
            tail.turns().get(place)
        };
        let cited = item.get("from")?.as_array()?.iter().map(turn).collect::<Option<Vec<_>>>()?;
        let source = source(&text, kind, &cited)?;
        Some(Self { kind, text, source })
    }
}

/// Source of a learning. Only the user can say what the user wants; what only a tool says is
/// untrusted.
fn source(text: &str, kind: NoteKind, cited: &[&(TurnSpeaker, String)]) -> Option<NoteSource> {
    let said_by = |speakers: &[TurnSpeaker]| {
        let words: Vec<&str> = cited
            .iter()
            .filter(|(speaker, _)| speakers.contains(speaker))
            .map(|(_, text)| text.as_str())
            .collect();
        is_mostly_grounded(text, &words.join("\n"))
    };
    match kind {
        NoteKind::Correction | NoteKind::Preference => {
            said_by(&[TurnSpeaker::User]).then_some(NoteSource::Extraction)
        }
        _ if said_by(&[TurnSpeaker::User, TurnSpeaker::Agent]) => Some(NoteSource::Extraction),
        _ => said_by(&[TurnSpeaker::User, TurnSpeaker::Agent, TurnSpeaker::Tool])
            .then_some(NoteSource::Tool),
    }
}
