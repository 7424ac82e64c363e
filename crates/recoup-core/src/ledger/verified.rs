//! Source files that were read and found unchanged although their times had changed. They are
//! recorded here, so that each is read once and not at every look-up: entries are not rewritten.
//!
//! ```text
//! DIR/verified.log     a line for each: the digest of path, times and contents
//! DIR/verified.1.log   the previous ones; older ones are dropped, and their files read again
//! ```

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::RollingLog;
use crate::base::digest::Sha256Digest;
use crate::base::fsx;
use crate::error::Result;

/// The length of a log: about as many lines as an entry may have sources.
const MAX_LEN: u64 = 4 << 20;
/// The number of logs.
const FILES: usize = 2;
/// Maximum number of states in memory.
const MOST_KNOWN: usize = 200_000;
/// A full log takes as long to load as a few hundred small files take to read. So this many files,
/// up to this size, are simply read before it is loaded.
const DIRECT_READS: u32 = 100;
const DIRECT_SIZE: u64 = 64 << 10;

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
        let log = RollingLog::new(ledger, "verified", "log", MAX_LEN, FILES);
        Self { log, states: Mutex::default() }
    }

    /// True if reading a file of this size is cheaper than loading the log.
    pub(super) fn is_cheaper_to_read(&self, size: u64) -> bool {
        let mut states = self.states();
        if states.known.is_some() || size > DIRECT_SIZE {
            return false;
        }
        states.direct_reads += 1;
        states.direct_reads <= DIRECT_READS
    }

    pub(super) fn contains(&self, state: &Sha256Digest) -> bool {
        self.states().known.get_or_insert_with(|| self.load()).contains(state)
    }

    /// Adds a state, for this process only until it is saved.
    pub(super) fn add(&self, state: Sha256Digest) {
        let mut states = self.states();
        let known = states.known.get_or_insert_with(|| self.load());
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        if known.insert(state) {
            states.unsaved.push(state);
        }
    }

    pub(super) fn save(&self) -> Result<()> {
        let unsaved = std::mem::take(&mut self.states().unsaved);
        if unsaved.is_empty() {
            return Ok(());
        }
        let lines = unsaved.iter().map(Sha256Digest::to_string).collect::<Vec<_>>().join("\n");
        self.log.append(format!("{lines}\n").as_bytes())
    }

    /// Unreadable logs are empty.
    fn load(&self) -> HashSet<Sha256Digest> {
        let logs = self.log.paths().into_iter();
        let texts = logs.map(|log| fsx::read_start(&log, 2 * MAX_LEN).unwrap_or_default());
        texts
            .flat_map(|text| {
                let lines = text.split(|byte| *byte == b'\n');
                let digests =
                    lines.filter_map(|line| Sha256Digest::from_hex(str::from_utf8(line).ok()?));
                digests.collect::<Vec<_>>()
            })
            .collect()
    }

    fn states(&self) -> MutexGuard<'_, VerifiedStates> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
