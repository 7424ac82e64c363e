//! Database of memory: schema, rows, recording and replacing notes, deliveries, pauses, transfer and
//! forgetting.

pub(crate) mod candidates;
pub(crate) mod checkpoint;
pub(crate) mod checks;
pub mod dedup;
pub(crate) mod deliveries;
pub mod earlier;
pub(crate) mod ends;
pub mod facets;
pub(crate) mod forget;
pub mod index;
pub mod inspect;
pub(crate) mod log_mark;
pub(crate) mod note_rows;
pub(crate) mod pauses;
pub(crate) mod project_move;
pub(crate) mod recording;
pub mod retract;
pub(crate) mod salvage;
pub(crate) mod schema;
pub(crate) mod snapshot;
pub(crate) mod sql;
pub(crate) mod store;
pub(crate) mod suggestions;
pub(crate) mod transaction;
pub(crate) mod transfer;

pub(crate) use checkpoint::WorkCheckpoint;
pub(crate) use checks::CheckedRule;
pub(crate) use deliveries::{ContextDeliveries, DeliveryRecord};
pub(crate) use log_mark::CountedChange;
pub(crate) use note_rows::StoredNote;
pub(crate) use pauses::PauseReason;
pub(crate) use recording::{RecordOutcome, RecordTime};
pub(crate) use sql::{CachedSql, SqlContext};
pub(crate) use store::{Memory, NoteFilter};
pub(crate) use transaction::{EventDetails, EventOrigin, EventTransaction, MemoryEventKind};
