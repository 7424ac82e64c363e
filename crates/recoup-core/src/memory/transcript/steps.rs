//! Calls and what came of them, put together: a client writes them apart, and
//! several calls may be under way at once.

use std::collections::HashMap;

use super::entry::{Call, Entry, EntryKind, Outcome};

/// A call, and its outcome if that is known.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// Where the call stands among the entries.
    pub at: usize,
    /// Where its outcome stands; the call's own place while there is none.
    pub until: usize,
    /// The sub-agent that made it.
    pub agent: Option<&'a str>,
    /// The call.
    pub call: &'a Call,
    /// What came of it.
    pub outcome: Option<&'a Outcome>,
}

/// The calls among `entries`, in their order.
pub fn steps(entries: &[Entry]) -> Vec<Step<'_>> {
    let mut steps: Vec<Step<'_>> = Vec::new();
    let mut open: HashMap<&str, usize> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        match &entry.what {
            EntryKind::Call(call) => {
                open.insert(&call.id, steps.len());
                let agent = entry.agent.as_deref();
                steps.push(Step { at, until: at, agent, call, outcome: None });
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
