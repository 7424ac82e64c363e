//! One thing that a client told us, taken in as a whole: what happened, what was said,
//! what was learned and what was given, in one transaction.

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

/// Where something happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occasion {
    /// Which program told us.
    pub client: Client,
    /// The conversation.
    pub session: String,
    /// What the agent sees: the conversation's own context, or that of a sub-agent.
    pub context: String,
    /// The project.
    pub scope: NoteScope,
}

/// While something is taken in.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub(super) connection: &'a Connection,
    pub(super) occasion: &'a Occasion,
    /// When it happened,
    pub(super) now: Timestamp,
    /// and when it is told.
    told: Timestamp,
}

impl Memory {
    /// Takes in what happened: all of what `act` does, or nothing of it. None where nothing
    /// may be kept at the moment.
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
    /// The same for something that happened then, and is only told now.
    #[must_use]
    pub fn at(&self, then: Timestamp) -> Self {
        Self { now: then.min(self.now), ..*self }
    }

    /// Which program told us.
    pub fn client(&self) -> Client {
        self.occasion.client
    }

    /// The conversation.
    pub fn session(&self) -> &str {
        &self.occasion.session
    }

    /// For whom something holds that is said here.
    pub fn scope_for(&self, universal: bool) -> NoteScope {
        if universal { NoteScope::Universal } else { self.occasion.scope.clone() }
    }

    /// What was said was no statement: the note that was made of it counts no longer, and
    /// what had given way to it does again. None where it only waited for evidence, was said
    /// before, or again, or is gone.
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

    /// Remembers a statement of this session; an error says why it must not be kept.
    pub fn record(&self, statement: &Statement) -> Result<Recorded> {
        let session = Some(self.occasion.session.clone());
        let statement = checked(&Statement { session, ..statement.clone() })?;
        givings::none_from_the_future(self.connection, self.told)?;
        let late = self.now < self.told;
        let details = Details { late, ..Details::of(&statement, self.now) };
        keep::record(self.connection, &statement, &details)
    }

    /// The same; none where it must not be kept. Any other fault is one.
    pub fn try_record(&self, statement: &Statement) -> Result<Option<Recorded>> {
        match self.record(statement) {
            Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
            recorded => recorded.map(Some),
        }
    }
}
