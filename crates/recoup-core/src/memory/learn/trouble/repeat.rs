//! Identical calls in a row.

use std::collections::{HashMap, HashSet};

use super::{AgentTrouble, ToolAttempt, TroubleKind};
use crate::memory::transcript::{CallStatus, ToolAction};

const TIMES: usize = 3;

/// Finds rows of three or more equal calls of one agent. Polling for a result is no trouble.
pub(super) fn find_repetitions(tried: &[ToolAttempt<'_>]) -> Vec<AgentTrouble> {
    let mut by_agent: HashMap<Option<&str>, Vec<&ToolAttempt<'_>>> = HashMap::new();
    for it in tried {
        by_agent.entry(it.step.agent).or_default().push(it);
    }
    let calls = by_agent.values();
    calls
        .flat_map(|calls| calls.chunk_by(|a, b| are_equal(a, b)).filter_map(repetition_trouble))
        .collect()
}

fn are_equal(a: &ToolAttempt<'_>, b: &ToolAttempt<'_>) -> bool {
    a.step.call.tool == b.step.call.tool && a.step.call.print == b.step.call.print
}

fn repetition_trouble(row: &[&ToolAttempt<'_>]) -> Option<AgentTrouble> {
    let (first, last) = (row.first()?, row.last()?);
    let waits = matches!(first.step.call.action, ToolAction::Wait);
    if row.len() < TIMES || waits || outputs_differ(row) {
        return None;
    }
    let mut trouble = last.to_trouble(TroubleKind::Repeated, first.step.at);
    let until = row.iter().map(|it| it.step.until + 1).max().unwrap_or(trouble.entries.end);
    trouble.entries.end = until;
    Some(trouble)
}

/// True if all of them succeeded with different outputs: something changes.
fn outputs_differ(row: &[&ToolAttempt<'_>]) -> bool {
    let mut seen = HashSet::new();
    row.iter().all(|it| {
        let outcome = it.step.outcome.filter(|outcome| outcome.ended == CallStatus::Succeeded);
        outcome.is_some_and(|outcome| seen.insert(outcome.output.as_str()))
    })
}
