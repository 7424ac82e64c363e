//! Condition of a ledger for diagnostics: pending events and readability.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{CLOSED, OPEN, event_line, listing, segment};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::error::Result;

/// Condition of a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LedgerCondition {
    /// Number of events that have not been handed to a store.
    pub waiting: u64,
    /// Number of lines that are not ours or were cut off.
    pub unreadable: u64,
    /// Closed logs that were not handed over, after a crash or because the store is unavailable.
    pub batches: u64,
    /// Modification time of the oldest of these.
    pub oldest: Option<Timestamp>,
    /// True if the open log has its maximum length: further events are dropped.
    pub is_full: bool,
    /// Total size, history included.
    pub bytes: u64,
}

/// Inspects the ledger in `dir`, without changing anything.
pub fn inspect(dir: &Path) -> Result<LedgerCondition> {
    let open = dir.join(OPEN);
    let mut found = LedgerCondition { bytes: bytes_in(dir), ..LedgerCondition::default() };
    let open_len = fs::metadata(&open).map_or(0, |open| open.len());
    // A line or two less than full is as good as full: the next does not fit.
    found.is_full = open_len.saturating_add(1 << 10) >= segment::MAX_LEN;
    found.count_lines(&open)?;
    for batch in listing::files_of(dir, CLOSED)? {
        found.batches += 1;
        let written = fs::metadata(&batch).ok().map(|it| Timestamp::from_seconds(it.mtime()));
        found.oldest = [found.oldest, written].into_iter().flatten().min();
        found.count_lines(&batch)?;
    }
    Ok(found)
}

impl LedgerCondition {
    fn count_lines(&mut self, log: &Path) -> Result<()> {
        let Some(text) = fsx::read_regular(log, segment::MAX_LEN.saturating_mul(2))? else {
            return Ok(());
        };
        let lines = text.split_inclusive(|byte| *byte == b'\n').count() as u64;
        let sound = event_line::parse_events(&text).count() as u64;
        self.waiting += sound;
        self.unreadable += lines - sound;
        Ok(())
    }
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = listing::entries_of(dir).unwrap_or_default();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.into_iter().map(size).sum()
}
