//! How a ledger is, seen from outside: what waits to be told, and whether it can be read.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::{CLOSED, OPEN, line, listing, segment};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::error::Result;

/// What is in a ledger.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// Lines that no store was told yet.
    pub waiting: u64,
    /// What is no line of ours, or was cut off.
    pub unreadable: u64,
    /// Closed logs that were not told: somebody died, or the store can't be reached.
    pub batches: u64,
    /// When the oldest of these was written.
    pub oldest: Option<Timestamp>,
    /// The open log is as long as it may be: what comes now is dropped.
    pub is_full: bool,
    /// What all of it takes, history included.
    pub bytes: u64,
}

/// Looks at the ledger in `dir`. Nothing is told, moved or removed.
pub fn inspect(dir: &Path) -> Result<Condition> {
    let open = dir.join(OPEN);
    let mut found = Condition { bytes: bytes_in(dir), ..Condition::default() };
    let open_len = fs::metadata(&open).map_or(0, |open| open.len());
    // A line or two less than full is as good as full: the next does not fit.
    found.is_full = open_len.saturating_add(1 << 10) >= segment::MAX_LEN;
    found.count(&open)?;
    for batch in listing::files_of(dir, CLOSED)? {
        found.batches += 1;
        let written = fs::metadata(&batch).ok().map(|it| Timestamp::from_seconds(it.mtime()));
        found.oldest = [found.oldest, written].into_iter().flatten().min();
        found.count(&batch)?;
    }
    Ok(found)
}

impl Condition {
    fn count(&mut self, log: &Path) -> Result<()> {
        let Some(text) = fsx::read_regular(log, segment::MAX_LEN.saturating_mul(2))? else {
            return Ok(());
        };
        let lines = text.split_inclusive(|byte| *byte == b'\n').count() as u64;
        let sound = line::read_all(&text).count() as u64;
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
