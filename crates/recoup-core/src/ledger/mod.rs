//! Log of cache events: hits, misses and their reasons, stored and evicted entries. Each event is
//! appended as a line; the next write hands all lines to the store, each exactly once.
//!
//! ```text
//! DIR/open.log        lines are appended here
//! DIR/NAME.batch      closed; on its way into the store
//! DIR/NAME-AT.batch   likewise; everything before that byte is in the store
//! DIR/NAME.told       handed over; left for followers, and soon removed
//! DIR/fold.lock       held by the one process that folds
//! DIR/history/        fates of entries, bounded in size
//! DIR/verified.log    source files that were read again and are unchanged
//! DIR/../watch.lock   shared by followers
//! ```
//! A long batch is handed over slice by slice, each under the name that its file has at that
//! moment; the file is renamed after each slice and removed at the end. After a crash in between, a
//! slice is handed over again and ignored by the store, which knows its name; so does the history.

mod event_line;
mod follow;
mod history;
mod hits;
mod inspect;
mod listing;
mod outbox;
mod rolling;
mod segment;
mod verified;
mod watchers;

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use memchr::memmem;

use crate::base::clock::SystemClock;
use crate::base::digest::Sha256Digest;
use crate::base::fsx::{self, FileLock};
use crate::base::ids;
use crate::base::name::SafeName;
use crate::entry::{EntryEvent, EntryEventKind, EventBatch};
use crate::error::{IoContext as _, Result};
use crate::key::EntryId;
use history::LedgerHistory;
use outbox::{LineOutbox, PendingLines};
use verified::VerifiedFiles;

pub use follow::LedgerFollower;
pub use hits::{HitLog, HitRecord};
pub use inspect::{LedgerCondition, inspect};
pub use rolling::RollingLog;

const OPEN: &str = "open.log";
const CLOSED: &str = "batch";
const FOLDED: &str = "told";

/// An open log of this length is folded at the next write, whatever is in it.
const LONG_LOG: usize = 32 << 10;

/// Bytes handed to the store at once: about a thousand events.
const SLICE: usize = 128 << 10;

/// A directory of events that have not been handed to a store. Clones share pending lines.
#[derive(Debug, Clone)]
pub struct Ledger {
    inner: Arc<LedgerInner>,
}

/// When lines are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppendMode {
    /// Each at once: for a command, which may end at any moment.
    AtOnce,
    /// Several together: for a long-lived process. Pending lines are appended within a second, at a
    /// fold, at [`Ledger::flush`], and when the last clone is dropped.
    Together,
}

#[derive(Debug)]
struct LedgerInner {
    dir: PathBuf,
    hits: Option<HitLog>,
    outbox: Option<LineOutbox>,
    verified: VerifiedFiles,
}

impl Ledger {
    /// The ledger in `dir`, which is created with the first event.
    pub fn at(dir: impl Into<PathBuf>) -> Self {
        Self::open(dir, None, AppendMode::AtOnce)
    }

    /// A ledger with an optional hit log and another append mode.
    pub fn open(dir: impl Into<PathBuf>, hits: Option<HitLog>, appends: AppendMode) -> Self {
        let outbox = (appends == AppendMode::Together).then(LineOutbox::default);
        let dir = dir.into();
        let verified = VerifiedFiles::of(&dir);
        Self { inner: Arc::new(LedgerInner { dir, hits, outbox, verified }) }
    }

    /// Appends an event.
    pub fn append_event(&self, event: &EntryEvent) -> Result<()> {
        self.append_events(std::slice::from_ref(event))
    }

    /// Appends several events at once.
    pub fn append_events(&self, events: &[EntryEvent]) -> Result<()> {
        if events.is_empty() {
            return Ok(());
        }
        let lines: String = events.iter().map(event_line::format_event).collect();
        match &self.inner.outbox {
            None => self.inner.append(lines.as_bytes()),
            Some(outbox) => self.queue_lines(outbox, |waiting| {
                waiting.events.extend_from_slice(lines.as_bytes());
                events.len()
            }),
        }
    }

    /// True if hits are logged one by one.
    pub fn logs_hits(&self) -> bool {
        self.inner.hits.is_some()
    }

    /// Appends a hit to the hit log, if there is one.
    pub fn log_hit(&self, hit: &HitRecord<'_>) -> Result<()> {
        match (&self.inner.hits, &self.inner.outbox) {
            (None, _) => Ok(()),
            (Some(log), None) => log.append(&hits::format_hit(hit)),
            (Some(_), Some(outbox)) => self.queue_lines(outbox, |waiting| {
                waiting.hits.extend_from_slice(&hits::format_hit(hit));
                1
            }),
        }
    }

    fn queue_lines(
        &self,
        outbox: &LineOutbox,
        add: impl FnOnce(&mut PendingLines) -> usize,
    ) -> Result<()> {
        if outbox.put(&self.inner, add) { self.flush() } else { Ok(()) }
    }

    /// True if reading a source file of this size is cheaper than looking it up among the verified
    /// ones.
    pub fn is_cheaper_to_read(&self, size: u64) -> bool {
        self.inner.verified.is_cheaper_to_read(size)
    }

    /// True if a source file in that state is known to be unchanged.
    pub fn is_verified(&self, state: &Sha256Digest) -> bool {
        self.inner.verified.contains(state)
    }

    /// Records that a source file in that state is unchanged; visible to other processes after
    /// [`Ledger::save_verified`].
    pub fn mark_verified(&self, state: Sha256Digest) {
        self.inner.verified.add(state);
    }

    /// Appends the states marked since the last call.
    pub fn save_verified(&self) -> Result<()> {
        self.inner.verified.save()
    }

    /// Appends pending lines.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush()
    }

    /// Hands all events to `tell`, batch by batch, and returns their number. Does nothing while
    /// another process folds.
    pub fn fold(&self, tell: impl FnMut(&EventBatch) -> Result<()>) -> Result<usize> {
        self.fold_bytes(usize::MAX, tell)
    }

    /// Hands over the oldest slice only, to bound the time. The open log is not touched before all
    /// closed ones have been handed over.
    pub fn fold_slice(&self, tell: impl FnMut(&EventBatch) -> Result<()>) -> Result<usize> {
        self.fold_bytes(SLICE, tell)
    }

    fn fold_bytes(
        &self,
        most: usize,
        mut tell: impl FnMut(&EventBatch) -> Result<()>,
    ) -> Result<usize> {
        self.flush()?;
        let LedgerInner { dir, .. } = &*self.inner;
        if !dir.is_dir() {
            return Ok(0);
        }
        let Some(_lock) = FileLock::try_acquire(&dir.join("fold.lock"))? else {
            return Ok(0);
        };
        let fresh = ids::fresh_id(&SystemClock);
        if most == usize::MAX || self.inner.logs_in_state(CLOSED)?.is_empty() {
            segment::close(&self.inner.open_log(), &dir.join(format!("{fresh}.{CLOSED}")))?;
        }
        let (mut events, mut bytes) = (0, 0);
        for (mut name, mut path) in self.inner.logs_in_state(CLOSED)? {
            loop {
                // Slices end with a line, so they may be a little shorter.
                if bytes >= most / 2 {
                    return Ok(events);
                }
                let slice = LedgerSlice::read(&path, &name)?;
                let batch = EventBatch { name: name.clone(), events: slice.events };
                tell(&batch)?;
                // Best effort: the counts matter, the history does not.
                let is_left = name.as_str() != fresh;
                let _ = LedgerHistory::of(dir).add(&name, &batch.events, is_left);
                events += batch.events.len();
                bytes += slice.len.max(1);
                let Some(rest) = slice.rest else { break };
                let rest_path = dir.join(format!("{rest}.{CLOSED}"));
                fsx::rename_unsynced(&path, &rest_path)?;
                (name, path) = (rest, rest_path);
            }
            watchers::retire_batch(&path)?;
        }
        for (_, path) in self.inner.logs_in_state(FOLDED)? {
            watchers::remove_if_old(&path)?;
        }
        Ok(events)
    }

    /// True if the store should get the events before it evicts: there were hits or damaged
    /// entries, the log is long, or a batch is pending.
    pub fn is_due(&self) -> bool {
        let _ = self.flush();
        let text = fsx::read_start(&self.inner.open_log(), LONG_LOG as u64).unwrap_or_default();
        let has =
            |what: EntryEventKind| memmem::find(&text, format!(" {what} ").as_bytes()).is_some();
        text.len() >= LONG_LOG
            || has(EntryEventKind::Hit)
            || has(EntryEventKind::Corrupt)
            || self.inner.logs_in_state(CLOSED).is_ok_and(|left| !left.is_empty())
    }

    /// The events of an entry, latest first: stored, refused, evicted, found changed or removed, as
    /// far back as the history reaches. Hits are in the entry itself and in the hit log.
    pub fn history(&self, id: &EntryId) -> Result<Vec<EntryEvent>> {
        self.flush()?;
        // Against the direction in which lines move: one that moves meanwhile is seen twice, not
        // missed.
        let mut logs = vec![self.inner.open_log()];
        logs.extend(self.inner.logs_in_state(CLOSED)?.into_iter().rev().map(|(_, path)| path));
        logs.extend(LedgerHistory::of(&self.inner.dir).logs()?.into_iter().rev());
        let mut found: Vec<EntryEvent> = Vec::new();
        for log in logs {
            let older = history::events_in(&log, id)?;
            let news = older.into_iter().rev().filter(|event| !found.contains(event));
            let news: Vec<EntryEvent> = news.collect();
            found.extend(news);
        }
        found.sort_by_key(|event| std::cmp::Reverse(event.at));
        Ok(found)
    }
}

impl LedgerInner {
    fn open_log(&self) -> PathBuf {
        self.dir.join(OPEN)
    }

    fn append(&self, lines: &[u8]) -> Result<()> {
        segment::append(&self.open_log(), lines)
    }

    fn flush(&self) -> Result<()> {
        let Some(outbox) = &self.outbox else { return Ok(()) };
        let mut lines = outbox.take();
        let mut done = Ok(());
        if !lines.events.is_empty() {
            match self.append(&lines.events) {
                Ok(()) => lines.events.clear(),
                failed => done = failed,
            }
        }
        if let Some(hits) = self.hits.as_ref().filter(|_| !lines.hits.is_empty()) {
            match hits.append(&lines.hits) {
                Ok(()) => lines.hits.clear(),
                failed => done = done.and(failed),
            }
        }
        if done.is_err() {
            outbox.put_back(lines);
        }
        done
    }

    /// The closed logs in one state, oldest first, including those of dead processes. Files with
    /// other names are ignored.
    fn logs_in_state(&self, state: &str) -> Result<Vec<(SafeName, PathBuf)>> {
        let files = listing::files_of(&self.dir, state)?.into_iter();
        Ok(files.filter_map(|path| Some((name_of(&path)?, path))).collect())
    }
}

/// Flushes pending lines at the end of a long-lived process.
impl Drop for LedgerInner {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

fn name_of(path: &Path) -> Option<SafeName> {
    SafeName::parse("batch", path.file_stem()?.to_str()?).ok()
}

/// A part of a closed log, from the offset in its name to the end of a line.
struct LedgerSlice {
    events: Vec<EntryEvent>,
    /// Length in bytes.
    len: usize,
    /// The name of the log after this part is in the store; `None` at its end.
    rest: Option<SafeName>,
}

impl LedgerSlice {
    /// Skips unreadable lines: they were cut off by a full disk, or are not ours. A line without
    /// its end may look complete, and is not.
    fn read(path: &Path, name: &SafeName) -> Result<Self> {
        let reading = || format!("reading {}", path.display());
        let (batch, start) = match name.as_str().rsplit_once('-') {
            Some((batch, at)) => (batch, at.parse().unwrap_or(0)),
            None => (name.as_str(), 0),
        };
        let file = File::open(path).with_context(reading)?;
        // Concurrent appends may exceed the limit by a line each.
        let end = file.metadata().with_context(reading)?.len().min(segment::MAX_LEN);
        let mut text =
            vec![0; SLICE.min(usize::try_from(end.saturating_sub(start)).unwrap_or(SLICE))];
        file.read_exact_at(&mut text, start).with_context(reading)?;
        let len = memchr::memrchr(b'\n', &text).map_or(text.len(), |end| end + 1);
        let next = start + len as u64;
        let rest = (next < end && len > 0).then(|| format!("{batch}-{next:010}"));
        let rest = rest.map(|rest| SafeName::parse("batch", &rest)).transpose()?;
        Ok(Self { events: event_line::parse_events(&text[..len]).collect(), len, rest })
    }
}
