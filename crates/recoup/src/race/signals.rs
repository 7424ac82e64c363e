//! Signals that ask us to end, and SIGCHLD for commands that have ended.

use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recoup_core::Result;
use recoup_core::error::IoContext as _;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level::pipe};

use crate::process::signals::IgnoredSignals;

/// Signals that ask us to end.
const TERMINATING_SIGNALS: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];

/// Receiver of signals.
#[derive(Debug)]
pub(super) struct RaceSignals {
    wake: UnixStream,
    last: Arc<AtomicUsize>,
}

impl RaceSignals {
    /// Starts to receive signals, except those that were ignored when we were started (`nohup`).
    pub(super) fn listen() -> Result<Self> {
        let listening = || "listening for signals".to_owned();
        let (wake, write) = UnixStream::pair().with_context(listening)?;
        wake.set_nonblocking(true).with_context(listening)?;
        let (last, ignored) = (Arc::new(AtomicUsize::new(0)), IgnoredSignals::at_start());
        for signal in TERMINATING_SIGNALS.into_iter().filter(|signal| ignored.is_delivered(*signal))
        {
            // The flag first: it must be set when the pipe wakes us.
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&last), number).with_context(listening)?;
            pipe::register(signal, write.try_clone().with_context(listening)?)
                .with_context(listening)?;
        }
        pipe::register(SIGCHLD, write).with_context(listening)?;
        Ok(Self { wake, last })
    }

    /// Readable when a signal has arrived.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Discards the wake-ups so far.
    pub(super) fn drain(&self) {
        let mut told = [0; 64];
        while (&self.wake).read(&mut told).is_ok_and(|read| read > 0) {}
    }

    /// The last signal that asked us to end since the previous call.
    pub(super) fn take_terminating_signal(&self) -> Option<i32> {
        match self.last.swap(0, Ordering::SeqCst) {
            0 => None,
            signal => i32::try_from(signal).ok(),
        }
    }
}
