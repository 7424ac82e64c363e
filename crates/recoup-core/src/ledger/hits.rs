//! The hit log: one JSON object for each hit, for people and their tools. Names
//! and numbers, never bodies.

use std::path::PathBuf;

use serde::Serialize;

use super::rolling::Rolling;
use crate::base::clock::Timestamp;
use crate::entry::{Cost, Identity};
use crate::error::Result;
use crate::key::{Id, Kind};

/// How large a file gets, and how many there are.
const MAX_LEN: u64 = 10 << 20;
const FILES: usize = 5;

/// Where hits are written down.
#[derive(Debug, Clone)]
pub struct HitLog(Rolling);

/// One hit, as it is written down.
#[derive(Debug, Clone)]
pub struct Hit<'a> {
    /// When.
    pub at: Timestamp,
    /// Of which kind.
    pub kind: Kind,
    /// Which entry.
    pub id: &'a Id,
    /// How old it was, in milliseconds.
    pub age: u64,
    /// Who asked, as far as is known.
    pub current: Option<&'a Identity>,
    /// Who made it.
    pub stored: &'a Identity,
    /// What was saved.
    pub saved: Cost,
}

#[derive(Serialize)]
struct Line<'a> {
    at: String,
    kind: Kind,
    scope: &'a str,
    key: &'a str,
    age_ms: u64,
    current: Option<&'a Identity>,
    stored: &'a Identity,
    saved: Cost,
}

impl HitLog {
    /// The log in `dir`, which is made when there is something to write down.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self(Rolling::new(dir, "hits", "jsonl", MAX_LEN, FILES))
    }

    /// The same with files of about that length.
    #[must_use]
    pub fn with_max_len(self, max_len: u64) -> Self {
        Self(self.0.with_max_len(max_len))
    }

    /// Where the latest are.
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }

    /// Appends whole lines.
    pub(super) fn append(&self, lines: &[u8]) -> Result<()> {
        self.0.append(lines)
    }
}

/// The line, with its end.
pub(super) fn line(hit: &Hit<'_>) -> Vec<u8> {
    let Hit { at, kind, id, age, current, stored, saved } = hit;
    let line = Line {
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
