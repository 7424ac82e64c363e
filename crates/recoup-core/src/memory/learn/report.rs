//! Does it help? For each rule: how often it was given, used, repeated by the user, and
//! what came after it.

use rusqlite::{Connection, params};

use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::rows::{self, Kept};
use crate::memory::{Memory, Note, Wanted};

/// One rule, and what became of it in the time that events are kept for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helped {
    /// The rule.
    pub note: Note,
    /// How many contexts were given it.
    pub given: u64,
    /// How many answers cited it.
    pub cited: u64,
    /// How often the user had to say it again after it was given.
    pub repeated: u64,
    /// Tool calls in those contexts after it was given: how many worked.
    pub succeeded: u64,
    /// The same: how many failed.
    pub failed: u64,
}

impl Memory {
    /// The rules that are meant, those first that had to be repeated most, then those that
    /// were used most.
    pub fn report(&self, wanted: &Wanted) -> Result<Vec<Helped>> {
        let found = self.read(|connection| {
            let all = rows::many(connection, "1 ORDER BY created, row", [])?;
            let meant = all.into_iter().filter(|kept| wanted.means(&kept.note));
            meant.map(|kept| helped(connection, kept)).collect::<Result<Vec<_>>>()
        })?;
        let mut report = found.unwrap_or_default();
        report.sort_by_key(|it| std::cmp::Reverse((it.repeated, it.cited, it.given)));
        Ok(report)
    }
}

fn helped(connection: &Connection, kept: Kept) -> Result<Helped> {
    let evidence = |what: &str| {
        count(
            connection,
            "SELECT count(*) FROM evidence WHERE note = ?1 AND what = ?2",
            params![kept.row, what],
        )
    };
    let after = |what: &str| {
        count(
            connection,
            "SELECT count(*) FROM injections JOIN events
             ON events.context = injections.context AND events.what = ?2
             AND events.at >= injections.at WHERE injections.note = ?1",
            params![kept.row, what],
        )
    };
    let given = "SELECT coalesce(sum(times), 0) FROM injections WHERE note = ?1";
    Ok(Helped {
        given: count(connection, given, [kept.row])?,
        cited: evidence("cited")?,
        repeated: evidence("repeated")?,
        succeeded: after("succeeded")?,
        failed: after("failed")?,
        note: kept.note,
    })
}

fn count(connection: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<u64> {
    connection
        .prepare_cached(sql)
        .and_then(|mut select| select.query_row(values, |row| row.get::<_, i64>(0)))
        .map(|n| n.max(0).cast_unsigned())
        .map_err(reporting)
}

fn reporting(error: rusqlite::Error) -> Error {
    fault::explain(error, "telling what helped")
}
