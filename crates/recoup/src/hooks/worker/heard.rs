//! A model's word on what the user said: its "none" is final.

use recoup_core::Result;
use recoup_core::memory::judge::{Candidate, Finding, Verdict};
use recoup_core::memory::{NoteId, Occasion, Recorded, Source, Statement, Turn};

use super::Worker;

impl Worker<'_> {
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
