//! Read-only inspection of a memory: nothing is changed, mended or set aside.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use crate::base::clock::Timestamp;
use crate::database::{self, DatabaseInspection};
use crate::error::Result;
use crate::memory::db::schema::{self, LAYOUT};
use crate::memory::model::NoteStatus;

/// Counts and dates of the notes in a memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NotesFound {
    /// Number of notes by status.
    pub counts: Vec<(NoteStatus, u64)>,
    /// Creation time of the oldest note.
    pub first: Option<Timestamp>,
    /// Time of the last change.
    pub last: Option<Timestamp>,
}

/// Schema version that this program writes.
pub const VERSION: i64 = schema::VERSION;

/// Inspects the database at `path`; none if there is none yet. Its pages are checked for up to
/// `limit`.
pub fn inspect(path: &Path, limit: Duration) -> Result<Option<(DatabaseInspection, NotesFound)>> {
    database::inspect_database(path, &LAYOUT, limit, notes)
}

fn notes(connection: &Connection) -> rusqlite::Result<NotesFound> {
    let mut counts =
        connection.prepare("SELECT status, count(*) FROM notes GROUP BY status ORDER BY status")?;
    let rows = counts.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let counts = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    // A status that this version does not know is a newer version's.
    let known = counts.into_iter().filter_map(|(word, count)| {
        Some((NoteStatus::parse(&word).ok()?, count.max(0).cast_unsigned()))
    });
    let times = "SELECT min(created), max(updated) FROM notes";
    let (first, last) = connection.query_row(times, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let time = |millis: Option<i64>| millis.map(Timestamp::from_millis);
    Ok(NotesFound { counts: known.collect(), first: time(first), last: time(last) })
}
