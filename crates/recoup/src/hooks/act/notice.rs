//! The lines that a person is shown in passing.

use recoup_core::memory::learn::Learned;
use recoup_core::memory::{Recorded, Status};

/// A statement was kept; none while it does not count.
pub(super) fn remembered(recorded: &Recorded) -> Option<String> {
    let note = recorded.note();
    if note.status != Status::Active {
        return None;
    }
    let before: Vec<&str> = recorded.instead_of().iter().map(|note| &*note.text).collect();
    Some(match recorded {
        _ if !before.is_empty() => {
            format!("will remember: {}, instead of: {}", note.text, before.join("; "))
        }
        Recorded::Stored { .. } => format!("will remember: {}", note.text),
        Recorded::Confirmed { .. } => format!("remembered already: {}", note.text),
    })
}

/// A statement that waits for whoever holds the database.
pub(super) fn later(text: &str) -> String {
    format!("will remember: {text} (as soon as memory is free)")
}

/// A statement that could not be kept.
pub(super) fn not_remembered(text: &str) -> String {
    format!("could not remember: {text} (see ~/.recoup/logs/hooks.log)")
}

/// There is enough evidence for something.
pub(super) fn learned(learned: &Learned) -> Option<String> {
    match learned {
        Learned::Promoted(note) => Some(format!("learned: {}", note.text)),
        Learned::Candidate(_) => None,
    }
}

/// Rules are in the context again.
pub(super) fn reloaded(rules: usize) -> String {
    let rules = if rules == 1 { "1 rule is".to_owned() } else { format!("{rules} rules are") };
    format!("{rules} in the compacted context again")
}
