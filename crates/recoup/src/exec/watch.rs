//! Watches a running command: one thread polls its streams, ours and signals.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::process::Child;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Pid;

use super::end::CommandEnd;
use super::record::OutputRecording;
use super::run::{FinishedRun, RunOutcome};
use super::signals::{ArrivedSignal, SignalReceiver};
use super::stream::FdForwarder;
use super::transcript::OutputStream;
use super::tty::{self, CommandTerminal};

/// How long a command that has ended may keep its output open in silence, held by a process that it
/// left behind.
const MAX_SILENCE: Duration = Duration::from_secs(2);
/// Interval of checks for the command's end: its signal may be blocked by our parent.
const CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Contents of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamRole {
    Said(OutputStream),
    Typed,
}

#[derive(Debug)]
pub(super) struct WatchedStream<'a> {
    what: StreamRole,
    stream: FdForwarder<'a>,
}

impl<'a> WatchedStream<'a> {
    pub(super) fn new(what: StreamRole, source: OwnedFd, sink: BorrowedFd<'a>) -> Self {
        Self { what, stream: FdForwarder::new(source, sink) }
    }

    fn is_output(&self) -> bool {
        self.what != StreamRole::Typed
    }
}

/// A running command.
pub(super) struct CommandWatch<'a> {
    child: Child,
    signals: &'a mut SignalReceiver,
    lines: Vec<WatchedStream<'a>>,
    record: Option<OutputRecording>,
    terminal: Option<&'a CommandTerminal>,
    end: Option<CommandEnd>,
    /// Deadline of the silence after its end.
    patience: Deadline,
    interrupted: bool,
    /// True if anything was typed: the output may be an answer to that.
    typed: bool,
}

impl<'a> CommandWatch<'a> {
    pub(super) fn new(
        child: Child,
        signals: &'a mut SignalReceiver,
        lines: Vec<WatchedStream<'a>>,
        record: Option<OutputRecording>,
        terminal: Option<&'a CommandTerminal>,
    ) -> Self {
        let patience = Deadline::after(MAX_SILENCE);
        Self {
            child,
            signals,
            lines,
            record,
            terminal,
            end: None,
            patience,
            interrupted: false,
            typed: false,
        }
    }

    pub(super) fn run_to_end(mut self) -> Result<FinishedRun> {
        loop {
            if let Some(end) = self.end.filter(|_| !self.expects_more()) {
                return Ok(FinishedRun { end, outcome: self.into_outcome() });
            }
            self.wait()?;
        }
    }

    /// True while output may come: until all writers have closed it, but not for ever.
    fn expects_more(&self) -> bool {
        // If the user ended it, do not wait for a slow reader either.
        let ended = self.interrupted && matches!(self.end, Some(CommandEnd::Signal(_)));
        !ended && (self.is_pending() || self.is_open() && !self.patience.has_passed())
    }

    fn is_pending(&self) -> bool {
        self.lines.iter().any(|line| line.is_output() && line.stream.is_pending())
    }

    fn is_open(&self) -> bool {
        self.lines.iter().any(|line| line.is_output() && line.stream.poll_fd().is_some())
    }

    /// Polls for signals and streams, and handles what is ready.
    fn wait(&mut self) -> Result<()> {
        let limit = match self.end {
            None => Some(timespec(CHECK_INTERVAL)),
            Some(_) if self.is_pending() => None,
            Some(_) => Some(timespec(self.patience.remaining())),
        };
        let awaited: Vec<Option<PollFd<'_>>> =
            self.lines.iter().map(|line| line.stream.poll_fd()).collect();
        let signals = self.signals.fd();
        let mut fds = vec![PollFd::from_borrowed_fd(signals, PollFlags::IN)];
        fds.extend(awaited.iter().flatten().cloned());
        let silent = match poll(&mut fds, limit.as_ref()) {
            Ok(ready) => ready == 0,
            Err(rustix::io::Errno::INTR) => false,
            Err(error) => {
                return Err(io::Error::from(error))
                    .with_context(|| "waiting for the command".to_owned());
            }
        };
        let mut ready = fds.iter().map(|fd| !fd.revents().is_empty());
        let signalled = ready.next().unwrap_or(false);
        let ready: Vec<bool> = awaited
            .iter()
            .map(|awaited| awaited.is_some() && ready.next().unwrap_or(false))
            .collect();
        for (at, _) in ready.iter().enumerate().filter(|(_, ready)| **ready) {
            self.step(at);
        }
        if signalled {
            self.handle_signals();
        }
        if signalled || silent {
            self.reap_child()?;
        }
        Ok(())
    }

    fn step(&mut self, at: usize) {
        let WatchedStream { what, stream } = &mut self.lines[at];
        let read = stream.step();
        match what {
            StreamRole::Typed => {
                self.interrupted |= tty::has_interrupt_key(read);
                self.typed |= !read.is_empty();
            }
            StreamRole::Said(voice) => {
                if let (Some(record), false) = (&mut self.record, read.is_empty()) {
                    record.push(*voice, read);
                }
                self.patience = Deadline::after(MAX_SILENCE);
            }
        }
    }

    fn handle_signals(&mut self) {
        for arrived in self.signals.take_pending() {
            self.interrupted |= arrived.is_ending();
            if arrived.is_window_resize()
                && let Some(terminal) = self.terminal
            {
                terminal.resize_to_window();
            }
            match self.end {
                None => self.pass_on(arrived),
                // The command is gone, so the signal is for us.
                Some(_) if arrived.is_ending() => {
                    self.end = Some(CommandEnd::Signal(arrived.signal));
                    self.lines.clear();
                }
                Some(_) => {}
            }
        }
    }

    fn pass_on(&self, arrived: ArrivedSignal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            arrived.pass_on(pid, self.terminal.is_none());
        }
    }

    fn reap_child(&mut self) -> Result<()> {
        if self.end.is_some() {
            return Ok(());
        }
        let ended = self.child.try_wait().with_context(|| "waiting for the command".to_owned())?;
        if let Some(status) = ended {
            self.end = Some(CommandEnd::from_status(status));
            self.patience = Deadline::after(MAX_SILENCE);
            self.lines.retain(WatchedStream::is_output);
        }
        Ok(())
    }

    fn into_outcome(self) -> RunOutcome {
        let held_open = self.is_open();
        let broken = self.lines.into_iter().find_map(|line| line.stream.into_write_error());
        match (broken, self.record) {
            (Some(error), _) if error.kind() == io::ErrorKind::BrokenPipe => RunOutcome::NotHeard,
            (Some(error), _) => RunOutcome::Unwritable(
                Error::new(ErrorKind::Io, "the command's output could not be passed on")
                    .with_source(error),
            ),
            _ if self.interrupted => RunOutcome::Interrupted,
            _ if self.typed => RunOutcome::Typed,
            _ if held_open => RunOutcome::HeldOpen,
            (None, Some(record)) => RunOutcome::Whole(record),
            (None, None) => RunOutcome::Interrupted,
        }
    }
}

fn timespec(wait: Duration) -> Timespec {
    let tv_sec = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: wait.subsec_nanos().into() }
}
