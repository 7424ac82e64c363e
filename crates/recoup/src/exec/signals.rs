//! Forwards signals to the command. This process outlives it, so that the command decides what they
//! do.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use recoup_core::Result;
use recoup_core::error::IoContext as _;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::Cause;

use crate::process::signals::IgnoredSignals;

/// Signals that ask a command to end: after one of them nothing is cached.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// Signals without a fixed meaning.
const OTHERS: [i32; 2] = [SIGUSR1, SIGUSR2];

/// Receiver of signals.
#[derive(Debug)]
pub(super) struct SignalReceiver {
    delivery: SignalDelivery<UnixStream, WithOrigin>,
}

/// One signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrivedSignal {
    pub(super) signal: i32,
    /// Sent by the terminal, to the command as well as to us.
    from_terminal: bool,
}

impl SignalReceiver {
    /// Starts to receive signals. Those that were ignored when this process started (`nohup`, `&`
    /// in a script) are not forwarded either.
    pub(super) fn listen(tty: bool) -> Result<Self> {
        let ignored = IgnoredSignals::at_start();
        let heeded = |signal: &i32| ignored.is_delivered(*signal);
        let passed_on = ENDING.into_iter().chain(OTHERS).filter(heeded);
        let ours = std::iter::once(SIGCHLD).chain(tty.then_some(SIGWINCH));
        let listening = || "listening for signals".to_owned();
        let (read, write) = UnixStream::pair().with_context(listening)?;
        let signals: Vec<i32> = passed_on.chain(ours).collect();
        let delivery = SignalDelivery::with_pipe(read, write, WithOrigin::default(), signals);
        Ok(Self { delivery: delivery.with_context(listening)? })
    }

    /// File descriptor that is readable when signals are pending.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// Last pending signal that asks to end.
    pub(super) fn pending_end_signal(&mut self) -> Option<i32> {
        let mut ending = self.take_pending().into_iter().filter(|arrived| arrived.is_ending());
        ending.next_back().map(|arrived| arrived.signal)
    }

    pub(super) fn take_pending(&mut self) -> Vec<ArrivedSignal> {
        let read = |origin: Origin| ArrivedSignal {
            signal: origin.signal,
            from_terminal: origin.cause == Cause::Kernel,
        };
        self.delivery.pending().map(read).collect()
    }
}

impl ArrivedSignal {
    /// True if it asks to end.
    pub(super) fn is_ending(self) -> bool {
        ENDING.contains(&self.signal)
    }

    pub(super) fn is_window_resize(self) -> bool {
        self.signal == SIGWINCH
    }

    /// Forwards it to the command, unless the terminal has done so already.
    pub(super) fn pass_on(self, child: Pid, shares_terminal: bool) {
        let has_it = shares_terminal
            && self.from_terminal
            && (self.signal == SIGINT || self.signal == SIGQUIT);
        let ours = self.signal == SIGCHLD || self.signal == SIGWINCH;
        if let Some(signal) = Signal::from_named_raw(self.signal).filter(|_| !ours && !has_it) {
            // The command may have ended already; it is not reaped yet.
            let _ = kill_process(child, signal);
        }
    }
}
