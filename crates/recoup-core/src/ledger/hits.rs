//! The hit log: one JSON object per hit, for people and their tools. Names and numbers, never
//! bodies.

use std::path::PathBuf;

use serde::Serialize;

use super::rolling::RollingLog;
use crate::base::clock::Timestamp;
use crate::entry::{ProducerIdentity, ProductionCost};
use crate::error::Result;
use crate::key::{EntryId, Kind};

/// Maximum size of a file, and number of files.
const MAX_LEN: u64 = 10 << 20;
const FILES: usize = 5;

/// The hit log.
#[derive(Debug, Clone)]
pub struct HitLog(RollingLog);

/// A hit, as it is logged.
#[derive(Debug, Clone)]
pub struct HitRecord<'a> {
    /// Time of the hit.
    pub at: Timestamp,
    /// Kind of the entry.
    pub kind: Kind,
    /// Identity of the entry.
    pub id: &'a EntryId,
    /// Age of the entry, in milliseconds.
    pub age: u64,
    /// The caller, as far as it is known.
    pub current: Option<&'a ProducerIdentity>,
    /// The producer of the entry.
    pub stored: &'a ProducerIdentity,
    /// The saved cost.
    pub saved: ProductionCost,
}

#[derive(Serialize)]
struct HitLogLine<'a> {
    at: String,
    kind: Kind,
    scope: &'a str,
    key: &'a str,
    age_ms: u64,
    current: Option<&'a ProducerIdentity>,
    stored: &'a ProducerIdentity,
    saved: ProductionCost,
}

impl HitLog {
    /// The log in `dir`, which is created with the first hit.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self(RollingLog::new(dir, "hits", "jsonl", MAX_LEN, FILES))
    }

    /// Sets the approximate size of its files.
    #[must_use]
    pub fn with_max_len(self, max_len: u64) -> Self {
        Self(self.0.with_max_len(max_len))
    }

    /// Path of the latest file.
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Appends complete lines.
    pub(super) fn append(&self, lines: &[u8]) -> Result<()> {
        self.0.append(lines)
    }
}

/// The log line, with its line break.
pub(super) fn format_hit(hit: &HitRecord<'_>) -> Vec<u8> {
    let HitRecord { at, kind, id, age, current, stored, saved } = hit;
    let line = HitLogLine {
        at: at.to_string(),
        kind: *kind,
        scope: id.scope.as_str(),
        key: id.key.as_str(),
        age_ms: *age,
        current: *current,
        stored,
        saved: *saved,
    };
    let mut json = serde_json::to_vec(&line).expect("text and numbers always serialize");
    json.push(b'\n');
    json
}
