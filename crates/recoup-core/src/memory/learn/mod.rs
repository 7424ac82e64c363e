//! Learning from events: kinds of commands, failures and their fixes, agents in trouble, denied
//! calls, and rules that are used or have to be repeated.

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
