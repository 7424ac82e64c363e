//! Entries: a body, and a header that describes it.
//!
//! A [`Draft`] is what a producer hands in; sealed, it is a [`EntryRecord`], which is what stores move
//! around (header, and body in stored form); opened, that is an [`Entry`], whose body has passed
//! its checksum.

mod draft;
mod header;
mod record;
mod usage;

pub use draft::Draft;
pub use header::{
    BodyEncoding, BodyInfo, FORMAT, FileStat, Header, PatternKind, ProducerIdentity,
    ProductionCost, RecordedSources, SnapshotPlace, SourceFile, SourcePattern, TimedSources,
    to_micro_dollars,
};
pub use record::{
    Body, BodyDamage, CHUNK_LEN, ChunkSource, Entry, EntryHead, EntryRecord, StoredBody,
};
pub use usage::{
    CostSavings, EntryEvent, EntryEventKind, EventBatch, EventDetail, EventReason, EventTally,
    day_number,
};

/// Bodies up to this length are compressed and kept in one piece; larger ones
/// are kept as they are, in chunks. Nothing larger is ever inflated.
pub const INLINE_MAX: usize = 1 << 20;
