//! Does it help? For each rule: how often it was given, used, repeated by the user, and
//! what came after it.

use std::collections::HashMap;

use rusqlite::Connection;

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
            let counts = Counts::of(connection)?;
            let meant = all.into_iter().filter(|kept| wanted.means(&kept.note));
            Ok(meant.map(|kept| counts.helped(kept)).collect::<Vec<_>>())
        })?;
        let mut report = found.unwrap_or_default();
        report.sort_by_key(|it| std::cmp::Reverse((it.repeated, it.cited, it.given)));
        Ok(report)
    }
}

/// What happened how often to which note: each table is read once.
struct Counts(HashMap<(i64, String), u64>);

impl Counts {
    fn of(connection: &Connection) -> Result<Self> {
        const SQL: &str = "
            SELECT note, 'given', sum(times) FROM injections GROUP BY note
            UNION ALL
            SELECT note, what, count(*) FROM evidence WHERE what IN ('cited', 'repeated')
            GROUP BY note, what
            UNION ALL
            SELECT injections.note, events.what, count(*) FROM injections
            JOIN events ON events.context = injections.context AND events.at >= injections.at
            WHERE events.what IN ('succeeded', 'failed') GROUP BY injections.note, events.what";
        let mut select = connection.prepare_cached(SQL).map_err(reporting)?;
        let read = |row: &rusqlite::Row<'_>| {
            let count: i64 = row.get(2)?;
            Ok(((row.get(0)?, row.get(1)?), count.max(0).cast_unsigned()))
        };
        let counts = select.query_map([], read).map_err(reporting)?;
        counts.collect::<rusqlite::Result<_>>().map(Self).map_err(reporting)
    }

    fn helped(&self, kept: Kept) -> Helped {
        let count = |what: &str| {
            let counted = self.0.get(&(kept.row, what.to_owned()));
            counted.copied().unwrap_or_default()
        };
        Helped {
            given: count("given"),
            cited: count("cited"),
            repeated: count("repeated"),
            succeeded: count("succeeded"),
            failed: count("failed"),
            note: kept.note,
        }
    }
}

fn reporting(error: rusqlite::Error) -> Error {
    fault::explain(error, "telling what helped")
}
