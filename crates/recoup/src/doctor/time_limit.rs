//! Runs work with a time limit. Work that takes longer goes on, on a thread that ends with the
//! process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Reason for a missing result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimeLimitError {
    /// The time was up.
    TooLate,
    /// The work panicked, or its thread could not be started.
    Failed,
}

/// Runs `act` on a thread, and returns its result if it comes in time.
pub(super) fn run_with_limit<T: Send + 'static>(
    limit: Duration,
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, TimeLimitError> {
    let (answer, arrived) = mpsc::sync_channel(1);
    let work = move || {
        // The receiver may have given up.
        let _ = answer.send(act());
    };
    thread::Builder::new().spawn(work).map_err(|_| TimeLimitError::Failed)?;
    arrived.recv_timeout(limit).map_err(|why| match why {
        RecvTimeoutError::Timeout => TimeLimitError::TooLate,
        RecvTimeoutError::Disconnected => TimeLimitError::Failed,
    })
}
