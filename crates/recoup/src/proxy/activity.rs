//! Signs of life of a session, which tell its end from a pause.

use std::io::{self, Read};
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Pauses between checks for an end that is mostly near.
pub(super) fn growing_pauses() -> impl Iterator<Item = Duration> {
    let doubled = |pause: &Duration| Some((*pause * 2).min(Duration::from_millis(2)));
    iter::successors(Some(Duration::from_micros(50)), doubled)
}

/// Steps between server and client: those that are done, and those under way.
#[derive(Debug, Default)]
pub(super) struct SessionActivity {
    steps_done: AtomicU64,
    under_way: AtomicUsize,
}

impl SessionActivity {
    /// Begins a step, which lasts until the value is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> ActiveStep {
        self.under_way.fetch_add(1, Ordering::AcqRel);
        ActiveStep(Arc::clone(self))
    }

    /// True while a line of the server is handled or anything is written to the client.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.load(Ordering::Acquire) > 0
    }

    pub(super) fn steps_done(&self) -> u64 {
        self.steps_done.load(Ordering::Acquire)
    }
}

/// A step that is under way.
#[derive(Debug)]
pub(super) struct ActiveStep(Arc<SessionActivity>);

impl Drop for ActiveStep {
    fn drop(&mut self) {
        self.0.steps_done.fetch_add(1, Ordering::AcqRel);
        self.0.under_way.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A stream whose reads count as steps.
#[derive(Debug)]
pub(super) struct WatchedReader<R> {
    pub(super) inner: R,
    pub(super) activity: Arc<SessionActivity>,
}

impl<R: Read> Read for WatchedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.activity.steps_done.fetch_add(1, Ordering::AcqRel);
        Ok(read)
    }
}
