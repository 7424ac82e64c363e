//! Pauses and ignored projects, and the table of settings that holds them.

use std::fmt;
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::db::sql::{CachedSql as _, SqlContext as _};
use crate::memory::model::note::NoteScope;

const READING_SETTINGS: &str = "cannot access the settings of memory";

/// Setting with the end of a pause, in milliseconds; empty for until further notice.
const PAUSED: &str = "paused";
/// Setting with the time at which memory was last settled.
const SETTLED: &str = "settled";
/// Scope of a pause that holds everywhere.
const EVERYWHERE: &str = "";
/// Prefix of the settings for ignored scopes.
const IGNORED: &str = "ignored ";

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

pub(crate) fn pause(
    connection: &Connection,
    until: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    begin(connection, EVERYWHERE, now, until)?;
    let until = until.map(|until| until.as_millis().to_string());
    set(connection, PAUSED, until.as_deref().unwrap_or_default())
}

pub(crate) fn ignore(connection: &Connection, scope: &NoteScope, now: Timestamp) -> Result<()> {
    begin(connection, &scope.to_string(), now, None)?;
    set(connection, &format!("{IGNORED}{scope}"), "")
}

/// Ends a pause; true if there was one.
pub(crate) fn resume(connection: &Connection, now: Timestamp) -> Result<bool> {
    end(connection, EVERYWHERE, now)?;
    unset(connection, PAUSED)
}

pub(crate) fn unignore(connection: &Connection, scope: &NoteScope, now: Timestamp) -> Result<bool> {
    end(connection, &scope.to_string(), now)?;
    unset(connection, &format!("{IGNORED}{scope}"))
}

/// Records the begin of a pause. One at a time: it replaces what was left of the last.
fn begin(
    connection: &Connection,
    scope: &str,
    now: Timestamp,
    until: Option<Timestamp>,
) -> Result<()> {
    end(connection, scope, now)?;
    let values = params![scope, now.as_millis(), until.map(Timestamp::as_millis)];
    connection
        .execute("INSERT INTO pauses (scope, began, ended) VALUES (?1, ?2, ?3)", values)
        .map(drop)
        .doing(READING_SETTINGS)
}

fn end(connection: &Connection, scope: &str, now: Timestamp) -> Result<()> {
    connection
        .execute(
            "UPDATE pauses SET ended = ?2 WHERE scope = ?1 AND (ended IS NULL OR ended > ?2)",
            params![scope, now.as_millis()],
        )
        .map(drop)
        .doing(READING_SETTINGS)
}

/// True if the user wants nothing recorded in the scope.
pub(crate) fn is_ignored(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    get(connection, &format!("{IGNORED}{scope}")).map(|found| found.is_some())
}

/// Moves the settings and pauses of one scope to another.
pub(crate) fn rename(connection: &Connection, from: &NoteScope, to: &NoteScope) -> Result<()> {
    if unset(connection, &format!("{IGNORED}{from}"))? {
        set(connection, &format!("{IGNORED}{to}"), "")?;
    }
    connection
        .execute(
            "UPDATE pauses SET scope = ?2 WHERE scope = ?1",
            params![from.to_string(), to.to_string()],
        )
        .map(drop)
        .doing(READING_SETTINGS)
}

/// True if nothing was to be recorded in `scope` at the time `then`.
pub(crate) fn was_paused(
    connection: &Connection,
    scope: &NoteScope,
    then: Timestamp,
) -> Result<bool> {
    const SQL: &str = "SELECT 1 FROM pauses WHERE scope IN (?1, ?2)
                       AND began <= ?3 AND (ended IS NULL OR ended > ?3)";
    let values = params![EVERYWHERE, scope.to_string(), then.as_millis()];
    connection
        .prepare_cached(SQL)
        .and_then(|mut select| select.exists(values))
        .doing(READING_SETTINGS)
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

/// True if memory was last settled longer than `pause` ago.
pub(crate) fn is_settling_due(
    connection: &Connection,
    pause: Duration,
    now: Timestamp,
) -> Result<bool> {
    let last = get(connection, SETTLED)?.and_then(|last| last.parse::<i64>().ok());
    let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
    // A time in the future comes from a clock that was wrong.
    let fresh = |last: i64| (0..pause).contains(&(now.as_millis() - last));
    Ok(!last.is_some_and(fresh))
}

/// Returns true if settling is due, and records it as done now.
pub(crate) fn take_due_settling(
    connection: &Connection,
    pause: Duration,
    now: Timestamp,
) -> Result<bool> {
    let due = is_settling_due(connection, pause, now)?;
    if due {
        set(connection, SETTLED, &now.as_millis().to_string())?;
    }
    Ok(due)
}

pub(crate) fn get(connection: &Connection, name: &str) -> Result<Option<String>> {
    connection
        .find_cached("SELECT value FROM settings WHERE name = ?1", [name], |row| row.get(0))
        .doing(READING_SETTINGS)
}

pub(crate) fn set(connection: &Connection, name: &str, value: &str) -> Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO settings VALUES (?1, ?2)", params![name, value])
        .map(drop)
        .doing(READING_SETTINGS)
}

pub(crate) fn unset(connection: &Connection, name: &str) -> Result<bool> {
    connection
        .execute("DELETE FROM settings WHERE name = ?1", [name])
        .map(|gone| gone > 0)
        .doing(READING_SETTINGS)
}
