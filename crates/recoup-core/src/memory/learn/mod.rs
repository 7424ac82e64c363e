//! Learning from events: kinds of commands, failures and their fixes, agents in trouble, denied
//! calls, and rules that are used or have to be repeated.

pub mod citation;
pub mod failure;
mod lessons;
mod maintenance;
pub mod plan;
mod report;
mod rule_usage;
pub mod trouble;

pub use lessons::{CompletedCommand, LearnedNote};
pub use maintenance::MaintenanceReport;
pub use report::RuleEffect;

/// True if `text` has any of these parts.
fn contains_any(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.contains(part))
}

/// True if `text` begins with any of these parts.
fn starts_with_any(text: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| text.starts_with(part))
}
