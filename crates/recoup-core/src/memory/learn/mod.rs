//! Learning from events: kinds of commands, failures and their fixes, agents in trouble, denied
//! calls, and rules that are used or have to be repeated.

mod check_report;
pub mod citation;
pub mod failure;
mod lessons;
mod maintenance;
mod patterns;
pub mod plan;
mod report;
mod rule_usage;
pub mod trouble;

pub use check_report::CheckEffect;
pub use lessons::{CompletedCommand, LearnedNote};
pub use maintenance::MaintenanceReport;
pub use report::RuleEffect;
