//! `memory.db`: one file that hooks, commands and servers share. What is in it can't be
//! had again, so a damaged one is set aside, and what can still be read is taken over.

use std::collections::HashSet;
use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::migrate::migrate;
use super::schema::{APPLICATION_ID, FIRST, RANK, SECOND, TABLES, VERSION};
use super::turn::tell;
use super::{NoteScope, rows, search};
use crate::base::clock::{Clock as _, SystemClock};
use crate::database::{Layout, fault};
use crate::error::{Error, Result};

/// What memory's database is. What is deleted there is overwritten: `forget` means it. Readers
/// keep half a megabyte of pages: a hook reads few of them twice.
pub(super) static LAYOUT: Layout = Layout {
    name: "memory",
    elsewhere: "set RECOUP_HOME to another directory",
    application_id: APPLICATION_ID,
    version: VERSION,
    first: FIRST,
    oldest: VERSION,
    pragmas: "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA cache_size = -512;",
    // A server has it open for hours.
    cache: 4 << 10,
    backs_up: true,
    tables: &[TABLES, SECOND, RANK, search::WORDS],
    migrate,
    rescue: Some(|damaged, fresh| Ok(rescue(damaged, fresh))),
    mourn: Some(mourn),
};

/// The tables that are worth it, those that others refer to first.
const RESCUED: [&str; 12] = [
    "notes",
    "evidence",
    "episodes",
    "lessons",
    "sightings",
    "checkpoints",
    "sweeps",
    "notices",
    "pauses",
    "settings",
    "events",
    "givings",
];

/// So many numbers are tried: more would take too long.
const MOST_TRIED: i64 = 1_000_000;

/// Takes over row by row what can still be read: from the beginning until something is
/// in the way, and from the end back to there.
fn rescue(damaged: &Connection, fresh: &Connection) -> u64 {
    let mut rows = 0;
    for table in RESCUED {
        for order in ["ASC", "DESC"] {
            rows += copy(damaged, fresh, table, order).unwrap_or(0);
        }
    }
    rows += copy_one_by_one(damaged, fresh);
    rows -= drop_nonsense(fresh).unwrap_or(0).min(rows);
    // Search is made anew: it says nothing that the notes do not say.
    for kept in rows::many(fresh, "1", []).unwrap_or_default() {
        let _ = search::put(fresh, kept.row, &kept.note.text, kept.note.topic.as_deref());
    }
    rows
}

/// Rows of notes that are none would be in everybody's way.
fn drop_nonsense(fresh: &Connection) -> rusqlite::Result<u64> {
    let mut select = fresh.prepare("SELECT row FROM notes")?;
    let all: Vec<i64> = select.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut gone = 0;
    for row in all {
        if rows::one(fresh, "row = ?1", [row]).is_err() {
            gone += fresh.execute("DELETE FROM notes WHERE row = ?1", [row])? as u64;
        }
    }
    Ok(gone)
}

/// Whoever is asked next, wherever that is, tells the user.
fn mourn(fresh: &Connection, place: &Path) -> Result<()> {
    let notes: i64 =
        fresh.query_row("SELECT count(*) FROM notes", [], |row| row.get(0)).map_err(rescuing)?;
    let saved = match notes {
        0 => "no memory could be saved".to_owned(),
        1 => "1 memory could be saved".to_owned(),
        notes => format!("{notes} memories could be saved"),
    };
    let text = format!("memory.db was damaged: {saved}; what it was is in {}", place.display());
    tell(fresh, &NoteScope::Universal, &text, SystemClock.now())
}

/// What is there already is passed over; the first row that can't be read is the end.
fn copy(damaged: &Connection, fresh: &Connection, table: &str, order: &str) -> Result<u64> {
    let all = format!("SELECT * FROM {table} ORDER BY 1 {order}");
    let mut select = damaged.prepare(&all).map_err(rescuing)?;
    let places = vec!["?"; select.column_count()].join(", ");
    let mut insert = fresh
        .prepare(&format!("INSERT OR IGNORE INTO {table} VALUES ({places})"))
        .map_err(rescuing)?;
    let width = select.column_count();
    let read = |row: &Row<'_>| (0..width).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>();
    let mut found = select.query([]).map_err(rescuing)?;
    let mut rows = 0;
    while let Ok(Some(row)) = found.next() {
        let Ok(values) = read(row) else { break };
        // One that breaks a law of its table is damage too.
        rows += insert.execute(params_from_iter(values)).unwrap_or(0) as u64;
    }
    Ok(rows)
}

/// Notes between two places that can't be read: each by its number, as far as the largest
/// that was found.
fn copy_one_by_one(damaged: &Connection, fresh: &Connection) -> u64 {
    let largest: i64 = fresh
        .query_row("SELECT coalesce(max(row), 0) FROM notes", [], |row| row.get(0))
        .unwrap_or(0);
    let known: HashSet<i64> = fresh
        .prepare("SELECT row FROM notes")
        .and_then(|mut select| select.query_map([], |row| row.get(0))?.collect())
        .unwrap_or_default();
    let missing = (1..=largest.min(MOST_TRIED)).filter(|row| !known.contains(row));
    missing.filter(|row| copy_note(damaged, fresh, *row).unwrap_or(false)).count() as u64
}

fn copy_note(damaged: &Connection, fresh: &Connection, row: i64) -> rusqlite::Result<bool> {
    let mut select = damaged.prepare_cached("SELECT * FROM notes WHERE row = ?1")?;
    let width = select.column_count();
    let read = |row: &Row<'_>| (0..width).map(|at| row.get(at)).collect::<Result<Vec<Value>, _>>();
    let values = select.query_row([row], read)?;
    let places = vec!["?"; width].join(", ");
    let insert = format!("INSERT OR IGNORE INTO notes VALUES ({places})");
    Ok(fresh.prepare_cached(&insert)?.execute(params_from_iter(values))? > 0)
}

fn rescuing(error: rusqlite::Error) -> Error {
    fault::explain(error, "taking over what can be read")
}
