//! Effect of each rule: how often it was delivered, cited and repeated by the user, and how the
//! calls after it ended.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Row};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{
    CachedSql as _, DeliveryRecord, Memory, NoteFilter, SqlContext as _, StoredNote, deliveries,
    note_rows,
};
use crate::memory::model::{Note, NoteId};

const REPORTING: &str = "cannot read the statistics of rules";

/// Effect of one rule, in the time that events are kept for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleEffect {
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
    pub fn rule_effects(&self, wanted: &NoteFilter) -> Result<Vec<RuleEffect>> {
        let found = self.read(|connection| {
            let all = note_rows::find_many(connection, "1 ORDER BY created, row", [])?;
            let counts = RuleCounts::of(connection)?;
            let meant = all.into_iter().filter(|kept| wanted.matches(&kept.note));
            let effect = |StoredNote { row, note }: StoredNote| {
                let after = counts.after.get(&note.id).copied().unwrap_or_default();
                let evidence = |what: &str| counts.evidence.get(&(row, what.to_owned())).copied();
                RuleEffect {
                    given: counts.given.get(&note.id).copied().unwrap_or_default(),
                    cited: evidence("cited").unwrap_or_default(),
                    repeated: evidence("repeated").unwrap_or_default(),
                    succeeded: after.succeeded,
                    failed: after.failed,
                    note,
                }
            };
            Ok(meant.map(effect).collect::<Vec<_>>())
        })?;
        let mut report = found.unwrap_or_default();
        report.sort_by_key(|it| std::cmp::Reverse((it.repeated, it.cited, it.given)));
        Ok(report)
    }
}

/// Counts for each note: every table is read once.
#[derive(Default)]
struct RuleCounts {
    given: HashMap<NoteId, u64>,
    after: HashMap<NoteId, CallCounts>,
    /// Counts by row and kind of evidence.
    evidence: HashMap<(i64, String), u64>,
}

/// Calls after a note was delivered, by how they ended.
#[derive(Debug, Clone, Copy, Default)]
struct CallCounts {
    succeeded: u64,
    failed: u64,
}

impl RuleCounts {
    fn of(connection: &Connection) -> Result<Self> {
        const CALLS: &str = "SELECT context, at, what = 'succeeded' FROM events
                             WHERE what IN ('succeeded', 'failed') AND context IS NOT NULL";
        const EVIDENCE: &str = "SELECT note, what, count(*) FROM evidence
                                WHERE what IN ('cited', 'repeated') GROUP BY note, what";
        let read = |row: &Row<'_>| {
            let count: i64 = row.get(2)?;
            Ok(((row.get(0)?, row.get(1)?), count.max(0).cast_unsigned()))
        };
        let evidence = connection.list_cached(EVIDENCE, [], read).doing(REPORTING)?;
        let mut counts = Self { evidence: evidence.into_iter().collect(), ..Self::default() };
        let read = |row: &Row<'_>| {
            Ok((row.get::<_, String>(0)?, (Timestamp::from_millis(row.get(1)?), row.get(2)?)))
        };
        // Calls by context: the time of each end, and true if it succeeded.
        let mut calls: HashMap<String, Vec<(Timestamp, bool)>> = HashMap::new();
        for (context, call) in connection.list_cached(CALLS, [], read).doing(REPORTING)? {
            calls.entry(context).or_default().push(call);
        }
        // The first delivery to a context counts, even if it was lost and repeated.
        let mut seen = HashSet::new();
        for DeliveryRecord { context, at, notes } in deliveries::all(connection)? {
            let after = calls
                .get(&context)
                .map_or(CallCounts::default(), |calls| CallCounts::of(calls, at));
            for note in notes {
                *counts.given.entry(note.clone()).or_default() += 1;
                if seen.insert((context.clone(), note.clone())) {
                    let all = counts.after.entry(note).or_default();
                    all.succeeded += after.succeeded;
                    all.failed += after.failed;
                }
            }
        }
        Ok(counts)
    }
}

impl CallCounts {
    fn of(calls: &[(Timestamp, bool)], given: Timestamp) -> Self {
        let after = calls.iter().filter(|(at, _)| *at >= given);
        after.fold(Self::default(), |mut all, (_, worked)| {
            let count = if *worked { &mut all.succeeded } else { &mut all.failed };
            *count += 1;
            all
        })
    }
}
