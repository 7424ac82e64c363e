//! What more is known about an event: who asked, how old the answer was, why
//! there was none, and what it was worth. Names and numbers, never content.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use super::header::Cost;

/// What more is known about an event. All of it may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detail {
    /// The agent, tool or command that asked, or that made the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The one that made the entry, where it is another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_by: Option<String>,
    /// How old the entry was, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<u64>,
    /// For how long it was stored, in milliseconds; none is for ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
    /// Why it happened.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub why: Option<Why>,
    /// What producing the entry cost: a hit has saved that.
    #[serde(default, skip_serializing_if = "Cost::is_unknown")]
    pub cost: Cost,
}

impl Detail {
    /// Nothing but a reason.
    pub fn because(why: Why) -> Self {
        Self { why: Some(why), ..Self::default() }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Why something happened to an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// This source is not as it was.
    SourceModified(String),
    /// This source is gone.
    SourceMissing(String),
    /// The sources are not those of the token, or not in that state.
    SourcesDiffer,
    /// It was not for keeping, as its maker says.
    Unkept(String),
    /// There was a result already for which the work began later.
    Overtaken,
    /// It was older than it may be, both in milliseconds.
    TooOld {
        /// How old it was.
        age: u64,
        /// How old it may be.
        limit: u64,
    },
    /// The stored bytes are not those that were stored.
    IntegrityMismatch,
    /// The stored bytes can't be read.
    Unreadable,
    /// The store could not answer.
    StoreUnavailable,
    /// It holds a secret, by this rule.
    Secret(String),
    /// It takes more than all the room there is, both in bytes.
    TooLarge {
        /// What it takes.
        bytes: u64,
        /// What there is.
        limit: u64,
    },
    /// There were more entries than this.
    MaxEntries(u64),
    /// There were more bytes than this.
    MaxBytes(u64),
}

impl Why {
    /// The word for programs.
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

/// In a few words, to stand after what happened: `evicted: over 100 MB`.
impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceModified(path) => write!(f, "{path} changed"),
            Self::SourceMissing(path) => write!(f, "{path} is missing"),
            Self::SourcesDiffer => f.write_str("other sources than the token's, or changed since"),
            Self::Unkept(why) => f.write_str(why),
            Self::Overtaken => f.write_str("a later run's result was there already"),
            Self::TooOld { age, limit } => {
                write!(f, "{} old, good for {}", Span(*age), Span(*limit))
            }
            Self::IntegrityMismatch => f.write_str("damaged: another checksum"),
            Self::Unreadable => f.write_str("damaged: unreadable"),
            Self::StoreUnavailable => f.write_str("the store could not answer"),
            Self::Secret(rule) => write!(f, "secret ({})", rule.replace('-', " ")),
            Self::TooLarge { bytes, limit } => {
                write!(f, "{} is over {}", Size(*bytes), Size(*limit))
            }
            Self::MaxEntries(1) => f.write_str("over 1 entry"),
            Self::MaxEntries(limit) => write!(f, "over {limit} entries"),
            Self::MaxBytes(limit) => write!(f, "over {}", Size(*limit)),
        }
    }
}

/// Megabytes as people configure them, with one decimal where it matters.
struct Size(u64);

impl fmt::Display for Size {
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

/// In the largest unit of which there is one.
struct Span(u64);

impl fmt::Display for Span {
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

/// A later version's reason is none to us.
fn known<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Why>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}
