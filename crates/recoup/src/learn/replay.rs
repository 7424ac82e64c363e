//! Replays what was said into an empty memory, in the order in which it was said: a repetition
//! confirms, a change of mind replaces, and "forget that" takes back, as memory itself does it.

use std::collections::HashMap;
use std::sync::Arc;

use recoup_core::base::FaultLog;
use recoup_core::base::clock::SystemClock;
use recoup_core::base::fsx;
use recoup_core::memory::{
    EventDetails, EventOrigin, EventTransaction, Memory, MemoryEventKind, Note, NoteFilter, NoteId,
    NoteScope, Statement, WaitLimits,
};
use recoup_core::{Error, ErrorKind, Result};

use super::places::PromptPlace;
use super::prompts::HeardPrompt;

/// A statement in a prompt, by their places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StatedAt {
    pub(super) prompt: usize,
    pub(super) statement: usize,
}

/// Notes of the replay, each with the statements that made and confirmed it.
pub(super) struct ReplayedNotes {
    pub(super) notes: Vec<Note>,
    pub(super) stated: HashMap<NoteId, Vec<StatedAt>>,
}

pub(super) fn replay_prompts(
    prompts: &[HeardPrompt],
    places: &[PromptPlace],
    faults: Arc<dyn FaultLog>,
) -> Result<ReplayedNotes> {
    let mut stated: HashMap<NoteId, Vec<StatedAt>> = HashMap::new();
    if prompts.is_empty() {
        return Ok(ReplayedNotes { notes: Vec::new(), stated });
    }
    // Removed at the end.
    let temporary = tempfile::tempdir().map_err(|error| {
        Error::new(ErrorKind::Io, "cannot make a temporary directory").with_source(error)
    })?;
    let dir = temporary.path().join("replay");
    fsx::ensure_private_dir(&dir)?;
    let path = dir.join("memory.db");
    let memory = Memory::at(path, WaitLimits::default(), Arc::new(SystemClock), faults);
    for (at, prompt) in prompts.iter().enumerate() {
        let origin = EventOrigin {
            client: prompt.client,
            session: prompt.session.clone(),
            context: prompt.session.clone(),
            scope: places[prompt.place].scope(),
        };
        let recorded =
            memory.transact(&origin, |transaction| replay_prompt(transaction, prompt))?;
        for (statement, note) in recorded.into_iter().flatten() {
            stated.entry(note).or_default().push(StatedAt { prompt: at, statement });
        }
    }
    Ok(ReplayedNotes { notes: memory.notes(&NoteFilter::default())?, stated })
}

/// Records a prompt; returns the places of its statements with their notes.
fn replay_prompt(
    transaction: &EventTransaction<'_>,
    prompt: &HeardPrompt,
) -> Result<Vec<(usize, NoteId)>> {
    let then = transaction.at_time(prompt.at);
    then.record_event(MemoryEventKind::Prompted, EventDetails::default())?;
    let mut recorded = Vec::new();
    for (at, statement) in prompt.statements.iter().enumerate() {
        let scope = then.scope_for(statement.scope == NoteScope::Universal);
        let statement = Statement { scope, ..statement.clone() };
        if let Some(outcome) = then.try_record(&statement)? {
            recorded.push((at, outcome.note().id.clone()));
        }
    }
    if let Some(how) = prompt.retraction {
        then.retract(how)?;
    }
    then.retract_named(&prompt.retractions)?;
    Ok(recorded)
}
