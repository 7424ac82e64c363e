//! [`Memory`], the facade of all operations on notes; each is one transaction.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, params, params_from_iter};

use crate::base::FaultLog;
use crate::base::clock::{Clock, Timestamp};
use crate::database::{ConnectionPool, WaitLimits, in_transaction};
use crate::error::{Error, Result};
use crate::memory::db::facets::derive_topic;
use crate::memory::db::schema::LAYOUT;
use crate::memory::db::{
    CachedSql as _, CountedChange, RecordOutcome, RecordTime, StoredNote, deliveries, index,
    note_rows, pauses, recording,
};
use crate::memory::guard::gate::ValidStatement;
use crate::memory::model::{
    Note, NoteId, NoteScope, NoteSource, NoteStatus, NoteTrust, Statement, estimate,
    normalize_for_comparison,
};

/// Notes in one file, and everything that is done with them.
#[derive(Debug)]
pub struct Memory {
    pub(super) pool: ConnectionPool,
    clock: Arc<dyn Clock>,
}

/// Filter for notes. An empty list means all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteFilter {
    /// Scopes to include.
    pub scopes: Vec<NoteScope>,
    /// Statuses to include.
    pub statuses: Vec<NoteStatus>,
}

impl NoteFilter {
    /// Active notes that apply in `scope`: its own, and universal ones.
    pub fn active_in(scope: &NoteScope) -> Self {
        let mut scopes = vec![NoteScope::Universal, scope.clone()];
        scopes.dedup();
        Self { scopes, statuses: vec![NoteStatus::Active] }
    }

    /// Makes an SQL condition on rows of `notes`, and its values.
    pub(crate) fn condition(&self) -> (String, Vec<String>) {
        let one_of = |column: &str, count: usize| match count {
            0 => "1".to_owned(),
            count => format!("{column} IN ({})", vec!["?"; count].join(", ")),
        };
        let (scopes, statuses) = (self.scopes.len(), self.statuses.len());
        let condition = format!("{} AND {}", one_of("scope", scopes), one_of("status", statuses));
        let scopes = self.scopes.iter().map(NoteScope::to_string);
        (condition, scopes.chain(self.statuses.iter().map(NoteStatus::to_string)).collect())
    }
}

impl Memory {
    /// The memory at `path`: opened at its first use, created at its first write. Faults that it
    /// recovers from are reported to `faults`.
    pub fn at(
        path: impl Into<PathBuf>,
        waits: WaitLimits,
        clock: Arc<dyn Clock>,
        faults: Arc<dyn FaultLog>,
    ) -> Self {
        Self { pool: ConnectionPool::new(path.into(), &LAYOUT, waits, "memory", faults), clock }
    }

    /// Path of the database.
    pub fn path(&self) -> &Path {
        self.pool.path()
    }

    /// Records a statement; an error says why it must not be kept.
    pub fn record(&self, statement: &Statement) -> Result<RecordOutcome> {
        let statement = statement.clone().validated()?;
        let now = self.now();
        self.change_durably("cannot record the statement", |connection| {
            pauses::check_not_paused(connection, &statement.scope, now)?;
            deliveries::clamp_future_deliveries(connection, now)?;
            recording::record(connection, &statement, RecordTime::at(now))
        })
    }

    /// Returns one note.
    pub fn note(&self, id: &NoteId) -> Result<Option<Note>> {
        let found = self.read(|connection| note_rows::by_id(connection, id))?;
        Ok(found.map(|kept| kept.note))
    }

    /// Notes that pass the filter, the latest first.
    pub fn notes(&self, wanted: &NoteFilter) -> Result<Vec<Note>> {
        self.latest_notes(wanted, usize::MAX)
    }

    /// The latest notes that pass the filter, at most `most`, the latest first.
    pub fn latest_notes(&self, wanted: &NoteFilter, most: usize) -> Result<Vec<Note>> {
        let (condition, values) = wanted.condition();
        // SQLite sorts the numbers of the rows only: with all their text it would take a file.
        let latest = format!(
            "row IN (SELECT row FROM notes WHERE {condition}
             ORDER BY updated DESC, row DESC LIMIT {})",
            i64::try_from(most).unwrap_or(i64::MAX)
        );
        let mut all = self.read(|connection| {
            note_rows::find_many(connection, &latest, params_from_iter(&values))
        })?;
        all.sort_unstable_by_key(|kept| Reverse((kept.note.updated, kept.row)));
        Ok(all.into_iter().map(|kept| kept.note).collect())
    }

    /// Number of notes that pass the filter.
    pub fn count_notes(&self, wanted: &NoteFilter) -> Result<u64> {
        let (condition, values) = wanted.condition();
        self.read(|connection| note_rows::count(connection, &condition, &values))
    }

    /// Activates a note; returns it and the notes that it replaced.
    pub fn activate(&self, id: &NoteId, what: &str) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("cannot activate the memory", |connection| {
            deliveries::clamp_future_deliveries(connection, now)?;
            recording::set_status(connection, id, NoteStatus::Active, what, now)
        })
    }

    /// Retires a note.
    pub fn retire(&self, id: &NoteId) -> Result<Note> {
        let now = self.now();
        self.change_durably("cannot retire the memory", |connection| {
            recording::set_status(connection, id, NoteStatus::Retired, "retired", now)
                .map(|(note, _)| note)
        })
    }

    /// Changes the text of a note; returns it and the notes on its new topic that it replaced.
    pub fn edit(&self, id: &NoteId, text: &str) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("cannot change the memory", |connection| {
            deliveries::clamp_future_deliveries(connection, now)?;
            let kept = recording::require_note(connection, id)?;
            let Note { kind, source, scope, .. } = kept.note.clone();
            // A changed rule of the team, or a changed lesson, is the user's own.
            let source =
                if source.trust() < NoteTrust::Stated { NoteSource::Manual } else { source };
            // A given topic stays; a derived one is derived anew.
            let topic =
                kept.note.topic.clone().filter(|_| !recording::has_derived_topic(&kept.note));
            let statement = Statement { topic, ..Statement::new(kind, text, source, scope) };
            change_text(connection, &kept, &statement.validated()?, now)?;
            let kept = recording::require_note(connection, id)?;
            let instead_of = recording::take_topic(connection, &kept, now)?;
            Ok((recording::require_note(connection, id)?.note, instead_of))
        })
    }

    /// Checks the whole file. A damaged one is mended, or set aside and recovered; true if it was
    /// damaged.
    pub fn repair(&self) -> Result<bool> {
        self.pool.repair()
    }

    /// Waits until everything written before is on the disk. Leaves a notice for the user if the
    /// log was cut off since the last time.
    pub fn sync(&self) -> Result<()> {
        if self.has_notes()? {
            self.change_durably("cannot sync memory", |_| Ok(()))?;
        }
        Ok(())
    }

    /// Syncs memory, and settles and copies it once a day. Called now and then by a worker or a
    /// server, outside the hot paths.
    pub fn run_maintenance(&self) -> Result<()> {
        self.sync()?;
        self.maintain_daily()?;
        self.snapshot_daily().map(drop)
    }

    pub(crate) fn has_notes(&self) -> Result<bool> {
        self.read(|connection| {
            connection.has_row("SELECT 1 FROM notes LIMIT 1", [], recording::KEEPING)
        })
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Reads something; a memory that does not exist yet has nothing.
    pub(crate) fn read<T: Default>(
        &self,
        mut act: impl FnMut(&Connection) -> Result<T>,
    ) -> Result<T> {
        let mut found = self.pool.read(|connection| act(connection))?;
        // A damaged file may have been recovered meanwhile.
        if found.is_none() && self.path().exists() {
            found = self.pool.read(|connection| act(connection))?;
        }
        Ok(found.unwrap_or_default())
    }

    /// Makes a change that a person relies on: it is on the disk when this returns, and counted, so
    /// that a log that has lost it is noticed.
    pub(crate) fn change_durably<T>(
        &self,
        doing: &str,
        mut act: impl FnMut(&Connection) -> Result<T>,
    ) -> Result<T> {
        let (done, change) = self.pool.write_synced(|connection| {
            in_transaction(connection, doing, |connection| {
                let change = CountedChange::count(connection, self.path(), self.now())?;
                Ok((act(connection)?, change))
            })
        })?;
        change.write_mark();
        Ok(done)
    }

    pub(crate) fn change<T>(
        &self,
        doing: &str,
        mut act: impl FnMut(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.pool.write(|connection| in_transaction(connection, doing, &mut act))
    }

    /// Makes a change in a memory that exists already.
    pub(crate) fn change_existing<T: Default>(
        &self,
        doing: &str,
        mut act: impl FnMut(&Connection) -> Result<T>,
    ) -> Result<T> {
        self.pool.write_existing(|connection| in_transaction(connection, doing, &mut act))
    }
}

pub(crate) fn change_text(
    connection: &Connection,
    kept: &StoredNote,
    statement: &ValidStatement,
    now: Timestamp,
) -> Result<()> {
    let (text, source) = (&statement.text, statement.source);
    let topic = statement.topic.clone().or_else(|| derive_topic(text));
    let Note { id, scope, paths, .. } = &kept.note;
    let same = note_rows::find_same(connection, scope, paths.as_deref(), text)?;
    if let Some(same) = same.filter(|same| same.row != kept.row) {
        return Err(Error::usage(format!("{} already says the same", same.note.id)));
    }
    let sql = "UPDATE notes SET text = ?2, said = ?3, updated = ?4, topic = ?5, tokens = ?6,
               source = ?7 WHERE row = ?1";
    let said = normalize_for_comparison(text);
    let values = params![kept.row, text, said, now, topic, estimate(text), source];
    connection.write(sql, values, recording::KEEPING)?;
    // Contexts have only the old text.
    deliveries::forget(connection, id)?;
    index::index_note(connection, kept.row, text, topic.as_deref())?;
    recording::record_evidence(connection, kept, "edited", None, now)
}
