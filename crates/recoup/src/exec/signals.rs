//! Signals on their way to the command. We outlive it, so that what it does
//! about them is what counts.

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

use crate::process::signals::Ignored;

/// Those that ask a command to end: after one of them nothing is kept.
const ENDING: [i32; 4] = [SIGHUP, SIGINT, SIGQUIT, SIGTERM];
/// Those that mean what the command makes of them.
const OTHERS: [i32; 2] = [SIGUSR1, SIGUSR2];

/// What arrived, to be taken up one by one.
#[derive(Debug)]
pub(super) struct Signals {
    delivery: SignalDelivery<UnixStream, WithOrigin>,
}

/// One signal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrived {
    pub(super) signal: i32,
    /// Sent by the terminal, to the command as well as to us.
    from_terminal: bool,
}

impl Signals {
    /// From now on signals arrive here. Those that we were started without
    /// (`nohup`, `&` in a script) stay away from the command, too.
    pub(super) fn listen(tty: bool) -> Result<Self> {
        let ignored = Ignored::at_start();
        let heeded = |signal: &i32| ignored.lets_through(*signal);
        let passed_on = ENDING.into_iter().chain(OTHERS).filter(heeded);
        let ours = std::iter::once(SIGCHLD).chain(tty.then_some(SIGWINCH));
        let listening = || "listening for signals".to_owned();
        let (read, write) = UnixStream::pair().doing(listening)?;
        let signals: Vec<i32> = passed_on.chain(ours).collect();
        let delivery = SignalDelivery::with_pipe(read, write, WithOrigin::default(), signals);
        Ok(Self { delivery: delivery.doing(listening)? })
    }

    /// Readable when there is something.
    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// The last that asked for the end, of those that nobody has heeded yet.
    pub(super) fn asked_to_end(&mut self) -> Option<i32> {
        let mut ending = self.arrived().into_iter().filter(|arrived| arrived.is_ending());
        ending.next_back().map(|arrived| arrived.signal)
    }

    pub(super) fn arrived(&mut self) -> Vec<Arrived> {
        let read = |origin: Origin| Arrived {
            signal: origin.signal,
            from_terminal: origin.cause == Cause::Kernel,
        };
        self.delivery.pending().map(read).collect()
    }
}

impl Arrived {
    /// Whether it asks for the end.
    pub(super) fn is_ending(self) -> bool {
        ENDING.contains(&self.signal)
    }

    pub(super) fn is_new_size(self) -> bool {
        self.signal == SIGWINCH
    }

    /// Hands it to the command, unless the terminal has done so already.
    pub(super) fn pass_on(self, child: Pid, shares_terminal: bool) {
        let has_it = shares_terminal
            && self.from_terminal
            && (self.signal == SIGINT || self.signal == SIGQUIT);
        let ours = self.signal == SIGCHLD || self.signal == SIGWINCH;
        if let Some(signal) = Signal::from_named_raw(self.signal).filter(|_| !ours && !has_it) {
            // It may have ended meanwhile, and is not yet reaped.
            let _ = kill_process(child, signal);
        }
    }
}
