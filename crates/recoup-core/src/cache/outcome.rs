//! How a look-up ends, and why it is not a hit.

use std::fmt;

use super::permit::Permit;
use crate::entry::{BodyDamage, Entry, EntryEventKind};
use crate::error::Error;

/// Result of a look-up.
#[derive(Debug)]
pub enum Outcome {
    /// Fresh and verified.
    Hit(Entry),
    /// Past its TTL but within its grace period. With a permit, this caller should refresh it.
    Stale(Entry, Option<Permit>),
    /// The caller does the work and fills the permit with the result.
    Miss(Permit, MissReason),
    /// The cache is not used: the caller's result is not stored.
    Bypass(MissReason),
}

/// Result of a look-up that takes no permit.
#[derive(Debug)]
pub enum PeekOutcome {
    /// Fresh and verified.
    Hit(Entry),
    /// Past its TTL but within its grace period.
    Stale(Entry),
    /// No entry that could be served.
    Miss(MissReason),
}

/// Why a look-up is not a hit.
#[derive(Debug)]
pub enum MissReason {
    /// There is no such entry.
    Absent,
    /// The cache is switched off.
    Disabled,
    /// The caller asked for a fresh result.
    Asked,
    /// The entry is a failure that is older than the caller accepts, or the caller accepts none.
    Failure,
    /// The entry has stdout and stderr in one stream, and the caller needs them apart.
    StreamsMerged,
    /// The TTL has passed, or the entry is older than the caller accepts.
    Expired {
        /// Age of the entry, in milliseconds.
        age: u64,
        /// The exceeded limit, in milliseconds.
        limit: u64,
    },
    /// A source file has changed.
    SourceModified(String),
    /// A source file is gone.
    SourceMissing(String),
    /// The stored bytes are damaged.
    Corrupt(BodyDamage),
    /// The store could not answer.
    Unavailable(Error),
}

impl MissReason {
    /// The ledger event of this reason; `None` if no look-up took place.
    pub fn happening(&self) -> Option<EntryEventKind> {
        match self {
            Self::Absent | Self::Failure | Self::StreamsMerged => Some(EntryEventKind::Absent),
            Self::Disabled | Self::Asked => None,
            Self::Expired { .. } => Some(EntryEventKind::Expired),
            Self::SourceModified(_) | Self::SourceMissing(_) => Some(EntryEventKind::Invalidated),
            Self::Corrupt(_) => Some(EntryEventKind::Corrupt),
            Self::Unavailable(_) => Some(EntryEventKind::Unavailable),
        }
    }

    /// The status in contract 1.
    pub fn status(&self) -> &'static str {
        match self {
            Self::Absent
            | Self::Failure
            | Self::StreamsMerged
            | Self::Asked
            | Self::Unavailable(_) => "miss",
            Self::Disabled => "disabled",
            Self::Expired { .. } => "expired",
            Self::SourceModified(_) | Self::SourceMissing(_) => "invalidated",
            Self::Corrupt(_) => "corrupt",
        }
    }

    /// The reason code in contract 1, if it has one.
    pub fn code(&self) -> Option<&'static str> {
        match self {
            Self::Absent
            | Self::Failure
            | Self::StreamsMerged
            | Self::Disabled
            | Self::Asked
            | Self::Expired { .. } => None,
            Self::SourceModified(_) => Some("source_modified"),
            Self::SourceMissing(_) => Some("source_missing"),
            Self::Corrupt(BodyDamage::Mismatch) => Some("integrity_mismatch"),
            Self::Corrupt(BodyDamage::Unreadable) => Some("unreadable"),
            Self::Unavailable(_) => Some("store_unavailable"),
        }
    }
}

/// A short description, without the underlying error.
impl fmt::Display for MissReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("there is no entry"),
            Self::Failure => f.write_str("what is kept is a failure"),
            Self::StreamsMerged => f.write_str("stdout and stderr were recorded as one stream"),
            Self::Disabled => f.write_str("the cache is switched off"),
            Self::Asked => f.write_str("a fresh result was asked for"),
            Self::Expired { .. } => f.write_str("the entry has expired"),
            Self::SourceModified(path) => write!(f, "the source {path} has changed"),
            Self::SourceMissing(path) => write!(f, "the source {path} is missing"),
            Self::Corrupt(damage) => write!(f, "the entry is damaged: {damage}"),
            Self::Unavailable(_) => f.write_str("the store could not answer"),
        }
    }
}
