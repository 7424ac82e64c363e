//! Lines that wait to be appended together, in a process that lives long: until
//! there are enough of them, or the first has waited long enough.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use super::Inner;
use crate::base::clock::Deadline;

/// So many lines are appended at once.
const ENOUGH: usize = 64;
/// So long the first of them waits.
const LONG: Duration = Duration::from_secs(1);
/// So many wait when they can't be written; then they go.
const MOST: usize = 64 * ENOUGH;

/// What waits.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: Mutex<Lines>,
    /// Wakes the thread that empties it; there is one from the first line on.
    bell: Mutex<Option<Sender<()>>>,
}

/// Lines for either log.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) events: Vec<u8>,
    pub(super) hits: Vec<u8>,
    count: usize,
}

impl Outbox {
    /// Puts lines in; says whether it is time to take them out.
    pub(super) fn put(&self, inner: &Arc<Inner>, add: impl FnOnce(&mut Lines) -> usize) -> bool {
        let mut waiting = lock(&self.waiting);
        let was_empty = waiting.count == 0;
        waiting.count += add(&mut waiting);
        let is_full = waiting.count >= ENOUGH;
        drop(waiting);
        // Without a thread nobody comes later.
        is_full || (was_empty && !self.ring(inner))
    }

    pub(super) fn take(&self) -> Lines {
        std::mem::take(&mut *lock(&self.waiting))
    }

    /// Puts back what could not be written, before what came since.
    pub(super) fn put_back(&self, mut lines: Lines) {
        let mut waiting = lock(&self.waiting);
        if lines.count + waiting.count <= MOST {
            lines.events.append(&mut waiting.events);
            lines.hits.append(&mut waiting.hits);
            lines.count += waiting.count;
            *waiting = lines;
        }
    }

    /// Whether somebody hears it.
    fn ring(&self, inner: &Arc<Inner>) -> bool {
        let mut bell = lock(&self.bell);
        if bell.is_none() {
            let (sender, rings) = mpsc::channel();
            let inner = Arc::downgrade(inner);
            let thread = thread::Builder::new().name("recoup-ledger".to_owned());
            if thread.spawn(move || empty_when_due(&inner, &rings)).is_ok() {
                *bell = Some(sender);
            }
        }
        bell.as_ref().is_some_and(|bell| bell.send(()).is_ok())
    }
}

/// Ends with the ledger, which empties it by itself then.
fn empty_when_due(inner: &Weak<Inner>, rings: &Receiver<()>) {
    while rings.recv().is_ok() {
        let due = Deadline::after(LONG);
        loop {
            match rings.recv_timeout(due.remaining()) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // What can't be written now is put back, and tried with the next.
        if let Some(inner) = inner.upgrade() {
            let _ = inner.flush();
        }
    }
}

/// Lines are put in whole; no panic leaves half of one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
