//! Transcripts of conversations, independent of the client.
//!
//! A [`TranscriptEntry`] is one thing that somebody said or did. Readers in the program make
//! entries of the clients' own formats.

mod bounds;
mod entry;
mod steps;

pub use bounds::{MOST_NAME, MOST_TEXT, bounded, named};
pub use entry::{Action, Call, Ended, Entry, EntryKind, Notification, Outcome, Plan};
pub use steps::{Step, steps};
