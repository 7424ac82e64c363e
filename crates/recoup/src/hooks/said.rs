//! What the user said, written down: by the hook that heard it, or by the worker where
//! memory could not be written at that moment.

use recoup_core::Result;
use recoup_core::memory::classify::Saying;
use recoup_core::memory::transcript::bounded;
use recoup_core::memory::{NoteKind, Recorded, Source, Statement, Turn};
use serde::{Deserialize, Serialize};

use super::wire;

/// A statement of the user's, as a job has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The statement.
    pub text: String,
    /// The user's own words.
    pub quote: Option<String>,
    /// Whether it holds everywhere, and not only in this project.
    pub universal: bool,
    /// For which files.
    pub paths: Option<String>,
    /// What it is about.
    pub topic: Option<String>,
    /// Whether nobody was there to say it.
    pub tentative: bool,
    /// True if it is to last. Jobs of older versions do not say.
    #[serde(default = "lasting")]
    pub lasting: bool,
}

fn lasting() -> bool {
    true
}

impl Said {
    /// Makes one from a finding in a prompt. It is tentative if nobody was there to say it, or if
    /// it may have been meant for one task.
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

/// Stands for the words of a prompt, without its private parts: the same whether a hook or
/// the transcript tells them, and not readable.
pub(super) fn print(prompt: &str) -> String {
    wire::print(&bounded(prompt.trim()))
}

/// Remembers what was said. What must not be kept is passed over.
pub(super) fn record(turn: &Turn<'_>, said: &[Said]) -> Result<Vec<Recorded>> {
    let mut all = Vec::new();
    for said in said {
        let Some(recorded) = turn.try_record(&said.statement(turn))? else { continue };
        if let Recorded::Confirmed { note, .. } = &recorded {
            turn.repeated(note)?;
        }
        // It was said in this context, which need not be told.
        turn.knows([&recorded.note().id])?;
        all.push(recorded);
    }
    Ok(all)
}
