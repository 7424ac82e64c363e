//! Pending lines of a long-lived process, appended together when there are enough or the first has
//! waited long enough.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use super::LedgerInner;
use crate::base::clock::Deadline;

/// Number of lines that are appended at once.
const ENOUGH: usize = 64;
/// How long the first line waits.
const LONG: Duration = Duration::from_secs(1);
/// Maximum number of pending lines if they cannot be written; beyond it they are dropped.
const MOST: usize = 64 * ENOUGH;

/// Pending lines, and the thread that writes them.
#[derive(Debug, Default)]
pub(super) struct LineOutbox {
    waiting: Mutex<PendingLines>,
    /// Wakes the thread, which is started with the first line.
    bell: Mutex<Option<Sender<()>>>,
}

/// Lines for either log.
#[derive(Debug, Default)]
pub(super) struct PendingLines {
    pub(super) events: Vec<u8>,
    pub(super) hits: Vec<u8>,
    count: usize,
}

impl LineOutbox {
    /// Adds lines. Returns true if it is time to write them.
    pub(super) fn put(
        &self,
        inner: &Arc<LedgerInner>,
        add: impl FnOnce(&mut PendingLines) -> usize,
    ) -> bool {
        let mut waiting = self.waiting.lock();
        let was_empty = waiting.count == 0;
        waiting.count += add(&mut waiting);
        let is_full = waiting.count >= ENOUGH;
        drop(waiting);
        if is_full || !was_empty {
            return is_full;
        }
        let mut bell = self.bell.lock();
        if bell.is_none() {
            let (sender, rings) = mpsc::channel();
            let inner = Arc::downgrade(inner);
            let thread = thread::Builder::new().name("recoup-ledger".to_owned());
            if thread.spawn(move || flush_when_due(&inner, &rings)).is_ok() {
                *bell = Some(sender);
            }
        }
        // Without a thread, nobody would write them later.
        bell.as_ref().is_none_or(|bell| bell.send(()).is_err())
    }

    pub(super) fn take(&self) -> PendingLines {
        std::mem::take(&mut *self.waiting.lock())
    }

    /// Puts back lines that could not be written, before later ones.
    pub(super) fn put_back(&self, mut lines: PendingLines) {
        let mut waiting = self.waiting.lock();
        if lines.count + waiting.count <= MOST {
            lines.events.append(&mut waiting.events);
            lines.hits.append(&mut waiting.hits);
            lines.count += waiting.count;
            *waiting = lines;
        }
    }
}

/// Ends with the ledger, which then flushes by itself.
fn flush_when_due(inner: &Weak<LedgerInner>, rings: &Receiver<()>) {
    while rings.recv().is_ok() {
        let due = Deadline::after(LONG);
        loop {
            match rings.recv_timeout(due.remaining()) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // After an error the lines are put back, and tried with the next.
        if let Some(inner) = inner.upgrade() {
            let _ = inner.flush();
        }
    }
}
