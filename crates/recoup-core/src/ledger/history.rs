//! History of entries: stored, refused, evicted, and why, after the events were counted. Bounded:
//! the oldest part goes first. Hits and misses of unknown entries are left out, so that a few
//! megabytes reach back far.
//!
//! ```text
//! DIR/history/current.log   lines are added here, batch by batch, each after its name: `# NAME`
//! DIR/history/NAME.log      closed; NAME is that of the first batch after it
//! ```
//! Written only under the fold lock. A batch that was added before a crash is recognized by its
//! name, and not added again.

use std::path::{Path, PathBuf};

use memchr::memmem;

use super::{files_of, format_event, parse_event, search_text_for};
use crate::base::fsx;
use crate::base::name::SafeName;
use crate::entry::EntryEvent;
use crate::error::{ErrorKind, Result};
use crate::key::EntryId;

/// A log of this length is closed.
const PART_LEN: u64 = 1 << 20;
/// Number of closed logs to keep.
const PARTS: usize = 3;
const CURRENT: &str = "current.log";

/// The events of a ledger that are kept after they were counted.
#[derive(Debug)]
pub(super) struct LedgerHistory {
    dir: PathBuf,
}

impl LedgerHistory {
    pub(super) fn of(ledger: &Path) -> Self {
        Self { dir: ledger.join("history") }
    }

    /// Adds the fates of entries in a batch. One that is `left` over from another process may have
    /// been added by that.
    pub(super) fn add(&self, name: &SafeName, events: &[EntryEvent], left: bool) -> Result<()> {
        let fates = events.iter().filter(|event| event.what.is_lifecycle_event());
        let lines: Vec<String> = fates.map(format_event).collect();
        if lines.is_empty() {
            return Ok(());
        }
        if left {
            let mark = format!("\n# {name}\n");
            for log in self.logs()? {
                if memmem::find(&read_log(&log)?, mark.as_bytes()).is_some() {
                    return Ok(());
                }
            }
        }
        let current = self.dir.join(CURRENT);
        if std::fs::metadata(&current).is_ok_and(|log| log.len() >= PART_LEN) {
            fsx::rename(&current, &self.dir.join(format!("{name}.log")))?;
            let closed = self.logs()?;
            for oldest in &closed[..closed.len().saturating_sub(PARTS)] {
                fsx::remove(oldest)?;
            }
        }
        // A truncated previous line may look complete, but not with a space at its end.
        let mut text = format!(" \n# {name}\n");
        // The last lines that fit into one log.
        let mut room = usize::try_from(PART_LEN).unwrap_or(usize::MAX);
        let fits = |line: &&String| {
            let left = room.checked_sub(line.len());
            room = left.unwrap_or(0);
            left.is_some()
        };
        let count = lines.iter().rev().take_while(fits).count();
        text.extend(lines[lines.len() - count..].iter().map(String::as_str));
        fsx::append_shared(&current, text.as_bytes(), u64::MAX).map(drop)
    }

    /// All logs, the oldest first: names begin with a digit, and so sort before `current.log`.
    pub(super) fn logs(&self) -> Result<Vec<PathBuf>> {
        files_of(&self.dir, "log")
    }
}

/// The events of `id` in one log, in its order. Only lines that contain it are parsed.
pub(super) fn events_in(log: &Path, id: &EntryId) -> Result<Vec<EntryEvent>> {
    let text = read_log(log)?;
    let mark = search_text_for(id);
    let (mut events, mut seen) = (Vec::new(), 0);
    for at in memmem::find_iter(&text, mark.as_bytes()) {
        // The key may be part of another one, or of a detail.
        if at < seen {
            continue;
        }
        let start = memchr::memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1);
        let Some(len) = memchr::memchr(b'\n', &text[at..]) else { break };
        seen = at + len;
        let line = str::from_utf8(&text[start..seen]).ok();
        let event = line.and_then(parse_event);
        events.extend(event.filter(|event| event.id == *id && event.what.is_lifecycle_event()));
    }
    Ok(events)
}

/// The contents of a log; empty if it was folded meanwhile and its lines have moved on.
fn read_log(log: &Path) -> Result<Vec<u8>> {
    match fsx::read_start(log, super::MAX_LOG_LEN) {
        Err(error) if error.kind() == ErrorKind::Io && !log.exists() => Ok(Vec::new()),
        read => read,
    }
}
