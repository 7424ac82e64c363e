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

mod follow;
mod history;
mod outbox;
mod rolling;

use std::collections::hash_map::Entry;
use std::fs::{self, DirEntry, File, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memchr::memmem;

use crate::base::clock::{Clock as _, Deadline, SystemClock, Timestamp};
use crate::base::digest::Sha256Digest;
use crate::base::fsx::{self, FileLock};
use crate::base::name::SafeName;
use crate::base::name::fresh_id;
use crate::base::text::shorten_text;
use crate::entry::{EntryEvent, EntryEventKind, EventBatch, EventDetail, Header, ProducerIdentity};
use crate::error::{Error, ErrorKind, IoContext as _, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use crate::secrets;
use history::LedgerHistory;
use outbox::{LineOutbox, PendingLines};
use rolling::VerifiedFiles;

pub use follow::{LedgerCondition, LedgerFollower, inspect};
pub use rolling::{HitLog, HitRecord, RollingLog};

const OPEN: &str = "open.log";
const CLOSED: &str = "batch";
const FOLDED: &str = "told";
/// An open log of this length is folded at the next write, whatever is in it.
const LONG_LOG: usize = 32 << 10;
/// Maximum length of the open log; one that is not folded stops growing there.
const MAX_LOG_LEN: u64 = 16 << 20;
/// How often an append is repeated because the file was closed meanwhile.
const APPEND_TRIES: usize = 10;
/// How long a closer waits for appenders, each of which needs microseconds.
const CLOSE_WAIT: Duration = Duration::from_secs(1);
/// How long a log is kept for followers, in milliseconds. They poll several times a second.
const KEEP_MILLIS: u64 = 10_000;
/// Bytes handed to the store at once: about a thousand events.
const SLICE: usize = 128 << 10;
/// Maximum length of a recorded name or path, in characters.
const MAX_NAME: usize = 120;

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
        let lines: String = events.iter().map(format_event).collect();
        match &self.inner.outbox {
            None => self.inner.append(lines.as_bytes()),
            Some(outbox) => self.queue_lines(outbox, |waiting| {
                waiting.events.extend_from_slice(lines.as_bytes());
                events.len()
            }),
        }
    }

    /// Records that the entry `id` was served at `at`, to `reader` if it has a name.
    pub(crate) fn record_hit(
        &self,
        at: Timestamp,
        id: &EntryId,
        header: &Header,
        reader: Option<&ProducerIdentity>,
    ) -> Result<()> {
        let Some(outbox) = &self.inner.outbox else {
            let hit = HitEvent::new(at, id, header, reader);
            let appended = self.append_event(&hit.event);
            return appended.and(self.log_hit(&hit.record(at, header)));
        };
        let has_log = self.inner.hits.is_some();
        self.queue_lines(outbox, |PendingLines { served, hits, .. }| {
            let mut lines = usize::from(has_log);
            let hit = match served.entry((id.clone(), header.created, reader.cloned())) {
                Entry::Occupied(known) => {
                    let hit = known.into_mut();
                    (hit.event.at, hit.event.count) = (at, hit.event.count + 1);
                    hit
                }
                Entry::Vacant(place) => {
                    lines += 1;
                    place.insert(HitEvent::new(at, id, header, reader))
                }
            };
            if has_log {
                hits.extend_from_slice(&rolling::format_hit(&hit.record(at, header)));
            }
            lines
        })
    }

    /// Appends a hit to the hit log, if there is one.
    pub fn log_hit(&self, hit: &HitRecord<'_>) -> Result<()> {
        match (&self.inner.hits, &self.inner.outbox) {
            (None, _) => Ok(()),
            (Some(log), None) => log.append(&rolling::format_hit(hit)),
            (Some(_), Some(outbox)) => self.queue_lines(outbox, |waiting| {
                waiting.hits.extend_from_slice(&rolling::format_hit(hit));
                1
            }),
        }
    }

    fn queue_lines(
        &self,
        outbox: &LineOutbox,
        add: impl FnOnce(&mut PendingLines) -> usize,
    ) -> Result<()> {
        if outbox.put(&self.inner, add) { self.inner.flush(false) } else { Ok(()) }
    }

    /// True if reading a source file of this size is cheaper than looking it up among the verified
    /// ones.
    pub(crate) fn is_cheaper_to_read(&self, size: u64) -> bool {
        self.inner.verified.is_cheaper_to_read(size)
    }

    /// True if a source file in that state is known to be unchanged.
    pub(crate) fn is_verified(&self, state: &Sha256Digest) -> bool {
        self.inner.verified.contains(state)
    }

    /// Records that a source file in that state is unchanged; visible to other processes after
    /// [`Ledger::save_verified`].
    pub(crate) fn mark_verified(&self, state: Sha256Digest) {
        self.inner.verified.add(state);
    }

    /// Appends the states marked since the last call.
    pub(crate) fn save_verified(&self) -> Result<()> {
        self.inner.verified.save()
    }

    /// Appends pending lines.
    pub fn flush(&self) -> Result<()> {
        self.inner.flush(true)
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
        let fresh = fresh_id(&SystemClock);
        if most == usize::MAX || self.inner.logs_in_state(CLOSED)?.is_empty() {
            let (open, closed) = (self.inner.open_log(), dir.join(format!("{fresh}.{CLOSED}")));
            if open.exists() {
                fsx::rename_and_settle(&open, &closed, Deadline::after(CLOSE_WAIT))?;
            }
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
            retire_batch(&path)?;
        }
        for (_, path) in self.inner.logs_in_state(FOLDED)? {
            remove_if_old(&path)?;
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

/// Hits of an entry by one reader, with both names as they are recorded.
#[derive(Debug)]
struct HitEvent {
    event: EntryEvent,
    current: Option<ProducerIdentity>,
    stored: ProducerIdentity,
}

impl HitEvent {
    fn new(
        at: Timestamp,
        id: &EntryId,
        header: &Header,
        reader: Option<&ProducerIdentity>,
    ) -> Self {
        let Header { created, kind, identity, cost, .. } = header;
        let (current, stored) = (reader.map(redacted_identity), redacted_identity(identity));
        let by = current.as_ref().and_then(|current| current.name.clone());
        let stored_by = stored.name.clone().filter(|stored| by.as_ref() != Some(stored));
        // A request without a name is attributed to the producer of the entry.
        let (by, stored_by) = if by.is_none() { (stored_by, None) } else { (by, stored_by) };
        let age = Some(at.millis_since(*created));
        let detail = EventDetail { by, stored_by, age, cost: *cost, ..EventDetail::default() };
        let event = EntryEvent::new(at, id.clone(), *kind, EntryEventKind::Hit);
        Self { event: EntryEvent { detail, ..event }, current, stored }
    }

    /// One of these hits, for the hit log.
    fn record(&self, at: Timestamp, header: &Header) -> HitRecord<'_> {
        HitRecord {
            at,
            kind: header.kind,
            id: &self.event.id,
            age: at.millis_since(header.created),
            current: self.current.as_ref(),
            stored: &self.stored,
            saved: header.cost,
        }
    }
}

impl LedgerInner {
    fn open_log(&self) -> PathBuf {
        self.dir.join(OPEN)
    }

    fn append(&self, lines: &[u8]) -> Result<()> {
        append_lines(&self.open_log(), lines, MAX_LOG_LEN, "closed")
    }

    /// Appends pending lines, and hits that are still being counted if `everything` is wanted.
    fn flush(&self, everything: bool) -> Result<()> {
        let Some(outbox) = &self.outbox else { return Ok(()) };
        let mut lines = outbox.take(everything);
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
        let files = files_of(&self.dir, state)?.into_iter();
        let name = |path: &Path| SafeName::parse("batch", path.file_stem()?.to_str()?).ok();
        Ok(files.filter_map(|path| Some((name(&path)?, path))).collect())
    }
}

/// Flushes pending lines at the end of a long-lived process.
impl Drop for LedgerInner {
    fn drop(&mut self) {
        let _ = self.flush(true);
    }
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
        let reading = || format!("cannot read {}", path.display());
        let (batch, start) = match name.as_str().rsplit_once('-') {
            Some((batch, at)) => (batch, at.parse().unwrap_or(0)),
            None => (name.as_str(), 0),
        };
        let file = File::open(path).with_context(reading)?;
        // Concurrent appends may exceed the limit by a line each.
        let end = file.metadata().with_context(reading)?.len().min(MAX_LOG_LEN);
        let mut text =
            vec![0; SLICE.min(usize::try_from(end.saturating_sub(start)).unwrap_or(SLICE))];
        file.read_exact_at(&mut text, start).with_context(reading)?;
        let len = memchr::memrchr(b'\n', &text).map_or(text.len(), |end| end + 1);
        let next = start + len as u64;
        let rest = (next < end && len > 0).then(|| format!("{batch}-{next:010}"));
        let rest = rest.map(|rest| SafeName::parse("batch", &rest)).transpose()?;
        Ok(Self { events: parse_events(&text[..len]).collect(), len, rest })
    }
}

/// An event as a line: `MILLIS WHAT COUNT KIND SCOPE KEY`, followed by a JSON object if there are
/// details. None of the first fields can contain a space or a line break, and compact JSON has no
/// line break, so nothing is quoted.
fn format_event(event: &EntryEvent) -> String {
    let EntryEvent { at, id, kind, what, count, detail } = event;
    let mut line = format!("{} {what} {count} {kind} {} {}", at.as_millis(), id.scope, id.key);
    if !detail.is_empty() {
        line.push(' ');
        line.push_str(&serde_json::to_string(detail).expect("text and numbers always serialize"));
    }
    line.push('\n');
    line
}

/// The name of a producer or reader, as it is recorded.
pub(crate) fn name_of(identity: Option<&ProducerIdentity>) -> Option<String> {
    identity.and_then(|identity| identity.name.as_deref()).map(redact_and_shorten)
}

fn redacted_identity(identity: &ProducerIdentity) -> ProducerIdentity {
    let ProducerIdentity { name, namespace, hash } = identity;
    let tidy = |text: &Option<String>| text.as_deref().map(redact_and_shorten);
    ProducerIdentity { name: tidy(name), namespace: tidy(namespace), hash: tidy(hash) }
}

/// Redacts and shortens a text that came from a caller.
pub(crate) fn redact_and_shorten(text: &str) -> String {
    // Redact before shortening: a cut-off secret may no longer match its rule.
    shorten_text(&secrets::redact(text), MAX_NAME).into_owned()
}

/// `None` if the line is not an event. Unknown fields of a later version are ignored; anything but
/// an object was cut off or is not ours.
fn parse_event(line: &str) -> Option<EntryEvent> {
    let mut fields = line.splitn(7, ' ');
    let at = Timestamp::from_millis(fields.next()?.parse().ok()?);
    let what = EntryEventKind::from_name(fields.next()?)?;
    let count = fields.next()?.parse().ok()?;
    let kind = Kind::from_name(fields.next()?)?;
    let scope = Scope::parse(fields.next()?).ok()?;
    let key = Key::parse(fields.next()?).ok()?;
    let detail = match fields.next() {
        None => EventDetail::default(),
        Some(json) if json.starts_with('{') => serde_json::from_str(json).ok()?,
        Some(_) => return None,
    };
    Some(EntryEvent { at, id: EntryId::new(scope, key), kind, what, count, detail })
}

/// All complete and readable lines of a log.
fn parse_events(text: &[u8]) -> impl Iterator<Item = EntryEvent> + '_ {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    let whole = lines.filter_map(|line| str::from_utf8(line).ok()?.strip_suffix('\n'));
    whole.filter_map(parse_event)
}

/// A text that occurs in the lines of `id`, and hardly anywhere else.
fn search_text_for(id: &EntryId) -> String {
    format!(" {} {}", id.scope, id.key)
}

/// Appends complete lines. The appender holds a shared lock, and checks after taking it that the
/// file is still the one of that name; a closer renames the file first and then waits for the running
/// appends. So an append is repeated if the file was `moved` meanwhile.
fn append_lines(path: &Path, lines: &[u8], max_len: u64, moved: &str) -> Result<()> {
    for _ in 0..APPEND_TRIES {
        if fsx::append_shared(path, lines, max_len)? {
            return Ok(());
        }
    }
    Err(Error::new(
        ErrorKind::Locked,
        format!("other processes keep replacing {} (it was {moved})", path.display()),
    ))
}

/// Beside all ledgers, so that it covers later ones too.
fn watch_lock_in(ledgers: &Path) -> PathBuf {
    ledgers.join("watch.lock")
}

/// Removes a batch that was handed over, or keeps it for followers.
fn retire_batch(batch: &Path) -> Result<()> {
    // Followers hold the file shared. Without a file there never was one.
    let lock = File::open(watch_lock_in(fsx::parent(fsx::parent(batch))));
    if lock.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock))) {
        fsx::rename_unsynced(batch, &batch.with_extension(FOLDED))
    } else {
        fsx::remove(batch).map(drop)
    }
}

fn remove_if_old(told: &Path) -> Result<()> {
    // The rename to this name changed the ctime.
    let renamed = fs::symlink_metadata(told).map(|log| Timestamp::from_seconds(log.ctime()));
    if renamed.is_ok_and(|at| SystemClock.now().millis_since(at) > KEEP_MILLIS) {
        fsx::remove(told)?;
    }
    Ok(())
}

/// Everything in `dir`; nothing if it does not exist.
fn entries_of(dir: &Path) -> Result<Vec<DirEntry>> {
    match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries
            .and_then(Iterator::collect)
            .with_context(|| format!("cannot list {}", dir.display())),
    }
}

/// The files in `dir` with that extension, in order of name.
fn files_of(dir: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let paths = entries_of(dir)?.into_iter().map(|entry| entry.path());
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|end| end == ending);
    let mut files: Vec<PathBuf> = paths.filter(has_ending).filter(|path| path.is_file()).collect();
    files.sort_unstable();
    Ok(files)
}
