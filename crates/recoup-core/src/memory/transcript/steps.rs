//! Tool calls paired with their outcomes: clients write them apart, and several calls may be under
//! way at once.

use std::collections::HashMap;

use super::entry::{CallOutcome, EntryKind, ToolCall, TranscriptEntry};

/// A tool call, with its outcome if known.
#[derive(Debug, Clone, Copy)]
pub struct ToolStep<'a> {
    /// Index of the call among the entries.
    pub at: usize,
    /// Index of its outcome, or of the call while there is none.
    pub until: usize,
    /// Sub-agent that made the call.
    pub agent: Option<&'a str>,
    /// The call.
    pub call: &'a ToolCall,
    /// Its outcome, if known.
    pub outcome: Option<&'a CallOutcome>,
}

/// Returns the calls among `entries`, in order.
pub fn tool_steps(entries: &[TranscriptEntry]) -> Vec<ToolStep<'_>> {
    let mut steps: Vec<ToolStep<'_>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Call(call) => {
                open.insert(&call.id, steps.len());
                let agent = entry.agent.as_deref();
                steps.push(ToolStep { at, until: at, agent, call, outcome: None });
            }
            EntryKind::Outcome(outcome) => {
                if let Some(step) = open.remove(outcome.call.as_str()) {
                    steps[step].outcome = Some(outcome);
                    steps[step].until = at;
                }
            }
            _ => {}
        }
    }
    steps
}
