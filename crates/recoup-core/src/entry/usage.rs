//! Events of entries: recorded one by one in the ledger, reported to a store in batches.

use std::fmt;

use super::detail::EventDetail;
use super::saved::CostSavings;
use crate::base::clock::Timestamp;
use crate::base::name::SafeName;
use crate::key::{EntryId, Kind, Scope};

/// Kind of an event: mostly the outcome of a look-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryEventKind {
    /// Served.
    Hit,
    /// No entry.
    Absent,
    /// Past its TTL.
    Expired,
    /// A source had changed.
    Invalidated,
    /// Damaged.
    Corrupt,
    /// The store could not answer.
    Unavailable,
    /// Invalidated by hand, without a look-up.
    Removed,
    /// A result was kept.
    Stored,
    /// A result was not kept.
    Refused,
    /// Removed to make room for others.
    Evicted,
    /// Removed because its TTL was over.
    Purged,
    /// Deleted by a user, alone or with everything.
    Deleted,
}

impl EntryEventKind {
    /// All kinds.
    pub const ALL: [Self; 12] = [
        Self::Hit,
        Self::Absent,
        Self::Expired,
        Self::Invalidated,
        Self::Corrupt,
        Self::Unavailable,
        Self::Removed,
        Self::Stored,
        Self::Refused,
        Self::Evicted,
        Self::Purged,
        Self::Deleted,
    ];

    /// The name that is stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Absent => "absent",
            Self::Expired => "expired",
            Self::Invalidated => "invalidated",
            Self::Corrupt => "corrupt",
            Self::Unavailable => "unavailable",
            Self::Removed => "removed",
            Self::Stored => "stored",
            Self::Refused => "refused",
            Self::Evicted => "evicted",
            Self::Purged => "purged",
            Self::Deleted => "deleted",
        }
    }

    /// True if a look-up did not get an entry.
    pub fn is_miss(self) -> bool {
        match self {
            Self::Absent
            | Self::Expired
            | Self::Invalidated
            | Self::Corrupt
            | Self::Unavailable => true,
            Self::Hit
            | Self::Removed
            | Self::Stored
            | Self::Refused
            | Self::Evicted
            | Self::Purged
            | Self::Deleted => false,
        }
    }

    /// True if it tells what became of an entry: such events are kept after they were counted.
    pub fn is_lifecycle_event(self) -> bool {
        !matches!(self, Self::Hit | Self::Absent | Self::Unavailable)
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.as_str() == name)
    }
}

impl fmt::Display for EntryEventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An event, which may stand for several equal ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryEvent {
    /// Time of the event.
    pub at: Timestamp,
    /// The entry.
    pub id: EntryId,
    /// Kind of the entry.
    pub kind: Kind,
    /// Kind of the event.
    pub what: EntryEventKind,
    /// Number of occurrences.
    pub count: u64,
    /// Further details.
    pub detail: EventDetail,
}

impl EntryEvent {
    /// Creates an event that happened once, without details.
    pub fn new(at: Timestamp, id: EntryId, kind: Kind, what: EntryEventKind) -> Self {
        Self { at, id, kind, what, count: 1, detail: EventDetail::default() }
    }
}

/// `evicted: over 100 MB`
impl fmt::Display for EntryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail.why {
            Some(why) => write!(f, "{}: {why}", self.what),
            None => self.what.fmt(f),
        }
    }
}

/// Events that are reported to a store together, and counted once however often they are reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventBatch {
    /// Unique name, by which a store skips a batch that it has seen.
    pub name: SafeName,
    /// Events in the order in which they were recorded.
    pub events: Vec<EntryEvent>,
}

/// Number of events of one kind on one day, for one scope, kind of entry and caller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventTally {
    /// Scope of the entries.
    pub scope: Scope,
    /// Kind of the entries.
    pub kind: Kind,
    /// Days since 1970 (UTC).
    pub day: i64,
    /// Kind of the events.
    pub what: EntryEventKind,
    /// The caller or producer; empty if unknown. Where there are very many, the rest counts as one.
    pub by: String,
    /// Number of events.
    pub count: u64,
    /// Savings of these hits.
    pub saved: CostSavings,
}

/// The day that a moment falls on, counted from 1970 (UTC).
pub fn day_number(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(86_400_000)
}
