//! A store behind a circuit breaker: after repeated faults no process on the machine calls a server
//! for a while, so that they do not all wait for the same time-out.
//!
//! ```text
//! closed ── three faults in a row ──► open ── a pause ──► one caller tries
//!    ▲                                  ▲                      │
//!    └────────── it answers ────────────┼──────────────────────┤
//!                                       └── it does not, and the pause doubles
//! ```
//! The state is in one small file, which exists only while there are faults. If it cannot be
//! written, each process has a breaker of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo,
};
use crate::base::clock::{Clock, Deadline, Timestamp};
use crate::base::fsx::{self, FileLock};
use crate::base::text::shorten_text;
use crate::entry::{ChunkSource, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{EntryId, Kind, Scope};

/// Number of consecutive faults that open the breaker.
const THRESHOLD: u32 = 3;
/// The first pause, and the longest, in milliseconds.
const PAUSE: (u64, u64) = (5_000, 60_000);
/// How long a process relies on its copy of the state before it reads the file again.
const LOOK: Duration = Duration::from_secs(1);
/// How long to wait for the file's lock before keeping a change to this process.
const WAIT: Duration = Duration::from_millis(20);
const MAX_LEN: u64 = 4_096;
/// Maximum length of a stored error message.
const MAX_WORDS: usize = 300;

/// `inner` behind a circuit breaker.
#[derive(Debug)]
pub struct GuardedStore {
    inner: Arc<dyn Store>,
    breaker: Arc<CircuitBreaker>,
}

impl GuardedStore {
    /// Wraps `inner`. The processes of a machine share the breaker's state through `file`.
    pub fn new(inner: Arc<dyn Store>, file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, breaker: Arc::new(CircuitBreaker::new(file, clock)) }
    }

    fn call_if_admitted<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let named = |error: Error| error.context(self.inner.info().url);
        self.breaker.admit().map_err(named)?;
        let done = act(&*self.inner);
        self.breaker.note_result(&done);
        done.map_err(named)
    }

    /// Guards a large body too, because it is read from the server later.
    fn guard_payload(&self, payload: StoredBody) -> StoredBody {
        match payload {
            StoredBody::Framed(body) => {
                let (breaker, url) = (Arc::clone(&self.breaker), self.inner.info().url);
                StoredBody::Framed(Arc::new(GuardedFrames { body, breaker, url }))
            }
            here => here,
        }
    }
}

/// A large body behind the same breaker.
#[derive(Debug)]
struct GuardedFrames {
    body: Arc<dyn ChunkSource>,
    breaker: Arc<CircuitBreaker>,
    url: String,
}

impl ChunkSource for GuardedFrames {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let named = |error: Error| error.context(self.url.clone());
        self.breaker.admit().map_err(named)?;
        let mut theirs = None;
        let done = self.body.for_each_chunk(&mut |frame| {
            visit(frame).map_err(|error| {
                // An error of the reader stops the server's stream, and is what the caller gets.
                theirs = Some(error);
                Error::new(ErrorKind::Io, "the reader stopped")
            })
        });
        self.breaker.note_result(&done);
        theirs.map_or_else(|| done.map_err(named), Err)
    }
}

impl Store for GuardedStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let found = self.call_if_admitted(|store| store.get(id))?;
        Ok(found.map(|record| match &record.payload {
            StoredBody::Framed(_) => {
                let mut record = EntryRecord::clone(&record);
                record.payload = self.guard_payload(record.payload);
                Arc::new(record)
            }
            _ => record,
        }))
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        Ok(self
            .call_if_admitted(|store| store.full_payload(id))?
            .map(|full| self.guard_payload(full)))
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.call_if_admitted(|store| store.put(id, record))
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.call_if_admitted(|store| store.remove(ids))
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.call_if_admitted(|store| store.clear(scope, gone))
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.call_if_admitted(|store| store.fold_batch(batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.call_if_admitted(|store| store.tallies(scope))
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.call_if_admitted(|store| store.scan(filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.call_if_admitted(|store| store.evict(plan))
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.call_if_admitted(|store| store.nearest(probe))
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.call_if_admitted(|store| store.usage(scope))
    }

    fn info(&self) -> StoreInfo {
        self.inner.info()
    }
}

/// Decides whether a server is called.
#[derive(Debug)]
pub(super) struct CircuitBreaker {
    file: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    known: Mutex<CachedState>,
}

#[derive(Debug, Default)]
struct CachedState {
    state: BreakerState,
    /// True if the state could not be written to the file.
    is_ours_alone: bool,
    /// When to read the file again; `None` before the first read.
    look: Option<Deadline>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct BreakerState {
    /// Number of consecutive faults.
    faults: u32,
    /// End of the pause.
    until: Timestamp,
    /// Message of the last fault.
    last: String,
}

impl BreakerState {
    fn is_open(&self) -> bool {
        self.faults >= THRESHOLD
    }

    /// The pause in milliseconds, which doubles with each fault.
    fn pause(&self) -> u64 {
        let doublings = self.faults.saturating_sub(THRESHOLD).min(16);
        (PAUSE.0 << doublings).min(PAUSE.1)
    }

    /// True during a pause. One longer than the maximum was written by a different clock.
    fn is_pausing(&self, now: Timestamp) -> bool {
        self.is_open() && now < self.until && self.until.millis_since(now) <= PAUSE.1
    }
}

impl CircuitBreaker {
    /// A breaker that the processes of this machine share through `file`.
    pub(super) fn new(file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { file, clock, known: Mutex::default() }
    }

    /// Ok if the server may be called; otherwise an error with the remaining pause and the last
    /// fault.
    pub(super) fn admit(&self) -> Result<()> {
        let mut known = self.known.lock();
        if known.look.is_none_or(Deadline::has_passed) {
            self.reload_state(&mut known);
        }
        if !known.state.is_open() || self.may_try(&mut known) {
            return Ok(());
        }
        let BreakerState { faults, until, last } = &known.state;
        let wait = until.millis_since(self.clock.now()).div_ceil(1_000);
        Err(Error::new(
            ErrorKind::Unavailable,
            format!("skipped for another {wait} s after {faults} errors; last error: {last}"),
        ))
    }

    /// Lets one caller at a time try, by extending the pause for the others.
    fn may_try(&self, known: &mut CachedState) -> bool {
        let now = self.clock.now();
        if known.state.is_pausing(now) {
            return false;
        }
        let lock = self.acquire_file_lock();
        self.reload_state(known);
        if known.state.is_pausing(now) {
            return false;
        }
        // The lock holder is about to try, but nobody holds it for long.
        if matches!(lock, BreakerLock::Held) && now.millis_since(known.state.until) <= PAUSE.1 {
            return false;
        }
        if known.state.is_open() {
            known.state.until = now.plus_millis(known.state.pause());
            self.publish_state(known, &lock);
        }
        true
    }

    /// Records the result of a call. Only an unavailable server counts as a fault; an error about a
    /// record is an answer.
    pub(super) fn note_result<T>(&self, done: &Result<T>) {
        let mut known = self.known.lock();
        match done {
            Err(error) if error.kind() == ErrorKind::Unavailable => {
                let lock = self.acquire_file_lock();
                self.reload_state(&mut known);
                let state = &mut known.state;
                state.faults = state.faults.saturating_add(1);
                state.until = self.clock.now().plus_millis(state.pause());
                state.last = shorten_text(&error.to_string(), MAX_WORDS).into_owned();
                self.publish_state(&mut known, &lock);
            }
            _ if known.state == BreakerState::default() => {}
            // An answer closes the breaker.
            _ => {
                known.state = BreakerState::default();
                known.is_ours_alone = false;
                if let Some(file) = &self.file {
                    // Best effort: a process that still finds the file retries the server.
                    let _ = fsx::remove(file);
                }
            }
        }
    }

    /// Reads the shared state. Without a readable file, this process's own state counts.
    fn reload_state(&self, known: &mut CachedState) {
        let Some(file) = &self.file else { return };
        known.look = Some(Deadline::after(LOOK));
        let state = match fsx::read_regular(file, MAX_LEN) {
            Ok(Some(json)) => serde_json::from_slice(&json).unwrap_or_default(),
            Ok(None) => BreakerState::default(),
            Err(_) => return,
        };
        if !known.is_ours_alone || state.until > known.state.until {
            *known = CachedState { state, is_ours_alone: false, look: known.look };
        }
    }

    fn acquire_file_lock(&self) -> BreakerLock {
        let Some(file) = &self.file else { return BreakerLock::Impossible };
        let lock = fsx::ensure_dir(fsx::parent(file)).and_then(|()| {
            FileLock::acquire(&fsx::with_suffix(file, ".lock"), Deadline::after(WAIT))
        });
        match lock {
            Ok(lock) => BreakerLock::Ours { _held: lock },
            Err(error) if error.kind() == ErrorKind::Locked => BreakerLock::Held,
            Err(_) => BreakerLock::Impossible,
        }
    }

    /// Writes the state to the file. Without the lock it stays with this process.
    fn publish_state(&self, known: &mut CachedState, lock: &BreakerLock) {
        let told = match (&self.file, lock) {
            (Some(file), BreakerLock::Ours { .. }) => {
                let json =
                    serde_json::to_vec(&known.state).expect("text and numbers always serialize");
                fsx::write_unsynced(file, &json).is_ok()
            }
            _ => false,
        };
        known.is_ours_alone = !told;
    }
}

/// A server that is not called at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PausedServer {
    /// Number of consecutive faults.
    pub faults: u32,
    /// End of the pause.
    pub until: Timestamp,
    /// Message of the last fault.
    pub last: String,
}

/// The servers that the processes of this machine do not call now, from the files in `dir`.
pub fn paused_servers(dir: &Path, now: Timestamp) -> Vec<PausedServer> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let state = |path: PathBuf| {
        let json = fsx::read_regular(&path, MAX_LEN).ok().flatten()?;
        serde_json::from_slice::<BreakerState>(&json).ok()
    };
    let states = entries.filter_map(|entry| state(entry.path()));
    states
        .filter(|state| state.is_pausing(now))
        .map(|BreakerState { faults, until, last }| PausedServer { faults, until, last })
        .collect()
}

/// Lock on the shared state.
enum BreakerLock {
    Ours {
        _held: FileLock,
    },
    /// Held by another process.
    Held,
    /// No file, or not writable.
    Impossible,
}
