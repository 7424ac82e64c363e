//! Transaction for one event of a client: what happened and what was said, learned and delivered
//! are stored as a whole.

mod events;

use std::collections::HashSet;

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::{ErrorKind, Result};
use crate::memory::db::{
    CachedSql as _, ContextDeliveries, Memory, RecordOutcome, RecordTime, SqlContext as _,
    deliveries, note_rows, pauses, recording,
};
use crate::memory::model::{HookClient, Note, NoteId, NoteScope, NoteStatus, Statement};

pub use events::{EventDetails, MemoryEventKind};

pub(crate) use events::storable_text;

const NOTING_POSITION: &str = "cannot save the position in a transcript";
const NOTING_NOTICES: &str = "cannot access the notices";

/// Maximum number of notices that are shown at once.
const MOST_NOTICES: usize = 4;

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
    pub(crate) connection: &'a Connection,
    pub(crate) occasion: &'a EventOrigin,
    /// Time of the event.
    pub(crate) now: Timestamp,
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
        self.change("cannot process an event", |connection| {
            if pauses::pause_reason(connection, &occasion.scope, now)?.is_some() {
                return Ok(None);
            }
            act(&EventTransaction { connection, occasion, now, told: now }).map(Some)
        })
    }

    /// Returns the notes that a context has received, and when it last received all rules.
    pub fn deliveries_to(&self, context: &str) -> Result<ContextDeliveries> {
        self.read(|connection| ContextDeliveries::load(connection, context))
    }

    /// Returns the position up to which a transcript has been read, in its reader's own format.
    pub fn transcript_position(&self, transcript: &str) -> Result<Option<String>> {
        let sql = "SELECT mark FROM sweeps WHERE transcript = ?1";
        self.read(|connection| connection.find_value(sql, [transcript], NOTING_POSITION))
    }

    /// Stores the position up to which a transcript has been read. Also while memory is paused, so
    /// that this part is not read later.
    pub fn store_transcript_position(&self, transcript: &str, mark: &str) -> Result<()> {
        let sql = "INSERT OR REPLACE INTO sweeps (transcript, mark, at) VALUES (?1, ?2, ?3)";
        let values = params![transcript, mark, self.now()];
        self.change(NOTING_POSITION, |connection| {
            connection.write(sql, values, NOTING_POSITION).map(drop)
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
    pub fn record(&self, statement: &Statement) -> Result<RecordOutcome> {
        let session = Some(self.occasion.session.clone());
        let statement = Statement { session, ..statement.clone() }.validated()?;
        deliveries::clamp_future_deliveries(self.connection, self.told)?;
        let time = RecordTime { now: self.now, late: self.now < self.told };
        recording::record(self.connection, &statement, time)
    }

    /// Records a statement; `None` if it must not be kept. Other errors are returned.
    pub fn try_record(&self, statement: &Statement) -> Result<Option<RecordOutcome>> {
        match self.record(statement) {
            Err(error) if matches!(error.kind(), ErrorKind::Invalid | ErrorKind::Usage) => Ok(None),
            recorded => recorded.map(Some),
        }
    }

    /// Returns the notes that this context has received.
    pub fn delivered_notes(&self) -> Result<HashSet<NoteId>> {
        Ok(ContextDeliveries::load(self.connection, &self.occasion.context)?.notes)
    }

    /// Records that this context received all rules that it lacked: `rules`, if there were any.
    /// False if it had all of them before, as when two hooks report one event.
    pub fn deliver_all<'n>(&self, rules: impl IntoIterator<Item = &'n NoteId>) -> Result<bool> {
        let context = &self.occasion.context;
        let given = ContextDeliveries::load(self.connection, context)?;
        let is_first = given.last_whole.is_none();
        Ok(given.record_delivery(self.connection, context, self.now, rules, true)? > 0 || is_first)
    }

    /// Records that this context has these notes, delivered or stated in it; returns how many are
    /// new.
    pub fn mark_delivered<'n>(&self, notes: impl IntoIterator<Item = &'n NoteId>) -> Result<usize> {
        let context = &self.occasion.context;
        let given = ContextDeliveries::load(self.connection, context)?;
        given.record_delivery(self.connection, context, self.now, notes, false)
    }

    /// Forgets the deliveries to this context: it was compacted, or cleared.
    pub fn forget_deliveries(&self) -> Result<()> {
        deliveries::mark_lost(self.connection, &self.occasion.context)
    }

    /// Stores a notice for a person in this project.
    pub fn add_notice(&self, text: &str) -> Result<()> {
        insert_notice(self.connection, &self.occasion.scope, text, self.now)
    }

    /// Removes and returns the notices that are to be shown.
    pub fn take_notices(&self) -> Result<Vec<String>> {
        // Notices for all projects are shown in the first of them.
        const SQL: &str = "DELETE FROM notices WHERE scope IN (?1, ?2) RETURNING row, text";
        let scopes = [&self.occasion.scope, &NoteScope::Universal];
        let mut notices: Vec<(i64, String)> = self
            .connection
            .list_cached(SQL, scopes, |row| Ok((row.get(0)?, row.get(1)?)))
            .doing(NOTING_NOTICES)?;
        notices.sort_unstable();
        let more = notices.len().saturating_sub(MOST_NOTICES);
        let mut told: Vec<String> =
            notices.into_iter().take(MOST_NOTICES).map(|(_, text)| text).collect();
        if more > 0 {
            told.push(format!("and {more} more (`recoup memory list --all`)"));
        }
        Ok(told)
    }
}

/// Stores a notice for a person in that scope.
pub(crate) fn insert_notice(
    connection: &Connection,
    scope: &NoteScope,
    text: &str,
    now: Timestamp,
) -> Result<()> {
    let sql = "INSERT INTO notices (at, scope, text) VALUES (?1, ?2, ?3)";
    connection.write(sql, params![now, scope, text], NOTING_NOTICES).map(drop)
}
