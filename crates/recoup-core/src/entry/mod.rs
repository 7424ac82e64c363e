//! Entries: a body, and a header that describes it.
//!
//! A [`Draft`] is what a producer hands in; sealed, it is a [`EntryRecord`], which is what stores move
//! around (header, and body in stored form); opened, that is an [`Entry`], whose body has passed
//! its checksum.

mod body;
mod codec;
mod detail;
mod draft;
mod frame;
mod header;
mod record;
mod saved;
mod sources;
mod usage;

pub use body::{Body, ChunkSource};
pub use codec::BodyDamage;
pub use detail::{EventDetail, EventReason};
pub use draft::Draft;
pub use frame::CHUNK_LEN;
pub use header::{
    BodyEncoding, BodyInfo, FORMAT, Header, ProducerIdentity, ProductionCost, to_micro_dollars,
};
pub use record::{Entry, EntryHead, EntryRecord, StoredBody};
pub use saved::CostSavings;
pub use sources::{
    FileStat, PatternKind, RecordedSources, SnapshotPlace, SourceFile, SourcePattern, TimedSources,
};
pub use usage::{EntryEvent, EntryEventKind, EventBatch, EventTally, day_number};

/// Bodies up to this length are compressed and kept in one piece; larger ones
/// are kept as they are, in chunks. Nothing larger is ever inflated.
pub const INLINE_MAX: usize = 1 << 20;
