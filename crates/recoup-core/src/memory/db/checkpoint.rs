//! Checkpoints: the state of the work in a project, one per project, replaced by the next. One that
//! says that nothing remains removes it. Since that may never come, a checkpoint also expires after
//! a week, and is delivered to three sessions at most.

use std::fmt;
use std::time::Duration;

use rusqlite::{Connection, Row, params};
use serde::{Deserialize, Serialize};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::{
    CachedSql as _, EventOrigin, EventTransaction, Memory, PauseReason, SqlContext as _, pauses,
};
use crate::memory::guard::private_text::without_private;
use crate::memory::guard::refusal::{RefusalReason, text_refusal};
use crate::memory::model::NoteScope;
use crate::secrets;

const SAVING: &str = "cannot save the checkpoint";

/// State of the work in a project: finished, remaining and blocked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCheckpoint {
    /// Finished items.
    #[serde(default)]
    pub completed: Vec<String>,
    /// Items still to do.
    #[serde(default)]
    pub remaining: Vec<String>,
    /// Obstacles.
    #[serde(default)]
    pub blockers: Vec<String>,
    /// Anything else that the next session should know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl WorkCheckpoint {
    /// True if there is nothing in it.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// True if the work is finished: some item says so, and none names anything left to do or to
    /// know.
    fn says_all_is_done(&self) -> bool {
        let Self { completed, remaining, blockers, notes } = self;
        let left = || remaining.iter().chain(blockers).chain(notes);
        let says_something = !completed.is_empty() || left().any(|text| !text.trim().is_empty());
        // An item that means "none": blank, a dash, or a word for it.
        let is_none = |item: &String| {
            let words = item.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
            matches!(
                words.as_str(),
                "" | "none" | "nothing" | "n/a" | "na" | "done" | "nothing left"
            )
        };
        says_something && left().all(is_none)
    }

    /// Returns a copy without private text and secrets, and the items that are left out because
    /// they are unreadable or speak about the agent's instructions.
    fn clean(&self) -> (Self, Vec<OmittedItem>) {
        let mut left_out = Vec::new();
        let clean = self.map_items(|place, text| {
            let text = secrets::redact(&without_private(text)).trim().to_owned();
            match text_refusal(&text) {
                Some(why) => left_out.push(OmittedItem { place, why }),
                None if text.is_empty() => {}
                None => return Some(text),
            }
            None
        });
        (clean, left_out)
    }

    /// Returns a copy with the items that `map` makes of their places (`remaining 2`) and texts.
    fn map_items(&self, mut map: impl FnMut(String, &str) -> Option<String>) -> Self {
        let mut all = |name: &str, texts: &[String]| {
            let numbered = (1..).zip(texts);
            numbered.filter_map(|(at, text)| map(format!("{name} {at}"), text)).collect()
        };
        Self {
            completed: all("completed", &self.completed),
            remaining: all("remaining", &self.remaining),
            blockers: all("blockers", &self.blockers),
            notes: self.notes.as_ref().and_then(|text| map("notes".to_owned(), text)),
        }
    }
}

/// Outcome of saving a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckpointOutcome {
    /// Saved, without these items.
    Without(Vec<OmittedItem>),
    /// Nothing remains to be done: the checkpoint was removed.
    Done,
    /// Not saved: memory is paused, or ignores the project.
    Silent(PauseReason),
}

/// A checkpoint as it is stored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct StoredCheckpoint {
    #[serde(flatten)]
    checkpoint: WorkCheckpoint,
    /// Sessions that began with it, or loaded it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    given_to: Vec<String>,
}

impl StoredCheckpoint {
    fn to_json(&self) -> String {
        serde_json::to_string(self).expect("strings always serialize")
    }

    /// True if the session may have it: it had it before, or fewer than [`MOST_SESSIONS`] did.
    fn is_available_to(&self, session: &str) -> bool {
        self.given_to.len() < MOST_SESSIONS || self.given_to.iter().any(|it| it == session)
    }
}

/// Most sessions that are given a checkpoint.
const MOST_SESSIONS: usize = 3;

/// How long a checkpoint lasts.
pub const CHECKPOINT_LIFETIME: Duration = Duration::from_hours(7 * 24);

/// An item of a checkpoint that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedItem {
    /// Position of the item: `remaining 2`, `notes`.
    pub place: String,
    /// Reason for leaving it out.
    pub why: RefusalReason,
}

impl fmt::Display for OmittedItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

impl Memory {
    /// Saves the checkpoint of a scope.
    pub fn save_checkpoint(
        &self,
        scope: &NoteScope,
        checkpoint: &WorkCheckpoint,
    ) -> Result<CheckpointOutcome> {
        let now = self.now();
        let is_done = checkpoint.says_all_is_done();
        let (checkpoint, left_out) = checkpoint.clean();
        if checkpoint.is_empty() {
            let needs =
                "the checkpoint is empty: give completed, remaining, blockers or notes".to_owned();
            let why = left_out.first().map_or(needs, ToString::to_string);
            return Err(Error::usage(why));
        }
        let body = StoredCheckpoint { checkpoint, given_to: Vec::new() }.to_json();
        self.change(SAVING, |connection| {
            if let Some(silence) = pauses::pause_reason(connection, scope, now)? {
                return Ok(CheckpointOutcome::Silent(silence));
            }
            if is_done {
                return remove(connection, scope).map(|_| CheckpointOutcome::Done);
            }
            let sql = "INSERT OR REPLACE INTO checkpoints (scope, at, body) VALUES (?1, ?2, ?3)";
            connection.write(sql, params![scope, now, body], SAVING)?;
            Ok(CheckpointOutcome::Without(left_out.clone()))
        })
    }

    /// Imports a checkpoint that another program saved at `made`. False if there is one already, or
    /// nothing is left of it.
    pub fn import_checkpoint(
        &self,
        scope: &NoteScope,
        checkpoint: &WorkCheckpoint,
        made: Timestamp,
    ) -> Result<bool> {
        let now = self.now();
        let (checkpoint, _) = checkpoint.clean();
        if checkpoint.is_empty() || checkpoint.says_all_is_done() {
            return Ok(false);
        }
        let body = StoredCheckpoint { checkpoint, given_to: Vec::new() }.to_json();
        self.change(SAVING, |connection| {
            pauses::check_not_paused(connection, scope, now)?;
            if load_unexpired(connection, scope, now)?.is_some() {
                return Ok(false);
            }
            let sql = "INSERT OR REPLACE INTO checkpoints (scope, at, body) VALUES (?1, ?2, ?3)";
            connection.write(sql, params![scope, made, body], SAVING).map(|saved| saved > 0)
        })
    }

    /// Returns the checkpoint of a scope, and when it was saved.
    pub fn checkpoint(&self, scope: &NoteScope) -> Result<Option<(WorkCheckpoint, Timestamp)>> {
        let now = self.now();
        let found = self.read(|connection| load_unexpired(connection, scope, now))?;
        Ok(found.map(|(stored, at)| (stored.checkpoint, at)))
    }

    /// Checkpoint for a session that begins, and when it was saved; none if too many sessions had it.
    pub fn checkpoint_for(
        &self,
        scope: &NoteScope,
        session: &str,
    ) -> Result<Option<(WorkCheckpoint, Timestamp)>> {
        let now = self.now();
        let found = self.read(|connection| load_unexpired(connection, scope, now))?;
        let available = found.filter(|(stored, _)| stored.is_available_to(session));
        Ok(available.map(|(stored, at)| (stored.checkpoint, at)))
    }

    /// Like [`Memory::checkpoint_for`], for a session that asks for it: it counts as one that had it.
    pub fn load_checkpoint(
        &self,
        scope: &NoteScope,
        session: &str,
    ) -> Result<Option<(WorkCheckpoint, Timestamp)>> {
        let found = self.checkpoint_for(scope, session)?;
        if found.is_none() {
            return Ok(None);
        }
        let now = self.now();
        let counted = self.change("cannot load the checkpoint", |connection| {
            match pauses::pause_reason(connection, scope, now)? {
                Some(_) => Ok(true),
                None => count_session(connection, scope, session, now),
            }
        });
        // Best effort: a memory that can't be written is read all the same.
        Ok(found.filter(|_| counted.unwrap_or(true)))
    }

    /// Removes the checkpoint of a scope; true if there was one.
    pub fn drop_checkpoint(&self, scope: &NoteScope) -> Result<bool> {
        self.change("cannot remove the checkpoint", |connection| remove(connection, scope))
    }
}

impl EventTransaction<'_> {
    /// Records that this session begins with the checkpoint.
    pub fn mark_checkpoint_delivered(&self) -> Result<()> {
        let EventOrigin { scope, session, .. } = self.occasion;
        count_session(self.connection, scope, session, self.now).map(drop)
    }
}

/// Counts a session as one that has the checkpoint; false if it may not have it. An expired
/// checkpoint is removed.
fn count_session(
    connection: &Connection,
    scope: &NoteScope,
    session: &str,
    now: Timestamp,
) -> Result<bool> {
    let Some((mut stored, _)) = load_unexpired(connection, scope, now)? else {
        return remove(connection, scope).map(|_| false);
    };
    let is_available = stored.is_available_to(session);
    if is_available && !stored.given_to.iter().any(|it| it == session) {
        stored.given_to.push(session.to_owned());
        update(connection, scope, &stored)?;
    }
    Ok(is_available)
}

/// The checkpoint of a scope, unless it has expired.
fn load_unexpired(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Option<(StoredCheckpoint, Timestamp)>> {
    let sql = "SELECT body, at FROM checkpoints WHERE scope = ?1 AND at > ?2";
    let values = params![scope, now.before(CHECKPOINT_LIFETIME)];
    let read = |row: &Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
    let found = connection.find_cached(sql, values, read).doing("cannot read the checkpoint")?;
    let Some((body, at)) = found else { return Ok(None) };
    let stored = serde_json::from_str(&body).map_err(|error| {
        Error::new(ErrorKind::Corrupt, "the checkpoint can't be read").with_source(error)
    })?;
    Ok(Some((stored, at)))
}

fn remove(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    let sql = "DELETE FROM checkpoints WHERE scope = ?1";
    connection.write(sql, [scope], "cannot remove the checkpoint").map(|gone| gone > 0)
}

fn update(connection: &Connection, scope: &NoteScope, stored: &StoredCheckpoint) -> Result<()> {
    let sql = "UPDATE checkpoints SET body = ?2 WHERE scope = ?1";
    connection.write(sql, params![scope, stored.to_json()], SAVING).map(drop)
}

/// Removes every item that contains these words, within the caller's transaction. A checkpoint that
/// becomes empty is removed, and so is an unreadable one, which may contain them.
pub(crate) fn forget_words(connection: &Connection, words: &str) -> Result<()> {
    let sql = "SELECT scope, body FROM checkpoints";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?));
    let all = connection.list_cached(sql, [], read);
    for (scope, body) in all.doing("cannot remove text from a checkpoint")? {
        let stored = serde_json::from_str::<StoredCheckpoint>(&body).unwrap_or_default();
        let left = |_: String, item: &str| (!item.contains(words)).then(|| item.to_owned());
        let checkpoint = stored.checkpoint.map_items(left);
        if checkpoint.is_empty() {
            remove(connection, &scope)?;
        } else if checkpoint != stored.checkpoint {
            update(connection, &scope, &StoredCheckpoint { checkpoint, ..stored })?;
        }
    }
    Ok(())
}
