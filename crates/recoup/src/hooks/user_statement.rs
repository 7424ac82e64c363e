//! Records the user's statements: in the hook, or in the worker if memory could not be written at
//! that moment.

use recoup_core::Result;
use recoup_core::memory::classify::ClassifiedStatement;
use recoup_core::memory::transcript::bound_text;
use recoup_core::memory::{
    EventDetails, EventTransaction, MemoryEventKind, NoteKind, NoteSource, NoteStatement,
    RecordOutcome,
};
use serde::{Deserialize, Serialize};

use super::wire;

/// A statement of the user, in the form that jobs store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserStatement {
    /// Kind of the note to make.
    pub kind: NoteKind,
    /// Text of the statement.
    pub text: String,
    /// The user's own words.
    pub quote: Option<String>,
    /// True if it holds in all projects.
    pub universal: bool,
    /// Glob of the files that it is about.
    pub paths: Option<String>,
    /// Topic, if one was recognised.
    pub topic: Option<String>,
    /// True if it was said in a headless run.
    pub tentative: bool,
    /// True if it is meant to last. Jobs of older versions lack the field.
    #[serde(default = "lasting")]
    pub lasting: bool,
}

fn lasting() -> bool {
    true
}

impl UserStatement {
    /// Converts a classified saying; tentative if no person said it.
    pub(super) fn new(saying: &ClassifiedStatement, tentative: bool) -> Self {
        Self {
            kind: saying.kind,
            text: saying.text.clone(),
            quote: Some(saying.quote.clone()),
            universal: saying.universal,
            paths: saying.paths.clone(),
            topic: saying.topic.clone(),
            tentative,
            lasting: saying.lasting,
        }
    }

    pub(super) fn to_statement(&self, turn: &EventTransaction<'_>) -> NoteStatement {
        let Self { kind, text, quote, universal, paths, topic, tentative, lasting } = self.clone();
        NoteStatement {
            quote,
            paths,
            topic,
            tentative,
            lasting,
            ..NoteStatement::new(kind, text, NoteSource::User, turn.scope_for(universal))
        }
    }
}

/// Digest of a prompt without its private parts; the same whether a hook or the transcript reports
/// it.
pub(super) fn prompt_digest(prompt: &str) -> String {
    wire::text_digest(&bound_text(prompt.trim()))
}

/// Records a prompt and its statements as notes; none if another event has reported it. `re_ask` is
/// the prompt's text if it repeats a request. Skips statements that memory refuses, such as
/// secrets.
pub(super) fn record_prompt(
    turn: &EventTransaction<'_>,
    of: EventDetails<'_>,
    re_ask: Option<&str>,
    said: &[UserStatement],
) -> Result<Option<Vec<RecordOutcome>>> {
    if !turn.record_event(MemoryEventKind::Prompted, of)? {
        return Ok(None);
    }
    if let Some(text) = re_ask {
        turn.record_reask(text)?;
    }
    let mut all = Vec::new();
    for said in said {
        let Some(recorded) = turn.try_record(&said.to_statement(turn))? else { continue };
        if let RecordOutcome::Confirmed { note, .. } = &recorded {
            turn.record_repetition(note)?;
        }
        // Said in this context, so it need not be delivered to it.
        turn.mark_delivered([&recorded.note().id])?;
        all.push(recorded);
    }
    Ok(Some(all))
}
