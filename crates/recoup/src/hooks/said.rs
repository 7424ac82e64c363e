//! Records the user's statements: in the hook, or in the worker if memory could not be written at
//! that moment.

use recoup_core::Result;
use recoup_core::memory::classify::Saying;
use recoup_core::memory::transcript::bounded;
use recoup_core::memory::{NoteKind, Recorded, Source, Statement, Turn};
use serde::{Deserialize, Serialize};

use super::wire;

/// A statement of the user, in the form that jobs store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
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

impl Said {
    /// Converts a classified saying; tentative if no person said it.
    pub(super) fn new(saying: &Saying, tentative: bool) -> Self {
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

    pub(super) fn statement(&self, turn: &Turn<'_>) -> Statement {
        let Self { kind, text, quote, universal, paths, topic, tentative, lasting } = self.clone();
        Statement {
            quote,
            paths,
            topic,
            tentative,
            lasting,
            ..Statement::new(kind, text, Source::User, turn.scope_for(universal))
        }
    }
}

/// Digest of a prompt without its private parts; the same whether a hook or the transcript reports
/// it.
pub(super) fn print(prompt: &str) -> String {
    wire::print(&bounded(prompt.trim()))
}

/// Records statements as notes. Skips those that memory refuses, such as secrets.
pub(super) fn record(turn: &Turn<'_>, said: &[Said]) -> Result<Vec<Recorded>> {
    let mut all = Vec::new();
    for said in said {
        let Some(recorded) = turn.try_record(&said.statement(turn))? else { continue };
        if let Recorded::Confirmed { note, .. } = &recorded {
            turn.repeated(note)?;
        }
        // Said in this context, so it need not be delivered to it.
        turn.knows([&recorded.note().id])?;
        all.push(recorded);
    }
    Ok(all)
}
