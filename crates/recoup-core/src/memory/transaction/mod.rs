//! Transaction for one event of a client: what happened and what was said, learned and delivered
//! are stored as a whole.

mod events;
mod given;
mod notices;
mod sweeps;

use rusqlite::Connection;

pub(super) use events::storable_text;
pub use events::{EventDetails, MemoryEventKind};
pub(super) use notices::insert_notice;

use super::hooked::HookClient;
use super::recording::{self, RecordDetails, RecordOutcome};
use super::statement::NoteStatement;
use super::store::check_statement;
use super::{Memory, Note, NoteId, NoteScope, NoteStatus, deliveries, note_rows, pauses};
use crate::base::clock::Timestamp;
use crate::error::{ErrorKind, Result};

/// Origin of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventOrigin {
    /// Client that reported it.
    pub client: HookClient,
    /// Id of the conversation.
    pub session: String,
    /// Context of the agent: the conversation's own, or that of a sub-agent.
    pub context: String,
    /// Scope of the project.
    pub scope: NoteScope,
}

/// Open transaction for one event.
#[derive(Debug, Clone, Copy)]
pub struct EventTransaction<'a> {
    pub(super) connection: &'a Connection,
    pub(super) occasion: &'a EventOrigin,
    /// Time of the event.
    pub(super) now: Timestamp,
    /// Time of its report.
    told: Timestamp,
}

impl Memory {
    /// Runs `act` in one transaction. Returns `None` if nothing may be stored at the moment.
    pub fn transact<T>(
        &self,
        occasion: &EventOrigin,
        mut act: impl FnMut(&EventTransaction<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let now = self.now();
        self.change("taking in what happened", |connection| {
            if pauses::pause_reason(connection, &occasion.scope, now)?.is_some() {
                return Ok(None);
            }
            act(&EventTransaction { connection, occasion, now, told: now }).map(Some)
        })
    }
}

impl EventTransaction<'_> {
    /// Returns the transaction for something that happened earlier, and is only reported now.
    #[must_use]
    pub fn at_time(&self, then: Timestamp) -> Self {
        Self { now: then.min(self.now), ..*self }
    }

    /// Returns the client that reported the event.
    pub fn client(&self) -> HookClient {
        self.occasion.client
    }

    /// Returns the id of the conversation.
    pub fn session(&self) -> &str {
        &self.occasion.session
    }

    /// Returns the scope of a statement that is made here.
    pub fn scope_for(&self, universal: bool) -> NoteScope {
        if universal { NoteScope::Universal } else { self.occasion.scope.clone() }
    }

    /// Retires the note of what turned out to be no statement, and restores what it had superseded.
    /// `None` if it was only a candidate, was stated before or again, or is gone.
    pub fn retract_note(&self, id: &NoteId) -> Result<Option<Note>> {
        let Some(kept) = note_rows::by_id(self.connection, id)? else { return Ok(None) };
        match kept.note.status {
            NoteStatus::Active | NoteStatus::Candidate if kept.note.evidence <= 1 => {
                let retired = self.retire_and_restore(id, 0)?;
                Ok((kept.note.status == NoteStatus::Active).then_some(retired))
            }
            _ => Ok(None),
        }
    }

    /// Records a statement of this session; the error tells why it must not be kept.
    pub fn record(&self, statement: &NoteStatement) -> Result<RecordOutcome> {
        let session = Some(self.occasion.session.clone());
        let statement = check_statement(&NoteStatement { session, ..statement.clone() })?;
        deliveries::clamp_future_deliveries(self.connection, self.told)?;
        let late = self.now < self.told;
        let details = RecordDetails { late, ..RecordDetails::of(&statement, self.now) };
        recording::record(self.connection, &statement, &details)
    }

    /// Records a statement; `None` if it must not be kept. Other errors are returned.
    pub fn try_record(&self, statement: &NoteStatement) -> Result<Option<RecordOutcome>> {
        match self.record(statement) {
            Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
            recorded => recorded.map(Some),
        }
    }
}
