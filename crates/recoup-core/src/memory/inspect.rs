//! How memory is, seen from outside: nothing is changed, mended or set aside.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::db::LAYOUT;
use super::{Status, schema};
use crate::database::{self, Inspected};
use crate::error::Result;

/// How many notes there are in each state.
pub type Notes = Vec<(Status, u64)>;

/// The version of the tables that this program writes.
pub const VERSION: i64 = schema::VERSION;

/// How the database at `path` is; none where there is nothing yet. Its pages are looked at for
/// as long as `limit`.
pub fn inspect(path: &Path, limit: Duration) -> Result<Option<(Inspected, Notes)>> {
    database::inspect(path, &LAYOUT, limit, notes)
}

fn notes(connection: &Connection) -> rusqlite::Result<Notes> {
    let mut counts =
        connection.prepare("SELECT status, count(*) FROM notes GROUP BY status ORDER BY status")?;
    let rows = counts.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?)))?;
    let counts = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    // A word that this version does not know is a newer version's.
    let known = counts.into_iter().filter_map(|(word, count)| {
        Some((Status::parse(&word).ok()?, count.max(0).cast_unsigned()))
    });
    Ok(known.collect())
}
