//! Learning from what happens: which commands are of a kind, what failed and why and
//! what fixed it, where an agent was in trouble, what the user does not allow, which
//! rules are used and which have to be repeated.

pub mod citation;
pub mod command;
mod denied;
pub mod failure;
mod lessons;
pub mod plan;
mod report;
mod settle;
mod tie;
pub mod trouble;

pub use lessons::{Learned, Ran};
pub(super) use lessons::{give_way, without_quoted_error};
pub use report::Helped;
pub use settle::Settled;
