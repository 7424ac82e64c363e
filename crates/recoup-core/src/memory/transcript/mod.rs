//! What happened in a conversation, whichever client wrote it down.
//!
//! An [`Entry`] is one thing that somebody said or did. The clients' own formats are
//! not known here: their readers, in the program, make entries of them.

mod bounds;
mod entry;
mod steps;

pub use bounds::{MOST_NAME, MOST_TEXT, bounded, named};
pub use entry::{Action, Call, Ended, Entry, EntryKind, Notification, Outcome, Plan};
pub use steps::{Step, steps};
