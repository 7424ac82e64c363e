//! Source files that were read and found unchanged although their times had changed. They are
//! noted here, so that each is read once, and not at every look-up: entries stay as they are.
//!
//! ```text
//! DIR/verified.log     a line for each: the digest of path, times and contents
//! DIR/verified.1.log   the ones before; older ones go, and are only read again
//! ```

use std::collections::HashSet;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Rolling;
use crate::base::digest::Digest;
use crate::base::fsx;
use crate::error::Result;

/// The length of a log: about as many lines as an entry may have sources.
const MAX_LEN: u64 = 4 << 20;
const FILES: usize = 2;
/// How many are kept in memory.
const MOST_KNOWN: usize = 200_000;

/// File states that are known to have the contents that they name.
#[derive(Debug)]
pub(super) struct VerifiedFiles {
    log: Rolling,
    states: Mutex<States>,
}

#[derive(Debug, Default)]
struct States {
    /// None until somebody asks.
    known: Option<HashSet<Digest>>,
    unsaved: Vec<Digest>,
}

impl VerifiedFiles {
    pub(super) fn of(ledger: &Path) -> Self {
        let log = Rolling::new(ledger, "verified", "log", MAX_LEN, FILES);
        Self { log, states: Mutex::default() }
    }

    pub(super) fn contains(&self, state: &Digest) -> bool {
        self.states().known.get_or_insert_with(|| self.load()).contains(state)
    }

    /// Adds one for this process alone; others see it once it is saved.
    pub(super) fn add(&self, state: Digest) {
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
        let lines = unsaved.iter().map(Digest::to_string).collect::<Vec<_>>().join("\n");
        self.log.append(format!("{lines}\n").as_bytes())
    }

    /// What can't be read is not known.
    fn load(&self) -> HashSet<Digest> {
        let logs = self.log.paths().into_iter();
        let texts = logs.map(|log| fsx::read_start(&log, 2 * MAX_LEN).unwrap_or_default());
        texts
            .flat_map(|text| {
                let lines = text.split(|byte| *byte == b'\n');
                let digests = lines.filter_map(|line| Digest::from_hex(str::from_utf8(line).ok()?));
                digests.collect::<Vec<_>>()
            })
            .collect()
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
