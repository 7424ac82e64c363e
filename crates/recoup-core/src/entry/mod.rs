//! Entries: a body, and a header that describes it.
//!
//! A [`Draft`] is what a producer hands in; sealed, it is a [`Record`], which is what stores move
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

pub use body::{Body, Chunks};
pub use codec::Damage;
pub use detail::{Detail, Why};
pub use draft::Draft;
pub use frame::CHUNK_LEN;
pub use header::{BodyInfo, Cost, Encoding, FORMAT, Header, Identity, micro_dollars};
pub use record::{Entry, Head, Payload, Record};
pub use saved::Saved;
pub use sources::{Older, Pattern, PatternKind, Place, Source, Sources, Stat};
pub use usage::{Batch, Event, Happening, Tally, day_of};

/// Bodies up to this length are compressed and kept in one piece; larger ones
/// are kept as they are, in chunks. Nothing larger is ever inflated.
pub const INLINE_MAX: usize = 1 << 20;
