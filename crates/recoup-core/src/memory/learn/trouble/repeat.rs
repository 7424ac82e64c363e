//! Identical calls in a row.

use std::collections::{HashMap, HashSet};

use super::{Sort, Tried, Trouble};
use crate::memory::transcript::{Action, Ended};

const TIMES: usize = 3;

/// Finds rows of three or more equal calls of one agent. Polling for a result is no trouble.
pub(super) fn find(tried: &[Tried<'_>]) -> Vec<Trouble> {
    let mut by_agent: HashMap<Option<&str>, Vec<&Tried<'_>>> = HashMap::new();
    for it in tried {
        by_agent.entry(it.step.agent).or_default().push(it);
    }
    let calls = by_agent.values();
    calls.flat_map(|calls| calls.chunk_by(|a, b| are_equal(a, b)).filter_map(row)).collect()
}

fn are_equal(a: &Tried<'_>, b: &Tried<'_>) -> bool {
    a.step.call.tool == b.step.call.tool && a.step.call.print == b.step.call.print
}

fn row(row: &[&Tried<'_>]) -> Option<Trouble> {
    let (first, last) = (row.first()?, row.last()?);
    let waits = matches!(first.step.call.action, Action::Wait);
    if row.len() < TIMES || waits || sees_change(row) {
        return None;
    }
    let mut trouble = last.trouble(Sort::Repeated, first.step.at);
    let until = row.iter().map(|it| it.step.until + 1).max().unwrap_or(trouble.entries.end);
    trouble.entries.end = until;
    Some(trouble)
}

/// True if all of them succeeded with different outputs: something changes.
fn sees_change(row: &[&Tried<'_>]) -> bool {
    let mut seen = HashSet::new();
    row.iter().all(|it| {
        let outcome = it.step.outcome.filter(|outcome| outcome.ended == Ended::Succeeded);
        outcome.is_some_and(|outcome| seen.insert(outcome.output.as_str()))
    })
}
