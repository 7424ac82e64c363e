//! Transcripts of conversations, independent of the client.
//!
//! A [`TranscriptEntry`] is one thing that somebody said or did. Readers in the program make
//! entries of the clients' own formats.

mod bounds;
mod entry;
mod steps;

pub use bounds::{MOST_NAME, MOST_TEXT, bound_name, bound_text};
pub use entry::{
    CallOutcome, CallStatus, EntryKind, PlanChange, TaskNotification, ToolAction, ToolCall,
    TranscriptEntry,
};
pub use steps::{ToolStep, tool_steps};
