//! What the user has said about memory itself: paused, or not in this project.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::NoteScope;
use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};

/// Until when everything is paused, in milliseconds; empty for until further notice.
const PAUSED: &str = "paused";
/// Begins the names of settings for scopes in which nothing is kept.
const IGNORED: &str = "ignored ";

/// Why nothing is kept at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// Everything is paused, until then if that was said.
    Paused(Option<Timestamp>),
    /// This project is ignored.
    Ignored,
}

pub(super) fn pause(connection: &Connection, until: Option<Timestamp>) -> Result<()> {
    let until = until.map(|until| until.as_millis().to_string());
    set(connection, PAUSED, until.as_deref().unwrap_or_default())
}

pub(super) fn ignore(connection: &Connection, scope: &NoteScope) -> Result<()> {
    set(connection, &format!("{IGNORED}{scope}"), "")
}

/// Whether there was anything to take back.
pub(super) fn resume(connection: &Connection) -> Result<bool> {
    unset(connection, PAUSED)
}

pub(super) fn heed(connection: &Connection, scope: &NoteScope) -> Result<bool> {
    unset(connection, &format!("{IGNORED}{scope}"))
}

/// Why nothing is kept in `scope` now.
pub(super) fn silence(
    connection: &Connection,
    scope: &NoteScope,
    now: Timestamp,
) -> Result<Option<Silence>> {
    if let Some(value) = get(connection, PAUSED)? {
        let until = value.parse().ok().map(Timestamp::from_millis);
        if until.is_none_or(|until| until > now) {
            return Ok(Some(Silence::Paused(until)));
        }
    }
    let ignored = get(connection, &format!("{IGNORED}{scope}"))?;
    Ok(ignored.map(|_| Silence::Ignored))
}

fn get(connection: &Connection, name: &str) -> Result<Option<String>> {
    connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")
        .and_then(|mut select| select.query_row([name], |row| row.get(0)).optional())
        .map_err(setting)
}

fn set(connection: &Connection, name: &str, value: &str) -> Result<()> {
    connection
        .execute("INSERT OR REPLACE INTO settings VALUES (?1, ?2)", params![name, value])
        .map(drop)
        .map_err(setting)
}

fn unset(connection: &Connection, name: &str) -> Result<bool> {
    connection
        .execute("DELETE FROM settings WHERE name = ?1", [name])
        .map(|gone| gone > 0)
        .map_err(setting)
}

fn setting(error: rusqlite::Error) -> Error {
    fault::explain(error, "reading what was said about memory")
}
