//! Events of entries: recorded one by one in the ledger, reported to a store in batches, with the
//! caller, the reason and the cost that a hit saves. Names and numbers, never content.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::header::ProductionCost;
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
    pub(crate) fn is_lifecycle_event(self) -> bool {
        !matches!(self, Self::Hit | Self::Absent | Self::Unavailable)
    }

    /// The kind with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
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

/// Details of an event, all of them optional.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventDetail {
    /// The agent, tool or command that asked, or that made the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The producer of the entry, where it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_by: Option<String>,
    /// Age of the entry, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
    /// TTL of the entry, in milliseconds; `None` is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// The reason.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub why: Option<EventReason>,
    /// Cost of producing the entry, which a hit saves.
    #[serde(default, skip_serializing_if = "ProductionCost::is_unknown")]
    pub cost: ProductionCost,
}

impl EventDetail {
    /// Details with a reason only.
    pub fn because(why: EventReason) -> Self {
        Self { why: Some(why), ..Self::default() }
    }

    /// True if nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reason for an event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EventReason {
    /// This source has changed.
    SourceModified(String),
    /// This source is gone.
    SourceMissing(String),
    /// The sources are not those of the token, or not in that state.
    SourcesDiffer,
    /// Not to be kept, in the producer's words.
    Unkept(String),
    /// A result existed already whose work began later.
    Overtaken,
    /// Older than allowed, both in milliseconds.
    TooOld {
        /// Its age.
        age: u64,
        /// The greatest age allowed.
        limit: u64,
    },
    /// The stored bytes are not those that were stored.
    IntegrityMismatch,
    /// The stored bytes can't be read.
    Unreadable,
    /// The store could not answer.
    StoreUnavailable,
    /// Contains a secret, found by this rule.
    Secret(String),
    /// Larger than the limit for everything, both in bytes.
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// There were more entries than this.
    MaxEntries(u64),
    /// There were more bytes than this.
    MaxBytes(u64),
}

impl EventReason {
    /// Stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::SourceModified(_) => "source_modified",
            Self::SourceMissing(_) => "source_missing",
            Self::SourcesDiffer => "sources_differ",
            Self::Overtaken => "overtaken",
            Self::Unkept(_) => "unkept",
            Self::TooOld { .. } => "too_old",
            Self::IntegrityMismatch => "integrity_mismatch",
            Self::Unreadable => "unreadable",
            Self::StoreUnavailable => "store_unavailable",
            Self::Secret(_) => "secret",
            Self::TooLarge { .. } => "too_large",
            Self::MaxEntries(_) => "max_entries",
            Self::MaxBytes(_) => "max_bytes",
        }
    }
}

/// Short text to follow the name of the event: `evicted: over 100 MB`.
impl fmt::Display for EventReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceModified(path) => write!(f, "{path} changed"),
            Self::SourceMissing(path) => write!(f, "{path} is missing"),
            Self::SourcesDiffer => {
                f.write_str("the sources differ from the token's, or have changed")
            }
            Self::Unkept(why) => f.write_str(why),
            Self::Overtaken => f.write_str("a newer result was already stored"),
            Self::TooOld { age, limit } => {
                write!(f, "{} old, limit {}", DurationDisplay(*age), DurationDisplay(*limit))
            }
            Self::IntegrityMismatch => f.write_str("damaged: checksum mismatch"),
            Self::Unreadable => f.write_str("damaged: unreadable"),
            Self::StoreUnavailable => f.write_str("the store is unavailable"),
            Self::Secret(rule) => write!(f, "secret ({})", rule.replace('-', " ")),
            Self::TooLarge { bytes, limit } => {
                write!(
                    f,
                    "{} is over the limit of {}",
                    ByteSizeDisplay(*bytes),
                    ByteSizeDisplay(*limit)
                )
            }
            Self::MaxEntries(1) => f.write_str("over 1 entry"),
            Self::MaxEntries(limit) => write!(f, "over {limit} entries"),
            Self::MaxBytes(limit) => write!(f, "over {}", ByteSizeDisplay(*limit)),
        }
    }
}

/// Shows bytes as people configure them, with one decimal where it matters.
struct ByteSizeDisplay(u64);

impl fmt::Display for ByteSizeDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        match bytes {
            0..1024 => write!(f, "{bytes} B"),
            1024..1_048_576 => write!(f, "{} KB", bytes >> 10),
            _ if bytes % (1 << 20) == 0 => write!(f, "{} MB", bytes >> 20),
            _ => write!(f, "{}.{} MB", bytes >> 20, ((bytes % (1 << 20)) * 10) >> 20),
        }
    }
}

/// Shows milliseconds in the largest unit of which there is one.
struct DurationDisplay(u64);

impl fmt::Display for DurationDisplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(millis) = *self;
        match millis {
            u64::MAX => f.write_str("forever"),
            0..1_000 => write!(f, "{millis} ms"),
            1_000..60_000 => write!(f, "{} s", millis / 1_000),
            60_000..3_600_000 => write!(f, "{} m", millis / 60_000),
            3_600_000..86_400_000 => write!(f, "{} h", millis / 3_600_000),
            _ => write!(f, "{} d", millis / 86_400_000),
        }
    }
}

/// Reads a later version's reason as none.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EventReason>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// Summed savings. Unknown costs add nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CostSavings {
    /// Milliseconds of work.
    pub millis: u64,
    /// Tokens that did not go in.
    pub input_tokens: u64,
    /// Tokens that did not come out.
    pub output_tokens: u64,
    /// Millionths of a dollar.
    pub micro_dollars: u64,
}

impl CostSavings {
    /// Savings of `times` hits on an entry with this cost.
    pub fn by_hits(cost: &ProductionCost, times: u64) -> Self {
        let ProductionCost { millis, input_tokens, output_tokens, micro_dollars } = *cost;
        let sum = |each: Option<u64>| each.unwrap_or(0).saturating_mul(times);
        Self {
            millis: sum(millis),
            input_tokens: sum(input_tokens),
            output_tokens: sum(output_tokens),
            micro_dollars: sum(micro_dollars),
        }
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            millis: self.millis.saturating_add(other.millis),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            micro_dollars: self.micro_dollars.saturating_add(other.micro_dollars),
        }
    }

    /// The four sums, in this order: milliseconds, tokens in, tokens out, millionths.
    pub(crate) fn to_array(self) -> [u64; 4] {
        [self.millis, self.input_tokens, self.output_tokens, self.micro_dollars]
    }

    /// From the four sums.
    pub(crate) fn from_array(
        [millis, input_tokens, output_tokens, micro_dollars]: [u64; 4],
    ) -> Self {
        Self { millis, input_tokens, output_tokens, micro_dollars }
    }

    /// True if nothing was saved, as far as is known.
    pub fn is_zero(self) -> bool {
        self == Self::default()
    }
}
