//! Transaction for one event of a client: what happened and what was said, learned and delivered
//! are stored as a whole.

mod events;
mod given;
mod notices;
mod sweeps;

use rusqlite::Connection;

pub(super) use events::kept;
pub use events::{About, Happened};
pub(super) use notices::tell;

use super::hooked::Client;
use super::keep::{self, Details, Recorded};
use super::statement::Statement;
use super::store::checked;
use super::{Memory, Note, NoteId, NoteScope, Status, givings, privacy, rows};
use crate::base::clock::Timestamp;
use crate::error::{ErrorKind, Result};

/// Origin of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// Client that reported it.
    pub client: Client,
    /// Id of the conversation.
    pub session: String,
    /// Context of the agent: the conversation's own, or that of a sub-agent.
    pub context: String,
    /// Scope of the project.
    pub scope: NoteScope,
}

/// Open transaction for one event.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub(super) connection: &'a Connection,
    pub(super) occasion: &'a Occasion,
    /// Time of the event.
    pub(super) now: Timestamp,
    /// Time of its report.
    told: Timestamp,
}

impl Memory {
    /// Runs `act` in one transaction. Returns `None` if nothing may be stored at the moment.
    pub fn turn<T>(
        &self,
        occasion: &Occasion,
        mut act: impl FnMut(&Turn<'_>) -> Result<T>,
    ) -> Result<Option<T>> {
        let now = self.now();
        self.change("taking in what happened", |connection| {
            if privacy::silence(connection, &occasion.scope, now)?.is_some() {
                return Ok(None);
            }
            act(&Turn { connection, occasion, now, told: now }).map(Some)
        })
    }
}

impl Turn<'_> {
    /// Returns the transaction for something that happened earlier, and is only reported now.
    #[must_use]
    pub fn at(&self, then: Timestamp) -> Self {
        Self { now: then.min(self.now), ..*self }
    }

    /// Returns the client that reported the event.
    pub fn client(&self) -> Client {
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
    pub fn take_back(&self, id: &NoteId) -> Result<Option<Note>> {
        let Some(kept) = rows::by_id(self.connection, id)? else { return Ok(None) };
        match kept.note.status {
            Status::Active | Status::Candidate if kept.note.evidence <= 1 => {
                let retired = self.retire_and_restore(id, 0)?;
                Ok((kept.note.status == Status::Active).then_some(retired))
            }
            _ => Ok(None),
        }
    }

    /// Records a statement of this session; the error tells why it must not be kept.
    pub fn record(&self, statement: &Statement) -> Result<Recorded> {
        let session = Some(self.occasion.session.clone());
        let statement = checked(&Statement { session, ..statement.clone() })?;
        givings::none_from_the_future(self.connection, self.told)?;
        let late = self.now < self.told;
        let details = Details { late, ..Details::of(&statement, self.now) };
        keep::record(self.connection, &statement, &details)
    }

    /// Records a statement; `None` if it must not be kept. Other errors are returned.
    pub fn try_record(&self, statement: &Statement) -> Result<Option<Recorded>> {
        match self.record(statement) {
            Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
            recorded => recorded.map(Some),
        }
    }
}
