//! Nothing here is waited for without end: what takes too long goes on without us, on a thread
//! that ends with the process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lost {
    /// The time was up.
    TooLate,
    /// It panicked, or there is no thread for it.
    Failed,
}

/// What `act` returns, if it does so in time.
pub(super) fn within<T: Send + 'static>(
    limit: Duration,
    act: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Lost> {
    let (answer, arrived) = mpsc::sync_channel(1);
    let work = move || {
        // Nobody may be waiting any more.
        let _ = answer.send(act());
    };
    thread::Builder::new().spawn(work).map_err(|_| Lost::Failed)?;
    arrived.recv_timeout(limit).map_err(|why| match why {
        RecvTimeoutError::Timeout => Lost::TooLate,
        RecvTimeoutError::Disconnected => Lost::Failed,
    })
}
