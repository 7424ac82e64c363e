//! Details of an event: the caller, the age of the entry, the reason, and the cost. Names and
//! numbers, never content.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::header::ProductionCost;

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
    pub fn is_empty(&self) -> bool {
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
            Self::SourcesDiffer => f.write_str("other sources than the token's, or changed since"),
            Self::Unkept(why) => f.write_str(why),
            Self::Overtaken => f.write_str("a later run's result was there already"),
            Self::TooOld { age, limit } => {
                write!(f, "{} old, good for {}", DurationDisplay(*age), DurationDisplay(*limit))
            }
            Self::IntegrityMismatch => f.write_str("damaged: another checksum"),
            Self::Unreadable => f.write_str("damaged: unreadable"),
            Self::StoreUnavailable => f.write_str("the store could not answer"),
            Self::Secret(rule) => write!(f, "secret ({})", rule.replace('-', " ")),
            Self::TooLarge { bytes, limit } => {
                write!(f, "{} is over {}", ByteSizeDisplay(*bytes), ByteSizeDisplay(*limit))
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
            u64::MAX => f.write_str("for ever"),
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
