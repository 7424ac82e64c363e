//! Records the user's statements: in the hook, or in the worker if memory could not be written at
//! that moment.

use recoup_core::Result;
use recoup_core::memory::transcript::bound_text;
use recoup_core::memory::{EventTransaction, RecordOutcome};

use super::wire;
pub use crate::jobs::UserStatement;

/// Digest of a prompt without its private parts; the same whether a hook or the transcript reports
/// it.
pub(super) fn prompt_digest(prompt: &str) -> String {
    wire::text_digest(&bound_text(prompt.trim()))
}

/// Records statements as notes. Skips those that memory refuses, such as secrets.
pub(super) fn record_statements(
    turn: &EventTransaction<'_>,
    said: &[UserStatement],
) -> Result<Vec<RecordOutcome>> {
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
    Ok(all)
}
