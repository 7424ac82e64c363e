//! What an agent suggests, and what the user agrees to.
//!
//! Nobody can tell an agent that heard the user from one that read the same words on a web
//! page. So a suggestion changes nothing that counts, however often it comes. Only the user's
//! word does, and that is given to a [`Suggestion`]: to these words, and to what gives way.

use std::collections::BTreeSet;

use rusqlite::{Connection, params};

use super::keep::{self, Details, Recorded};
use super::rows::{self, Kept};
use super::statement::said;
use super::store::checked;
use super::{Memory, Note, NoteId, NoteScope, Source, Statement, Status, Trust};
use super::{privacy, search};
use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};

/// A note that the user may agree to, and what no longer counts once they do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// What it says.
    pub note: Note,
    /// What gives way to it.
    pub instead_of: Vec<Note>,
}

/// What became of a suggestion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggested {
    /// What is remembered, and what the user would agree to if it only waits.
    pub suggestion: Suggestion,
    /// Whether it was known before.
    pub known: bool,
}

impl Memory {
    /// Writes down what an agent says in a project (`at`), as something that waits for the
    /// user. What is known already stays as it is: its rank is no agent's to change.
    pub fn suggest(&self, statement: &Statement, at: &NoteScope) -> Result<Suggested> {
        let names_topic = statement.topic.is_some();
        let statement = &Statement { tentative: true, ..checked(statement)? };
        let now = self.now();
        self.change_durably("remembering it", |connection| {
            for scope in [at, &statement.scope] {
                if let Some(silence) = privacy::silence(connection, scope, now)? {
                    return Err(Error::new(ErrorKind::Invalid, silence.to_string()));
                }
            }
            let (kept, known) = match known(connection, statement)? {
                None => (insert(connection, statement, now)?, false),
                Some(kept) => (heard_again(connection, kept, statement, names_topic, now)?, true),
            };
            let instead_of = match kept.note.status {
                Status::Candidate => notes(keep::rivals(connection, &kept)?),
                _ => Vec::new(),
            };
            Ok(Suggested { suggestion: Suggestion { note: kept.note, instead_of }, known })
        })
    }

    /// A note, and what would give way to it.
    pub fn suggestion(&self, id: &NoteId) -> Result<Suggestion> {
        let found = self.read(|connection| {
            let kept = keep::demand(connection, id)?;
            let instead_of = notes(keep::rivals(connection, &kept)?);
            Ok(Suggestion { note: kept.note, instead_of })
        })?;
        found.ok_or_else(|| keep::absent(id))
    }

    /// The user agrees: from now on it is their own statement, and counts. Says what gave
    /// way. Nothing happens where it is not any more what they were shown.
    pub fn agree(&self, to: &Suggestion) -> Result<(Note, Vec<Note>)> {
        let now = self.now();
        self.change_durably("agreeing to a memory", |connection| {
            let kept = keep::demand(connection, &to.note.id)?;
            let instead_of = keep::rivals(connection, &kept)?;
            let as_shown = kept.note.text == to.note.text
                && kept.note.scope == to.note.scope
                && in_words(&notes(instead_of)) == in_words(&to.instead_of);
            if !as_shown {
                let changed = format!("{} has changed meanwhile: look at it again", to.note.id);
                return Err(Error::new(ErrorKind::Invalid, changed));
            }
            make_the_users(connection, &kept)?;
            keep::set_status(connection, &to.note.id, Status::Active, "agreed", now)
        })
    }
}

/// What somebody is shown of notes, in whatever order.
fn in_words(notes: &[Note]) -> BTreeSet<(&str, &str)> {
    notes.iter().map(|it| (it.id.as_str(), it.text.as_str())).collect()
}

fn known(connection: &Connection, statement: &Statement) -> Result<Option<Kept>> {
    let paths = statement.paths.clone().unwrap_or_default();
    rows::one(
        connection,
        "scope = ?1 AND paths = ?2 AND said = ?3",
        params![statement.scope.to_string(), paths, said(&statement.text)],
    )
}

fn insert(connection: &Connection, statement: &Statement, now: Timestamp) -> Result<Kept> {
    let recorded: Recorded = keep::record(connection, statement, &Details::of(statement, now))?;
    keep::demand(connection, &recorded.note().id)
}

/// What still waits may be filed under what it is about, and waits on; all else stays as it is.
fn heard_again(
    connection: &Connection,
    kept: Kept,
    statement: &Statement,
    names_topic: bool,
    now: Timestamp,
) -> Result<Kept> {
    if kept.note.status != Status::Candidate || kept.note.trust() == Trust::Untrusted {
        return Ok(kept);
    }
    let topic = if names_topic { &statement.topic } else { &kept.note.topic };
    connection
        .prepare_cached("UPDATE notes SET topic = ?2, updated = ?3 WHERE row = ?1")
        .and_then(|mut update| update.execute(params![kept.row, topic, now.as_millis()]))
        .map_err(keep::keeping)?;
    search::put(connection, kept.row, &kept.note.text, topic.as_deref())?;
    keep::demand(connection, &kept.note.id)
}

/// What was only inferred is the user's word now; what has a better origin keeps it.
fn make_the_users(connection: &Connection, kept: &Kept) -> Result<()> {
    if kept.note.trust() != Trust::Inferred {
        return Ok(());
    }
    connection
        .prepare_cached("UPDATE notes SET source = ?2 WHERE row = ?1")
        .and_then(|mut update| update.execute(params![kept.row, Source::User.as_str()]))
        .map(drop)
        .map_err(keep::keeping)
}

fn notes(kept: Vec<Kept>) -> Vec<Note> {
    kept.into_iter().map(|kept| kept.note).collect()
}
