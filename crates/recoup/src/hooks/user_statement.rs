//! Records the user's statements: in the hook, or in the worker if memory could not be written at
//! that moment.

use recoup_core::Result;
use recoup_core::memory::capture::transcript::bound_text;
use recoup_core::memory::{
    EventDetails, EventTransaction, MemoryEventKind, RecordOutcome, Statement,
};

use crate::transcripts::wire;

/// Reason for a stronger check.
const REPEATED: &str = "you had to repeat a rule";

/// Digest of a prompt without its private parts; the same whether a hook or the transcript reports
/// it.
pub(super) fn prompt_digest(prompt: &str) -> String {
    wire::text_digest(&bound_text(prompt.trim()))
}

/// Records a prompt and its statements as notes; none if another event has reported it. `re_ask` is
/// the prompt's text if it repeats a request. Skips statements that memory refuses, such as
/// secrets.
pub(super) fn record_prompt(
    transaction: &EventTransaction<'_>,
    of: EventDetails<'_>,
    re_ask: Option<&str>,
    said: &[Statement],
) -> Result<Option<Vec<RecordOutcome>>> {
    if !transaction.record_event(MemoryEventKind::Prompted, of)? {
        return Ok(None);
    }
    if let Some(text) = re_ask
        && let Some(rule) = transaction.record_reask(text)?
    {
        transaction.propose_enforcement(&rule.id, REPEATED)?;
    }
    let mut all = Vec::new();
    for statement in said {
        let Some(recorded) = transaction.try_record(statement)? else { continue };
        if let RecordOutcome::Confirmed { note, .. } = &recorded
            && transaction.record_repetition(note)?
        {
            transaction.propose_enforcement(&note.id, REPEATED)?;
        }
        // Said in this context, so it need not be delivered to it.
        transaction.mark_delivered([&recorded.note().id])?;
        all.push(recorded);
    }
    Ok(Some(all))
}
