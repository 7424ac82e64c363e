//! Memory: what the user said and what went wrong, kept as notes and given back at the right
//! moment.
//!
//! A [`Note`] is one statement. Its source decides how far it is trusted, and trust decides whether
//! it becomes a rule by itself.

pub mod capture;
#[doc(hidden)]
pub mod checks;
#[doc(hidden)]
pub mod db;
#[doc(hidden)]
pub mod guard;
pub mod judge;
#[doc(hidden)]
pub mod lang;
#[doc(hidden)]
pub mod learn;
pub mod model;
pub mod recall;
#[doc(hidden)]
pub mod shell;
#[doc(hidden)]
pub mod team;

pub use crate::database::WaitLimits;
pub use db::checkpoint::{CHECKPOINT_LIFETIME, CheckpointOutcome, OmittedItem, WorkCheckpoint};
pub use db::checks::{CheckStrength, CheckedRule};
pub use db::deliveries::ContextDeliveries;
pub use db::forget::ForgetReport;
pub use db::pauses::PauseReason;
pub use db::recording::RecordOutcome;
pub use db::retract::RetractionOutcome;
pub use db::snapshot::{MemorySnapshot, date_of_snapshot, snapshots_of};
pub use db::store::{Memory, NoteFilter};
pub use db::suggestions::{RuleSuggestion, SuggestOutcome};
pub use db::transaction::{EventDetails, EventOrigin, EventTransaction, MemoryEventKind};
pub use db::transfer::{
    NoteImportReport, ParsedExport, SkippedLine, export_notes, note_from_elsewhere, parse_export,
};
pub use model::{
    HookClient, Note, NoteId, NoteKind, NoteScope, NoteSource, NoteStatus, NoteTrust, Statement,
};
