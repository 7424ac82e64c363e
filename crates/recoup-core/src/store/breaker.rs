//! After repeated faults a server is left alone for a while, by every process
//! on the machine: nobody waits again for what somebody else has waited for.
//!
//! ```text
//! closed ── three faults in a row ──► open ── a pause ──► one caller tries
//!    ▲                                  ▲                      │
//!    └────────── it answers ────────────┼──────────────────────┤
//!                                       └── it does not, and the pause doubles
//! ```
//! What is known is in one small file, which is there only while there are
//! faults. A machine where it can't be written has a breaker for each process.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock, Deadline, Timestamp};
use crate::base::fsx::{self, FileLock};
use crate::base::text::shortened;
use crate::error::{Error, ErrorKind, Result};

/// So many faults in a row open it.
const THRESHOLD: u32 = 3;
/// The first pause, and the longest, in milliseconds.
const PAUSE: (u64, u64) = (5_000, 60_000);
/// How long a process goes by what it knows before it looks at the file again.
const LOOK: Duration = Duration::from_secs(1);
/// How long it waits to tell the others; then it keeps it to itself.
const WAIT: Duration = Duration::from_millis(20);
const MAX_LEN: u64 = 4_096;
/// The most of an error's words that is kept.
const MAX_WORDS: usize = 300;

/// Decides whether a server is asked.
#[derive(Debug)]
pub(super) struct Breaker {
    file: Option<PathBuf>,
    clock: Arc<dyn Clock>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    state: State,
    /// Whether the others could not be told of it.
    is_ours_alone: bool,
    /// When to look at the file again; none before the first look.
    look: Option<Deadline>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    /// In a row.
    faults: u32,
    /// Nobody asks before that.
    until: Timestamp,
    /// What the last one said.
    last: String,
}

impl State {
    fn is_open(&self) -> bool {
        self.faults >= THRESHOLD
    }

    /// Longer with each fault.
    fn pause(&self) -> u64 {
        let doublings = self.faults.saturating_sub(THRESHOLD).min(16);
        (PAUSE.0 << doublings).min(PAUSE.1)
    }

    /// Whether the pause goes on. One that is longer than any was not made by
    /// this clock.
    fn is_pausing(&self, now: Timestamp) -> bool {
        self.is_open() && now < self.until && self.until.millis_since(now) <= PAUSE.1
    }
}

impl Breaker {
    /// A breaker that the processes of this machine share through `file`.
    pub(super) fn new(file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { file, clock, known: Mutex::default() }
    }

    /// Whether the server may be asked; if not, until when, and why.
    pub(super) fn admit(&self) -> Result<()> {
        let mut known = self.known();
        if known.look.is_none_or(Deadline::passed) {
            self.look(&mut known);
        }
        if !known.state.is_open() || self.may_try(&mut known) {
            return Ok(());
        }
        let State { faults, until, last } = &known.state;
        let wait = until.millis_since(self.clock.now()).div_ceil(1_000);
        Err(Error::new(
            ErrorKind::Unavailable,
            format!("not asked for another {wait} s, after {faults} faults; the last was: {last}"),
        ))
    }

    /// One caller at a time tries: it moves the others' turn back.
    fn may_try(&self, known: &mut Known) -> bool {
        let now = self.clock.now();
        if known.state.is_pausing(now) {
            return false;
        }
        let lock = self.lock();
        self.look(known);
        if known.state.is_pausing(now) {
            return false;
        }
        // Whoever has the lock is about to try; but nobody has it for that long.
        if lock.is_held() && now.millis_since(known.state.until) <= PAUSE.1 {
            return false;
        }
        if known.state.is_open() {
            known.state.until = now.plus_millis(known.state.pause());
            self.tell(known, &lock);
        }
        true
    }

    /// The server did not answer, or not usefully.
    pub(super) fn note_fault(&self, error: &Error) {
        let mut known = self.known();
        let lock = self.lock();
        self.look(&mut known);
        let state = &mut known.state;
        state.faults = state.faults.saturating_add(1);
        state.until = self.clock.now().plus_millis(state.pause());
        state.last = shortened(&error.to_string(), MAX_WORDS).into_owned();
        self.tell(&mut known, &lock);
    }

    /// It answered.
    pub(super) fn note_answer(&self) {
        let mut known = self.known();
        if known.state == State::default() {
            return;
        }
        known.state = State::default();
        known.is_ours_alone = false;
        if let Some(file) = &self.file {
            // Whoever can't remove it finds out again by asking.
            let _ = fsx::remove(file);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Replaced as a whole; no panic leaves half of it.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What all processes know. Where there is no file, or it can't be read, we
    /// go by what we know ourselves.
    fn look(&self, known: &mut Known) {
        let Some(file) = &self.file else { return };
        known.look = Some(Deadline::after(LOOK));
        let state = match fsx::read_regular(file, MAX_LEN) {
            Ok(Some(json)) => serde_json::from_slice(&json).unwrap_or_default(),
            Ok(None) => State::default(),
            Err(_) => return,
        };
        if !known.is_ours_alone || state.until > known.state.until {
            *known = Known { state, is_ours_alone: false, look: known.look };
        }
    }

    fn lock(&self) -> Lock {
        let Some(file) = &self.file else { return Lock::Impossible };
        let lock = fsx::ensure_dir(fsx::parent(file))
            .and_then(|()| FileLock::acquire(&lock_of(file), Deadline::after(WAIT)));
        match lock {
            Ok(lock) => Lock::Ours { _held: lock },
            Err(error) if error.kind() == ErrorKind::Locked => Lock::Held,
            Err(_) => Lock::Impossible,
        }
    }

    /// Without the lock it stays with us.
    fn tell(&self, known: &mut Known, lock: &Lock) {
        let told = match (&self.file, lock) {
            (Some(file), Lock::Ours { .. }) => {
                let json =
                    serde_json::to_vec(&known.state).expect("text and numbers always serialize");
                fsx::write_whole(file, &json).is_ok()
            }
            _ => false,
        };
        known.is_ours_alone = !told;
    }
}

/// A server that nobody asks at the moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pausing {
    /// Faults in a row.
    pub faults: u32,
    /// It is asked again then.
    pub until: Timestamp,
    /// What the last fault said.
    pub last: String,
}

/// The servers that the processes of this machine leave alone now, as files in `dir` say it.
pub fn pausing(dir: &Path, now: Timestamp) -> Vec<Pausing> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let state = |path: PathBuf| {
        let json = fsx::read_regular(&path, MAX_LEN).ok().flatten()?;
        serde_json::from_slice::<State>(&json).ok()
    };
    let states = entries.filter_map(|entry| state(entry.path()));
    states
        .filter(|state| state.is_pausing(now))
        .map(|State { faults, until, last }| Pausing { faults, until, last })
        .collect()
}

/// The right to change what all know.
enum Lock {
    Ours {
        _held: FileLock,
    },
    /// By another.
    Held,
    /// There is no file, or it can't be written.
    Impossible,
}

impl Lock {
    fn is_held(&self) -> bool {
        matches!(self, Self::Held)
    }
}

fn lock_of(file: &Path) -> PathBuf {
    fsx::with_suffix(file, ".lock")
}
