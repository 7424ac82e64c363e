//! How a look-up ended, and why it was no hit.

use std::fmt;

use super::permit::Permit;
use crate::entry::{Damage, Entry, Happening};
use crate::error::Error;

/// How a look-up ended.
#[derive(Debug)]
pub enum Outcome {
    /// Fresh and verified.
    Hit(Entry),
    /// Past its TTL, within its grace: serve it, and refresh it if this says so.
    Stale(Entry, Option<Permit>),
    /// Work to be done; the permit takes the result.
    Miss(Permit, Reason),
    /// The cache stands aside: whatever is worked out is not kept.
    Bypass(Reason),
}

/// The same, for those who only look.
#[derive(Debug)]
pub enum Peek {
    /// Fresh and verified.
    Hit(Entry),
    /// Past its TTL, within its grace.
    Stale(Entry),
    /// Not to be had.
    Miss(Reason),
}

/// Why a look-up was no hit.
#[derive(Debug)]
pub enum Reason {
    /// There is no such entry.
    Absent,
    /// The cache is switched off.
    Disabled,
    /// The caller did not want what is there.
    Asked,
    /// It is a failure, and the caller wants none that old, or none at all.
    Failure,
    /// Both streams were recorded as one, and the caller needs them apart.
    StreamsMerged,
    /// Its time is up, or older than this reader accepts.
    Expired {
        /// How old it is, in milliseconds.
        age: u64,
        /// How old it may be, in milliseconds.
        limit: u64,
    },
    /// A source file is not as it was.
    SourceModified(String),
    /// A source file is gone.
    SourceMissing(String),
    /// The stored bytes are damaged.
    Corrupt(Damage),
    /// The store could not answer.
    Unavailable(Error),
}

impl Reason {
    /// How the ledger counts it; not at all when nobody looked.
    pub fn happening(&self) -> Option<Happening> {
        match self {
            Self::Absent | Self::Failure | Self::StreamsMerged => Some(Happening::Absent),
            Self::Disabled | Self::Asked => None,
            Self::Expired { .. } => Some(Happening::Expired),
            Self::SourceModified(_) | Self::SourceMissing(_) => Some(Happening::Invalidated),
            Self::Corrupt(_) => Some(Happening::Corrupt),
            Self::Unavailable(_) => Some(Happening::Unavailable),
        }
    }

    /// The status that contract 1 gives it.
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

    /// The reason that contract 1 gives it, where it has one.
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
            Self::Corrupt(Damage::Mismatch) => Some("integrity_mismatch"),
            Self::Corrupt(Damage::Unreadable) => Some("unreadable"),
            Self::Unavailable(_) => Some("store_unavailable"),
        }
    }
}

/// In a few words; the error beneath is the caller's to tell.
impl fmt::Display for Reason {
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
