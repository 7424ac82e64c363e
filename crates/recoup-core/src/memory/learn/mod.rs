//! Learning from what happens: failures and what fixed them, what the user does not
//! allow, which rules are used and which have to be repeated.

mod denied;
mod lessons;
mod report;
mod settle;
mod tie;

pub use lessons::{Learned, Ran};
pub use report::Helped;
pub use settle::Settled;
