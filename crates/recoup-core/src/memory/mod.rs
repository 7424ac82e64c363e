//! Memory: what the user said and what went wrong, kept as notes and given back at the right
//! moment.
//!
//! A [`Note`] is one statement. Its source decides how far it is trusted, and trust decides whether
//! it becomes a rule by itself.

mod agree;
mod arrivals;
mod checkpoint;
pub mod classify;
mod db;
pub mod dedup;
mod forget;
mod givings;
pub mod hooked;
mod hush;
pub mod inject;
pub mod inspect;
pub mod judge;
mod keep;
pub mod learn;
mod letters;
mod log_mark;
mod migrate;
pub mod mirror;
mod moved;
mod note;
mod paths;
mod privacy;
pub mod private;
pub mod refuse;
pub mod retract;
mod rows;
mod rules;
mod salvage;
mod schema;
pub mod search;
mod snapshot;
mod spoken;
mod statement;
mod store;
pub mod team;
pub mod topic;
pub mod transcript;
mod transfer;
mod turn;
mod words;
pub mod wrapped;

pub use crate::database::Waits;
pub use agree::{Suggested, Suggestion};
pub use checkpoint::{Checkpoint, LeftOut, Saved};
pub use forget::Forgotten;
pub use givings::Given;
pub use keep::Recorded;
pub use note::{Note, NoteId, NoteKind, NoteScope, Source, Status, Trust};
pub use privacy::Silence;
pub use snapshot::{Snapshot, date_of_snapshot, snapshots_of};
pub use statement::Statement;
pub use store::{Memory, Wanted};
pub use transfer::{Imported, export, parse};
pub use turn::{About, Happened, Occasion, Turn};
