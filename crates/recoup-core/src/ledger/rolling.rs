//! A log in a few files of limited length, to which many processes append; the hit log (one JSON
//! object per hit, for people and their tools); and the log of source files that were read and found
//! unchanged although their times had changed, so that each is read once and not at every look-up.
//!
//! ```text
//! DIR/NAME.EXT      lines are appended here
//! DIR/NAME.1.EXT    the previous one, and so on; the last is dropped at a rotation
//! DIR/NAME.lock     held by the one process that rotates
//! ```

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;
use serde::Serialize;

use super::{CLOSE_WAIT, append_lines};
use crate::base::clock::{Deadline, Timestamp};
use crate::base::digest::Sha256Digest;
use crate::base::fsx::{self, FileLock};
use crate::entry::{ProducerIdentity, ProductionCost};
use crate::error::Result;
use crate::key::{EntryId, Kind};

/// Maximum size of a file, and number of files.
const HIT_LOG_LEN: u64 = 10 << 20;
const HIT_LOG_FILES: usize = 5;
/// The length of a log: about as many lines as an entry may have sources.
const VERIFIED_LOG_LEN: u64 = 4 << 20;
/// The number of logs.
const VERIFIED_LOG_FILES: usize = 2;
/// Maximum number of states in memory.
const MOST_KNOWN: usize = 200_000;
/// A full log takes as long to load as a few hundred small files take to read. So this many files,
/// up to this size, are simply read before it is loaded.
const DIRECT_READS: u32 = 100;
const DIRECT_SIZE: u64 = 64 << 10;

/// A log with rotation.
#[derive(Debug, Clone)]
pub struct RollingLog {
    dir: PathBuf,
    name: &'static str,
    extension: &'static str,
    max_len: u64,
    files: usize,
}

impl RollingLog {
    /// The log of that name in `dir`, with this number of files of about that length. The directory
    /// is created with the first line.
    pub fn new(
        dir: impl Into<PathBuf>,
        name: &'static str,
        extension: &'static str,
        max_len: u64,
        files: usize,
    ) -> Self {
        Self { dir: dir.into(), name, extension, max_len, files }
    }

    /// Sets the approximate size of its files.
    #[must_use]
    pub(crate) fn with_max_len(self, max_len: u64) -> Self {
        Self { max_len, ..self }
    }

    /// Path of the latest file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.{}", self.name, self.extension))
    }

    /// Paths of all possible files, the oldest first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let older = (1..self.files).rev().map(|number| self.rotated_path(number));
        older.chain([self.path()]).collect()
    }

    fn rotated_path(&self, number: usize) -> PathBuf {
        self.dir.join(format!("{}.{number}.{}", self.name, self.extension))
    }

    /// Appends complete lines.
    pub fn append(&self, lines: &[u8]) -> Result<()> {
        let path = self.path();
        let is_long = || std::fs::metadata(&path).map_or(0, |file| file.len()) >= self.max_len;
        // Checked again under the lock, because another process may just have rotated. While it
        // does, the file may grow a little longer.
        if is_long()
            && let Some(_lock) =
                FileLock::try_acquire(&self.dir.join(format!("{}.lock", self.name)))?
            && is_long()
        {
            for number in (1..self.files.saturating_sub(1)).rev() {
                if self.rotated_path(number).exists() {
                    fsx::rename(&self.rotated_path(number), &self.rotated_path(number + 1))?;
                }
            }
            fsx::rename_and_settle(&path, &self.rotated_path(1), Deadline::after(CLOSE_WAIT))?;
        }
        append_lines(&path, lines, u64::MAX, "moved")
    }
}

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
        Self(RollingLog::new(dir, "hits", "jsonl", HIT_LOG_LEN, HIT_LOG_FILES))
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

/// File states whose contents have been verified.
#[derive(Debug)]
pub(super) struct VerifiedFiles {
    log: RollingLog,
    states: Mutex<VerifiedStates>,
}

#[derive(Debug, Default)]
struct VerifiedStates {
    /// `None` until it is loaded.
    known: Option<HashSet<Sha256Digest>>,
    unsaved: Vec<Sha256Digest>,
    direct_reads: u32,
}

impl VerifiedFiles {
    pub(super) fn of(ledger: &Path) -> Self {
        let log = RollingLog::new(ledger, "verified", "log", VERIFIED_LOG_LEN, VERIFIED_LOG_FILES);
        Self { log, states: Mutex::default() }
    }

    /// True if reading a file of this size is cheaper than loading the log.
    pub(super) fn is_cheaper_to_read(&self, size: u64) -> bool {
        let mut states = self.states.lock();
        if states.known.is_some() || size > DIRECT_SIZE {
            return false;
        }
        states.direct_reads += 1;
        states.direct_reads <= DIRECT_READS
    }

    pub(super) fn contains(&self, state: &Sha256Digest) -> bool {
        self.states.lock().known.get_or_insert_with(|| self.load()).contains(state)
    }

    /// Adds a state, for this process only until it is saved.
    pub(super) fn add(&self, state: Sha256Digest) {
        let mut states = self.states.lock();
        let known = states.known.get_or_insert_with(|| self.load());
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        if known.insert(state) {
            states.unsaved.push(state);
        }
    }

    pub(super) fn save(&self) -> Result<()> {
        let unsaved = std::mem::take(&mut self.states.lock().unsaved);
        if unsaved.is_empty() {
            return Ok(());
        }
        let lines = unsaved.iter().map(Sha256Digest::to_string).collect::<Vec<_>>().join("\n");
        self.log.append(format!("{lines}\n").as_bytes())
    }

    /// Unreadable logs are empty.
    fn load(&self) -> HashSet<Sha256Digest> {
        let logs = self.log.paths().into_iter();
        let texts = logs.map(|log| fsx::read_start(&log, 2 * VERIFIED_LOG_LEN).unwrap_or_default());
        texts
            .flat_map(|text| {
                let lines = text.split(|byte| *byte == b'\n');
                let digests =
                    lines.filter_map(|line| Sha256Digest::from_hex(str::from_utf8(line).ok()?));
                digests.collect::<Vec<_>>()
            })
            .collect()
    }
}
