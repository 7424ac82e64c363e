//! Pauses and ignored projects, and the table of settings that holds them.

use std::fmt;
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::{CachedSql as _, Memory};
use crate::memory::model::NoteScope;

const READING_SETTINGS: &str = "cannot access the settings of memory";

/// Setting with the end of a pause, in milliseconds; empty for until further notice.
const PAUSED: &str = "paused";
/// Scope of a pause that holds everywhere.
const EVERYWHERE: &str = "";

/// Setting for an ignored scope.
fn ignored(scope: &NoteScope) -> String {
    format!("ignored {scope}")
}

/// Reason why nothing is recorded at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PauseReason {
    /// Everything is paused, until this time if one was given.
    Paused(Option<Timestamp>),
    /// This project is ignored.
    Ignored,
}

impl fmt::Display for PauseReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Paused(None) => f.write_str("memory is paused; run `recoup resume` to continue"),
            Self::Paused(Some(until)) => {
                write!(f, "memory is paused until {until}; run `recoup resume` to continue")
            }
            Self::Ignored => {
                f.write_str("memory is paused in this project; run `recoup resume --project`")
            }
        }
    }
}

impl Memory {
    /// Pauses recording everywhere, until a time if one is given.
    pub fn pause(&self, until: Option<Timestamp>) -> Result<()> {
        let now = self.now();
        self.change_durably("cannot pause memory", |connection| {
            begin(connection, EVERYWHERE, now, until)?;
            let until = until.map(|until| until.as_millis().to_string());
            set(connection, PAUSED, until.as_deref().unwrap_or_default())
        })
    }

    /// Ends a pause; true if there was one.
    pub fn resume(&self) -> Result<bool> {
        let now = self.now();
        self.change_durably("cannot resume memory", |connection| {
            end(connection, EVERYWHERE, now)?;
            unset(connection, PAUSED)
        })
    }

    /// Stops recording in a scope.
    pub fn ignore(&self, scope: &NoteScope) -> Result<()> {
        let now = self.now();
        self.change_durably("cannot turn memory off for the project", |connection| {
            begin(connection, &scope.to_string(), now, None)?;
            set(connection, &ignored(scope), "")
        })
    }

    /// Resumes recording in an ignored scope; true if it was ignored.
    pub fn unignore(&self, scope: &NoteScope) -> Result<bool> {
        let now = self.now();
        self.change_durably("cannot turn memory on for the project", |connection| {
            end(connection, &scope.to_string(), now)?;
            unset(connection, &ignored(scope))
        })
    }

    /// Reason why nothing is recorded in `scope` at the moment.
    pub fn pause_reason(&self, scope: &NoteScope) -> Result<Option<PauseReason>> {
        let now = self.now();
        self.read(|connection| pause_reason(connection, scope, now))
    }

    /// True if nothing was to be recorded in `scope` then: a later catch-up skips that time.
    pub fn was_paused(&self, scope: &NoteScope, then: Timestamp) -> Result<bool> {
        const SQL: &str = "SELECT 1 FROM pauses WHERE scope IN (?1, ?2)
                           AND began <= ?3 AND (ended IS NULL OR ended > ?3)";
        let values = params![EVERYWHERE, scope, then];
        self.read(|connection| connection.has_row(SQL, values, READING_SETTINGS))
    }
}

/// Records the begin of a pause. One at a time: it replaces what was left of the last.
fn begin(
    connection: &Connection,
    scope: &str,
    now: Timestamp,
    until: Option<Timestamp>,
) -> Result<()> {
    end(connection, scope, now)?;
    let sql = "INSERT INTO pauses (scope, began, ended) VALUES (?1, ?2, ?3)";
    connection.write(sql, params![scope, now, until], READING_SETTINGS).map(drop)
}

fn end(connection: &Connection, scope: &str, now: Timestamp) -> Result<()> {
    let sql = "UPDATE pauses SET ended = ?2 WHERE scope = ?1 AND (ended IS NULL OR ended > ?2)";
    connection.write(sql, params![scope, now], READING_SETTINGS).map(drop)
}

/// True if the user wants nothing recorded in the scope.
pub(crate) fn is_ignored(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    get(connection, &ignored(scope)).map(|found| found.is_some())
}

/// Moves the settings and pauses of one scope to another.
pub(crate) fn rename(connection: &Connection, from: &NoteScope, to: &NoteScope) -> Result<()> {
    if unset(connection, &ignored(from))? {
        set(connection, &ignored(to), "")?;
    }
    let sql = "UPDATE pauses SET scope = ?2 WHERE scope = ?1";
    connection.write(sql, params![from, to], READING_SETTINGS).map(drop)
}

/// Reason why nothing is recorded in `scope` now.
pub(crate) fn pause_reason(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Option<PauseReason>> {
    if let Some(value) = get(connection, PAUSED)? {
        let until = value.parse().ok().map(Timestamp::from_millis);
        if until.is_none_or(|until| until > now) {
            return Ok(Some(PauseReason::Paused(until)));
        }
    }
    Ok(is_ignored(connection, scope)?.then_some(PauseReason::Ignored))
}

/// Fails if nothing is recorded in `scope` now.
pub(crate) fn check_not_paused(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<()> {
    match pause_reason(connection, scope, now)? {
        Some(reason) => Err(Error::new(ErrorKind::Invalid, reason.to_string())),
        None => Ok(()),
    }
}

/// True if the setting `name`, the time at which something was last done, is not within `pause`
/// before `now`. A time in the future comes from a clock that was wrong.
pub(crate) fn is_due(
    connection: &Connection,
    name: &str,
    pause: Duration,
    now: Timestamp,
) -> Result<bool> {
    let last = get(connection, name)?.and_then(|last| last.parse::<i64>().ok());
    let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
    Ok(!last.is_some_and(|last| (0..pause).contains(&(now.as_millis() - last))))
}

/// Like [`is_due`], and records it as done now.
pub(crate) fn take_due(
    connection: &Connection,
    name: &str,
    pause: Duration,
    now: Timestamp,
) -> Result<bool> {
    let due = is_due(connection, name, pause, now)?;
    if due {
        set(connection, name, &now.as_millis().to_string())?;
    }
    Ok(due)
}

pub(crate) fn get(connection: &Connection, name: &str) -> Result<Option<String>> {
    let sql = "SELECT value FROM settings WHERE name = ?1";
    connection.find_value(sql, [name], READING_SETTINGS)
}

pub(crate) fn set(connection: &Connection, name: &str, value: &str) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO settings VALUES (?1, ?2)";
    connection.write(sql, [name, value], READING_SETTINGS).map(drop)
}

pub(crate) fn unset(connection: &Connection, name: &str) -> Result<bool> {
    let sql = "DELETE FROM settings WHERE name = ?1";
    connection.write(sql, [name], READING_SETTINGS).map(|gone| gone > 0)
}
