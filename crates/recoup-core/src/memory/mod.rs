//! Memory: what the user said and what went wrong, kept as notes and given back at the right
//! moment.
//!
//! A [`Note`] is one statement. Its source decides how far it is trusted, and trust decides whether
//! it becomes a rule by itself.

mod checkpoint;
pub mod classify;
#[doc(hidden)]
pub mod dedup;
mod deliveries;
mod forget;
#[doc(hidden)]
pub mod hooked;
pub mod inject;
#[doc(hidden)]
pub mod inspect;
pub mod judge;
#[doc(hidden)]
pub mod learn;
mod log_mark;
#[doc(hidden)]
pub mod mirror;
mod note;
mod note_rows;
mod opt_out;
mod pauses;
mod plain_clauses;
#[doc(hidden)]
pub mod private_text;
mod project_move;
mod recording;
pub mod refuse;
#[doc(hidden)]
pub mod retract;
mod rules;
mod salvage;
mod schema;
pub mod search;
mod snapshot;
mod sql;
mod statement;
mod store;
mod suggestions;
#[doc(hidden)]
pub mod team;
#[doc(hidden)]
pub mod topic;
mod transaction;
#[doc(hidden)]
pub mod transcript;
mod transfer;
mod word_lists;
#[doc(hidden)]
pub mod wrapped;

pub use crate::database::WaitLimits;
pub use checkpoint::{CheckpointOutcome, OmittedItem, WorkCheckpoint};
pub use deliveries::ContextDeliveries;
pub use forget::ForgetReport;
pub use note::{Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust};
pub use pauses::PauseReason;
pub use recording::RecordOutcome;
pub use snapshot::{MemorySnapshot, date_of_snapshot, snapshots_of};
pub use statement::NoteStatement;
pub use store::{Memory, NoteFilter};
pub use suggestions::{RuleSuggestion, SuggestOutcome};
pub use transaction::{EventDetails, EventOrigin, EventTransaction, MemoryEventKind};
pub use transfer::{NoteImportReport, export_notes, parse_export};
