//! Following the events of all processes as they are recorded, and the condition of a ledger for
//! diagnostics.
//!
//! A log is identified by its inode, because its name changes: open, closed, handed over. It is
//! kept open while it has a name, so that its inode is not reused. While there are followers, a log
//! that was handed over is kept for a while, so that its last lines are seen too.

use std::collections::HashMap;
use std::fs::{self, DirEntry, File};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use super::{CLOSED, FOLDED, MAX_LOG_LEN, OPEN, entries_of, files_of, parse_events, watch_lock_in};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::entry::EntryEvent;
use crate::error::{IoContext as _, Result};

/// Maximum number of bytes read from a log at once.
const STEP: usize = 1 << 20;

/// Follows all ledgers in a directory, including later ones.
#[derive(Debug)]
pub struct LedgerFollower {
    dir: PathBuf,
    logs: HashMap<(u64, u64), FollowedLog>,
    /// Shared lock that tells other processes about this follower.
    _watching: File,
}

#[derive(Debug)]
struct FollowedLog {
    file: File,
    /// Offset up to which it has been read.
    read: u64,
}

impl LedgerFollower {
    /// Follows the events recorded from now on in the ledgers under `dir`.
    pub fn all_in(dir: impl Into<PathBuf>) -> Result<Self> {
        let dir = dir.into();
        fsx::ensure_dir(&dir)?;
        let lock = watch_lock_in(&dir);
        let watching = fsx::open_with_shared_lock(&lock)?;
        let mut follow = Self { dir, logs: HashMap::new(), _watching: watching };
        follow.find_logs()?;
        for log in follow.logs.values_mut() {
            log.read = log
                .file
                .metadata()
                .with_context(|| "cannot access a ledger file".to_owned())?
                .len();
        }
        Ok(follow)
    }

    /// The events since the last call, in order of time. Unreadable lines are skipped.
    pub fn poll_events(&mut self) -> Result<Vec<EntryEvent>> {
        self.find_logs()?;
        let mut events = Vec::new();
        let mut gone = Vec::new();
        for (id, log) in &mut self.logs {
            // Checked before the read: nobody appends to a file without a name, so that it is read
            // to its end. A listing would not do: the file may have been renamed meanwhile.
            let is_gone = log.file.metadata().is_ok_and(|found| found.nlink() == 0);
            log.read_new_lines(&mut events)?;
            gone.extend(is_gone.then_some(*id));
        }
        self.logs.retain(|id, _| !gone.contains(id));
        events.sort_by_key(|event| event.at);
        Ok(events)
    }

    /// Finds new logs.
    fn find_logs(&mut self) -> Result<()> {
        let is_log = |path: &Path| {
            path.file_name().is_some_and(|name| name == OPEN)
                || path.extension().is_some_and(|end| end == CLOSED || end == FOLDED)
        };
        for ledger in entries_of(&self.dir)? {
            if !ledger.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let paths = entries_of(&ledger.path())?.into_iter().map(|entry| entry.path());
            for path in paths.filter(|path| is_log(path)) {
                // Gone meanwhile, or not a file: nothing to read.
                let Ok(there) = fs::symlink_metadata(&path) else { continue };
                if self.logs.contains_key(&(there.dev(), there.ino())) || !there.is_file() {
                    continue;
                }
                let Ok(file) = File::open(&path) else { continue };
                // It may have been renamed between the two calls.
                let looking = || format!("cannot access {}", path.display());
                let held = file.metadata().with_context(looking)?;
                let id = (held.dev(), held.ino());
                self.logs.entry(id).or_insert(FollowedLog { file, read: 0 });
            }
        }
        Ok(())
    }
}

impl FollowedLog {
    /// Reads complete lines; a partial one is left until its end is there.
    fn read_new_lines(&mut self, events: &mut Vec<EntryEvent>) -> Result<()> {
        let reading = || "cannot read a ledger file".to_owned();
        let end = self.file.metadata().with_context(reading)?.len();
        if end <= self.read {
            return Ok(());
        }
        let room = usize::try_from(end - self.read).unwrap_or(STEP).min(STEP);
        let mut text = vec![0; room];
        loop {
            let len = self.file.read_at(&mut text, self.read).with_context(reading)?;
            let Some(end) = memchr::memrchr(b'\n', &text[..len]) else { return Ok(()) };
            events.extend(parse_events(&text[..=end]));
            self.read += end as u64 + 1;
            if self.read > MAX_LOG_LEN {
                return Ok(());
            }
        }
    }
}

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
    found.is_full = open_len.saturating_add(1 << 10) >= MAX_LOG_LEN;
    found.count_lines(&open)?;
    for batch in files_of(dir, CLOSED)? {
        found.batches += 1;
        let written = fs::metadata(&batch).ok().map(|it| Timestamp::from_seconds(it.mtime()));
        found.oldest = [found.oldest, written].into_iter().flatten().min();
        found.count_lines(&batch)?;
    }
    Ok(found)
}

impl LedgerCondition {
    fn count_lines(&mut self, log: &Path) -> Result<()> {
        let Some(text) = fsx::read_regular(log, MAX_LOG_LEN.saturating_mul(2))? else {
            return Ok(());
        };
        let lines = text.split_inclusive(|byte| *byte == b'\n').count() as u64;
        let sound = parse_events(&text).count() as u64;
        self.waiting += sound;
        self.unreadable += lines - sound;
        Ok(())
    }
}

fn bytes_in(dir: &Path) -> u64 {
    let entries = entries_of(dir).unwrap_or_default();
    let size = |entry: DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.into_iter().map(size).sum()
}
