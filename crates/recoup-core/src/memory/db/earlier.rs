//! Statements that the user made earlier, where memory did not listen, and agrees to or declines now.
//! What memory knows already, or has been told to forget, is not brought back.

use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::error::Result;
use crate::memory::db::dedup::says_the_same;
use crate::memory::db::facets::overturns;
use crate::memory::db::{Memory, RecordTime, deliveries, pauses, recording};
use crate::memory::model::{
    Note, NoteId, NoteScope, NoteStatus, Statement, normalize_for_comparison,
};

/// Relation of an earlier statement to what is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EarlierStanding {
    /// Memory has nothing like it, or only what is older.
    New,
    /// A rule says the same.
    Known,
    /// The user has said something else since.
    Outdated,
    /// The user has retired or forgotten it since.
    GivenUp,
}

/// Compares an earlier statement, last made at `said`, with the notes that apply where it was made.
pub fn standing_among(notes: &[Note], text: &str, said: Timestamp) -> EarlierStanding {
    let mut standing = EarlierStanding::New;
    for note in notes {
        let is_newer = note.updated >= said;
        let found = match note.status {
            NoteStatus::Active if says_the_same(&note.text, text) => EarlierStanding::Known,
            NoteStatus::Active if is_newer && overturns(&note.text, text) => {
                EarlierStanding::Outdated
            }
            NoteStatus::Superseded if is_newer && says_the_same(&note.text, text) => {
                EarlierStanding::Outdated
            }
            NoteStatus::Retired if is_newer && says_the_same(&note.text, text) => {
                EarlierStanding::GivenUp
            }
            _ => EarlierStanding::New,
        };
        standing = standing.max(found);
    }
    standing
}

impl Memory {
    /// Records a statement that the user agrees to, with the times and sessions in which they made
    /// it, the first one first. Returns its note, which is active, and the notes that it replaced.
    pub fn record_earlier(
        &self,
        statement: &Statement,
        said: &[(Timestamp, String)],
    ) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("cannot record the statement", |connection| {
            pauses::check_not_paused(connection, &statement.scope, now)?;
            deliveries::clamp_future_deliveries(connection, now)?;
            let mut instead_of = Vec::new();
            let mut record = |at: Timestamp, session: Option<&String>| {
                let statement = Statement { session: session.cloned(), ..statement.clone() };
                let time = RecordTime { now: at.min(now), late: true };
                let recorded = recording::record(connection, &statement.validated()?, time)?;
                instead_of.extend(recorded.instead_of().iter().cloned());
                Ok::<NoteId, crate::error::Error>(recorded.note().id.clone())
            };
            let mut id = None;
            for (at, session) in said {
                id = Some(record(*at, Some(session))?);
            }
            let id = id.map_or_else(|| record(now, None), Ok)?;
            let active = NoteStatus::Active;
            let (note, more) = recording::set_status(connection, &id, active, "agreed", now)?;
            instead_of.extend(more);
            Ok((note, instead_of))
        })
    }

    /// Keeps a statement that the user does not want as a retired note, so that it is not offered
    /// again. Nothing gives way to it.
    pub fn decline_earlier(&self, statement: &Statement) -> Result<Note> {
        let now = self.now();
        let statement = Statement { tentative: true, ..statement.clone() }.validated()?;
        self.change_durably("cannot record the decision", |connection| {
            pauses::check_not_paused(connection, &statement.scope, now)?;
            let recorded = recording::record(connection, &statement, RecordTime::at(now))?;
            let (id, retired) = (&recorded.note().id, NoteStatus::Retired);
            recording::set_status(connection, id, retired, "declined", now).map(|(note, _)| note)
        })
    }

    /// True if a note with these words was forgotten in this scope, at `said` or later.
    pub fn is_forgotten(&self, scope: &NoteScope, text: &str, said: Timestamp) -> Result<bool> {
        let at = self.read(|connection| pauses::get(connection, &forgotten_key(scope, text)))?;
        Ok(at.and_then(|at| at.parse().ok()).is_some_and(|at: i64| at >= said.as_millis()))
    }
}

/// Setting that says when words were forgotten. It has a digest of them.
pub(crate) fn forgotten_key(scope: &NoteScope, text: &str) -> String {
    let words = format!("{scope}\n{}", normalize_for_comparison(text));
    format!("forgotten {}", &Sha256Digest::of(words.as_bytes()).to_hex()[..16])
}
