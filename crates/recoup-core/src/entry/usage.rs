//! What happened to entries: noted one by one in the ledger, told to a store in
//! batches.

use std::fmt;

use super::detail::Detail;
use super::saved::Saved;
use crate::base::clock::Timestamp;
use crate::base::name::Name;
use crate::key::{Id, Kind, Scope};

/// What happened, in one word: mostly how a look-up went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Happening {
    /// It was served.
    Hit,
    /// There was none.
    Absent,
    /// Its time was up.
    Expired,
    /// A source had changed.
    Invalidated,
    /// It was damaged.
    Corrupt,
    /// The store could not answer.
    Unavailable,
    /// Nobody looked: it was invalidated by hand.
    Removed,
    /// A result was kept.
    Stored,
    /// A result was not kept.
    Refused,
    /// It gave way to others.
    Evicted,
    /// It was removed because its time was up.
    Purged,
    /// Somebody deleted it, or everything.
    Deleted,
}

impl Happening {
    /// Every one there is.
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

    /// The word.
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

    /// Whether somebody asked for an entry and did not get it.
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

    /// Whether it says what became of an entry: such events are kept after they
    /// were counted.
    pub fn is_fate(self) -> bool {
        !matches!(self, Self::Hit | Self::Absent | Self::Unavailable)
    }

    /// The one that the word names.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|what| what.as_str() == name)
    }
}

impl fmt::Display for Happening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Something that happened, once or several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub at: Timestamp,
    /// To which entry.
    pub id: Id,
    /// Of which kind.
    pub kind: Kind,
    /// What.
    pub what: Happening,
    /// How often.
    pub count: u64,
    /// What more is known.
    pub detail: Detail,
}

impl Event {
    /// Something that happened once, of which nothing more is known.
    pub fn new(at: Timestamp, id: Id, kind: Kind, what: Happening) -> Self {
        Self { at, id, kind, what, count: 1, detail: Detail::default() }
    }
}

/// `evicted: over 100 MB`
impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.detail.why {
            Some(why) => write!(f, "{}: {why}", self.what),
            None => self.what.fmt(f),
        }
    }
}

/// Events that are told to a store together, and count once however often they
/// are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// Its name: a store that has seen it passes over it.
    pub name: Name,
    /// In the order in which they were noted.
    pub events: Vec<Event>,
}

/// How often something happened on one day to one kind of entry in one scope, by
/// the name of who asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Whose entries.
    pub scope: Scope,
    /// Of which kind.
    pub kind: Kind,
    /// Days since 1970 (UTC).
    pub day: i64,
    /// What.
    pub what: Happening,
    /// Who asked, or made it; empty where nobody said. Where there are very many,
    /// the rest of them is one.
    pub by: String,
    /// How often.
    pub count: u64,
    /// What these hits saved.
    pub saved: Saved,
}

/// The day that a moment falls on, counted from 1970 (UTC).
pub fn day_of(at: Timestamp) -> i64 {
    at.as_millis().div_euclid(86_400_000)
}
