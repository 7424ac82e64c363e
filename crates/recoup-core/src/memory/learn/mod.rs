//! Learning from what happens: failures and what fixed them, what the user does not
//! allow, which rules are used and which have to be repeated.
//!
//! What can be told from entries and texts alone is in pure functions: which commands are
//! of a kind, what failed and why, where an agent was in trouble, which rules it cited.

pub mod citation;
pub mod command;
mod denied;
pub mod failure;
mod lessons;
mod report;
mod settle;
pub mod tail;
mod tie;
pub mod trouble;

pub use lessons::{Learned, Ran};
pub use report::Helped;
pub use settle::Settled;
