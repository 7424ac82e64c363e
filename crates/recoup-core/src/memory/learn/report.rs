//! Effect of each rule: how often it was delivered, cited and repeated by the user, and how the
//! calls after it ended.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, Row, params_from_iter};

use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::memory::db::{
    CachedSql as _, DeliveryRecord, Memory, NoteFilter, SqlContext as _, deliveries, note_rows,
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
        let (condition, values) = wanted.condition();
        let oldest_first = format!("{condition} ORDER BY created, row");
        let mut report = self.read(|connection| {
            let values = params_from_iter(&values);
            let meant = note_rows::find_notes(connection, &oldest_first, values)?;
            let mut report: Vec<RuleEffect> = meant.into_iter().map(RuleEffect::new).collect();
            count_effects(connection, &mut report)?;
            Ok(report)
        })?;
        report.sort_by_key(|it| std::cmp::Reverse((it.repeated, it.cited, it.given)));
        Ok(report)
    }
}

impl RuleEffect {
    fn new(note: Note) -> Self {
        Self { note, given: 0, cited: 0, repeated: 0, succeeded: 0, failed: 0 }
    }
}

/// Counts the effects of notes: every table is read once.
fn count_effects(connection: &Connection, report: &mut [RuleEffect]) -> Result<()> {
    const CALLS: &str = "SELECT context, at, what = 'succeeded' FROM events
                         WHERE what IN ('succeeded', 'failed') AND context IS NOT NULL";
    const EVIDENCE: &str = "SELECT id, what, count(*) FROM evidence
                            JOIN notes ON notes.row = evidence.note
                            WHERE what IN ('cited', 'repeated') GROUP BY id, what";
    let mut effects: HashMap<NoteId, &mut RuleEffect> =
        report.iter_mut().map(|effect| (effect.note.id.clone(), effect)).collect();
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, i64>(2)?));
    for (note, what, count) in connection.list_cached(EVIDENCE, [], read).doing(REPORTING)? {
        if let Some(effect) = effects.get_mut::<NoteId>(&note) {
            let counted = if what == "cited" { &mut effect.cited } else { &mut effect.repeated };
            *counted = count.max(0).cast_unsigned();
        }
    }
    // Calls by context: the time of each end, and true if it succeeded.
    let mut calls: HashMap<String, Vec<(Timestamp, bool)>> = HashMap::new();
    let read = |row: &Row<'_>| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)));
    for (context, call) in connection.list_cached(CALLS, [], read).doing(REPORTING)? {
        calls.entry(context).or_default().push(call);
    }
    // The first delivery to a context counts, even if it was lost and repeated.
    let mut seen = HashSet::new();
    for DeliveryRecord { context, at, notes } in deliveries::all(connection)? {
        let calls = calls.get(&context).into_iter().flatten().filter(|(then, _)| *then >= at);
        let (succeeded, failed): (Vec<bool>, Vec<bool>) =
            calls.map(|call| call.1).partition(|it| *it);
        for note in notes {
            let Some(effect) = effects.get_mut(&note) else { continue };
            effect.given += 1;
            if seen.insert((context.clone(), note)) {
                effect.succeeded += succeeded.len() as u64;
                effect.failed += failed.len() as u64;
            }
        }
    }
    Ok(())
}
