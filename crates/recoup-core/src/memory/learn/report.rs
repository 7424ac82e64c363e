//! Effect of each rule: how often it was delivered, cited and repeated by the user, and how the
//! calls after it ended.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;

use crate::base::clock::Timestamp;
use crate::database::fault;
use crate::error::{Error, Result};
use crate::memory::givings::{self, Giving};
use crate::memory::rows::{self, Kept};
use crate::memory::{Memory, Note, NoteId, Wanted};

/// Effect of one rule, in the time that events are kept for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helped {
    /// The rule.
    pub note: Note,
    /// Number of contexts that received it.
    pub given: u64,
    /// Number of answers that cited it.
    pub cited: u64,
    /// Number of times that the user repeated it after its delivery.
    pub repeated: u64,
    /// Successful tool calls in those contexts after its delivery.
    pub succeeded: u64,
    /// Failed tool calls in those contexts after its delivery.
    pub failed: u64,
}

impl Memory {
    /// Returns the selected rules: most often repeated first, then most often cited.
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

/// Counts for each note: every table is read once.
#[derive(Default)]
struct Counts {
    given: HashMap<NoteId, u64>,
    after: HashMap<NoteId, After>,
    /// Counts by row and kind of evidence.
    evidence: HashMap<(i64, String), u64>,
}

/// Calls after a note was delivered, by how they ended.
#[derive(Debug, Clone, Copy, Default)]
struct After {
    succeeded: u64,
    failed: u64,
}

/// Calls by context: the time of each end, and true if it succeeded.
type Calls = HashMap<String, Vec<(Timestamp, bool)>>;

impl Counts {
    fn of(connection: &Connection) -> Result<Self> {
        let mut counts = Self { evidence: evidence(connection)?, ..Self::default() };
        let calls = calls(connection)?;
        // The first delivery to a context counts, even if it was lost and repeated.
        let mut seen = HashSet::new();
        for Giving { context, at, notes } in givings::all(connection)? {
            let after = calls.get(&context).map_or(After::default(), |calls| After::of(calls, at));
            for note in notes {
                *counts.given.entry(note.clone()).or_default() += 1;
                if seen.insert((context.clone(), note.clone())) {
                    counts.after.entry(note).or_default().add(after);
                }
            }
        }
        Ok(counts)
    }

    fn helped(&self, kept: Kept) -> Helped {
        let id = &kept.note.id;
        let after = self.after.get(id).copied().unwrap_or_default();
        let evidence = |what: &str| {
            let counted = self.evidence.get(&(kept.row, what.to_owned()));
            counted.copied().unwrap_or_default()
        };
        Helped {
            given: self.given.get(id).copied().unwrap_or_default(),
            cited: evidence("cited"),
            repeated: evidence("repeated"),
            succeeded: after.succeeded,
            failed: after.failed,
            note: kept.note,
        }
    }
}

impl After {
    fn of(calls: &[(Timestamp, bool)], given: Timestamp) -> Self {
        let after = calls.iter().filter(|(at, _)| *at >= given);
        after.fold(Self::default(), |mut all, (_, worked)| {
            let count = if *worked { &mut all.succeeded } else { &mut all.failed };
            *count += 1;
            all
        })
    }

    fn add(&mut self, more: Self) {
        self.succeeded += more.succeeded;
        self.failed += more.failed;
    }
}

fn calls(connection: &Connection) -> Result<Calls> {
    const SQL: &str = "SELECT context, at, what = 'succeeded' FROM events
                       WHERE what IN ('succeeded', 'failed') AND context IS NOT NULL";
    let mut select = connection.prepare_cached(SQL).map_err(reporting)?;
    let mut rows = select.query([]).map_err(reporting)?;
    let mut calls = Calls::new();
    while let Some(row) = rows.next().map_err(reporting)? {
        let read = || Ok((row.get(0)?, (Timestamp::from_millis(row.get(1)?), row.get(2)?)));
        let (context, call): (String, _) = read().map_err(reporting)?;
        calls.entry(context).or_default().push(call);
    }
    Ok(calls)
}

fn evidence(connection: &Connection) -> Result<HashMap<(i64, String), u64>> {
    const SQL: &str = "SELECT note, what, count(*) FROM evidence
                       WHERE what IN ('cited', 'repeated') GROUP BY note, what";
    let mut select = connection.prepare_cached(SQL).map_err(reporting)?;
    let read = |row: &rusqlite::Row<'_>| {
        let count: i64 = row.get(2)?;
        Ok(((row.get(0)?, row.get(1)?), count.max(0).cast_unsigned()))
    };
    let counts = select.query_map([], read).map_err(reporting)?;
    counts.collect::<rusqlite::Result<_>>().map_err(reporting)
}

fn reporting(error: rusqlite::Error) -> Error {
    fault::explain(error, "telling what helped")
}
