//! Asks a model for lessons at the end of a session.

use recoup_core::Result;
use recoup_core::memory::judge::{
    FEWEST_TURNS, MOST_TURNS, SessionLearning, SessionTail, TurnSpeaker,
};
use recoup_core::memory::transcript::{CallOutcome, CallStatus, EntryKind, TranscriptEntry};
use recoup_core::memory::{EventOrigin, EventTransaction, NoteStatement, RecordOutcome};

use super::MemoryWorker;
use super::sweep::TranscriptUpdate;
use crate::hooks::notice;

impl MemoryWorker<'_> {
    /// Asks a model for lessons, if enough entries are new since the last time.
    pub(super) fn extract(&self, occasion: &EventOrigin, news: &TranscriptUpdate) -> Result<()> {
        let Some(judge) = self.judge else { return Ok(()) };
        let unseen = self.count_unseen_entries(news)?;
        if unseen < FEWEST_TURNS {
            return Ok(());
        }
        self.memory.store_transcript_position(&unseen_counter_name(news), "0")?;
        if self.memory.pause_reason(&occasion.scope)?.is_some() {
            return Ok(());
        }
        let from = news.entries.len().saturating_sub(unseen.min(MOST_TURNS));
        let said: Vec<(TurnSpeaker, String)> =
            news.entries[from..].iter().filter_map(judge_turn).collect();
        let turns = said.iter().map(|(speaker, text)| (*speaker, text.as_str()));
        let Some(tail) = SessionTail::new(turns, self.hidden) else { return Ok(()) };
        let learnings = judge.learn(&tail)?;
        self.memory
            .transact(occasion, |turn| {
                learnings.iter().try_for_each(|it| record_learning(turn, it))
            })
            .map(drop)
    }

    /// Updates and returns the number of entries that the model has not seen; 0 without a model.
    pub(super) fn count_unseen_entries(&self, news: &TranscriptUpdate) -> Result<usize> {
        let (Some(_), name) = (self.judge, unseen_counter_name(news)) else { return Ok(0) };
        let earlier = if news.afresh { None } else { self.memory.transcript_position(&name)? };
        let earlier = earlier.and_then(|unseen| unseen.parse().ok()).unwrap_or(0_usize);
        let unseen = earlier.saturating_add(news.new_entries().len());
        self.memory.store_transcript_position(&name, &unseen.to_string())?;
        Ok(unseen)
    }
}

fn unseen_counter_name(news: &TranscriptUpdate) -> String {
    format!("{} for a model", news.name)
}

/// Records a model's lesson as a candidate, like everything that was only inferred.
fn record_learning(turn: &EventTransaction<'_>, learning: &SessionLearning) -> Result<()> {
    let scope = turn.scope_for(false);
    let statement =
        NoteStatement::new(learning.kind, learning.text.clone(), learning.source, scope);
    match turn.try_record(&statement)? {
        Some(RecordOutcome::Stored { note, .. }) => turn.add_notice(&notice::candidate(&note)),
        Some(RecordOutcome::Confirmed { .. }) | None => Ok(()),
    }
}

/// Converts an entry into a turn for the model.
fn judge_turn(entry: &TranscriptEntry) -> Option<(TurnSpeaker, String)> {
    match &entry.what {
        EntryKind::Prompt(text) => Some((TurnSpeaker::User, text.clone())),
        EntryKind::Words(text) => Some((TurnSpeaker::Agent, text.clone())),
        EntryKind::Call(call) => Some((TurnSpeaker::Agent, format!("$ {}", call.command()?))),
        EntryKind::Outcome(outcome) => Some((TurnSpeaker::Tool, describe_outcome(outcome))),
        _ => None,
    }
}

fn describe_outcome(outcome: &CallOutcome) -> String {
    let how = match outcome.ended {
        CallStatus::Succeeded => "worked",
        CallStatus::Failed { .. } => "failed",
        CallStatus::Refused => "was refused",
        CallStatus::Denied => "was denied by the user",
        CallStatus::Interrupted => "was stopped by the user",
    };
    format!("({how}) {}", outcome.output)
}
