//! What the user said: what could not be written down at once, and a model's word on it,
//! whose "none" is final.

use recoup_core::Result;
use recoup_core::base::clock::Timestamp;
use recoup_core::memory::judge::{Candidate, Finding, Verdict};
use recoup_core::memory::{Happened, NoteId, Occasion, Of, Recorded, Source, Statement, Turn};

use super::Worker;
use crate::hooks::said::{self, Said};

impl Worker<'_> {
    /// Writes down what was said then. What was said in a pause is not.
    pub(super) fn remember(
        &self,
        occasion: &Occasion,
        at: Timestamp,
        once: Option<&str>,
        said: &[Said],
    ) -> Result<()> {
        if self.memory.was_silent(&occasion.scope, at)? {
            return Ok(());
        }
        let done = self.memory.turn(occasion, |turn| {
            let then = turn.at(at);
            if then.happened(Happened::Prompted, Of { call: once, ..Of::default() })? {
                for recorded in said::record(&then, said)? {
                    if !recorded.instead_of().is_empty() {
                        tell_change(turn, &recorded)?;
                    }
                }
            }
            Ok(())
        });
        done.map(drop)
    }

    /// Asks about a prompt, of which these notes were kept.
    pub(super) fn hear(
        &self,
        occasion: &Occasion,
        prompt: &str,
        kept: &[NoteId],
        tentative: bool,
    ) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        if self.memory.silence(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let Some(candidate) = Candidate::new(prompt, self.hidden) else { return Ok(()) };
        let verdicts = judge.classify(&[candidate])?;
        self.memory
            .turn(occasion, |turn| match verdicts.first() {
                Some(Verdict::Nothing) => take_back(turn, kept),
                Some(Verdict::Keep(finding)) if kept.is_empty() => {
                    remember(turn, finding, tentative)
                }
                _ => Ok(()),
            })
            .map(drop)
    }
}

/// That it is remembered was told at once; what gave way to it was not known then.
fn tell_change(turn: &Turn<'_>, recorded: &Recorded) -> Result<()> {
    let before: Vec<&str> = recorded.instead_of().iter().map(|note| &*note.text).collect();
    turn.tell(&format!("remembered: {}, instead of: {}", recorded.note().text, before.join("; ")))
}

/// What was kept of something that is no statement counts no longer; the user can bring
/// it back.
fn take_back(turn: &Turn<'_>, kept: &[NoteId]) -> Result<()> {
    for id in kept {
        if let Some(note) = turn.take_back(id)? {
            turn.tell(&format!(
                "not remembered after all: {} (recoup memory restore {})",
                note.text, note.id
            ))?;
        }
    }
    Ok(())
}

fn remember(turn: &Turn<'_>, finding: &Finding, tentative: bool) -> Result<()> {
    let statement = Statement {
        tentative,
        ..Statement::new(
            finding.kind,
            finding.statement.clone(),
            Source::User,
            turn.scope_for(false),
        )
    };
    match turn.record(&statement) {
        Ok(Recorded::Stored { note, .. }) => turn.tell(&format!("will remember: {}", note.text)),
        Ok(Recorded::Confirmed { .. }) => Ok(()),
        Err(error) if error.kind() == recoup_core::ErrorKind::Invalid => Ok(()),
        Err(error) => Err(error),
    }
}
