//! Watches a running command. One thread polls its streams, ours and signals, and lets each take a
//! step: a stream reads what is there and writes what fits, so that no step blocks. Signals are
//! forwarded: this process outlives the command, which decides what they do.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use recoup_core::error::IoContext as _;
use recoup_core::{Error, ErrorKind, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::iterator::exfiltrator::origin::Origin;
use signal_hook::low_level::siginfo::Cause;

use super::record::{OutputRecording, OutputStream};
use super::run::{CommandEnd, FinishedRun, RunOutcome};
use super::tty::{self, CommandTerminal};
use crate::process::{IgnoredSignals, SAFE_WRITE_BYTES, has_room};

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
    silence_deadline: Deadline,
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
        let silence_deadline = Deadline::after(MAX_SILENCE);
        Self {
            child,
            signals,
            lines,
            record,
            terminal,
            end: None,
            silence_deadline,
            interrupted: false,
            typed: false,
        }
    }

    pub(super) fn run_to_end(mut self) -> Result<FinishedRun> {
        let end = loop {
            if let Some(end) = self.end {
                // Output may come until all writers have closed it, but not for ever. If the user
                // ended it, do not wait for a slow reader either.
                let is_interrupted = self.interrupted && matches!(end, CommandEnd::Signal(_));
                let expects_more =
                    self.is_pending() || self.is_open() && !self.silence_deadline.has_passed();
                if is_interrupted || !expects_more {
                    break end;
                }
            }
            self.wait()?;
        };
        let held_open = self.is_open();
        let broken = self.lines.into_iter().find_map(|line| line.stream.broken);
        let outcome = match (broken, self.record) {
            (Some(error), _) if error.kind() == io::ErrorKind::BrokenPipe => RunOutcome::NotHeard,
            (Some(error), _) => RunOutcome::Unwritable(
                Error::new(ErrorKind::Io, "the command's output could not be written")
                    .with_source(error),
            ),
            _ if self.interrupted => RunOutcome::Interrupted,
            _ if self.typed => RunOutcome::Typed,
            _ if held_open => RunOutcome::HeldOpen,
            (None, Some(record)) => RunOutcome::Whole(record),
            (None, None) => RunOutcome::Interrupted,
        };
        Ok((end, outcome))
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
            None => Some(CHECK_INTERVAL),
            Some(_) if self.is_pending() => None,
            Some(_) => Some(self.silence_deadline.remaining()),
        };
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let awaited: Vec<Option<PollFd<'_>>> =
            self.lines.iter().map(|line| line.stream.poll_fd()).collect();
        let signals = self.signals.fd();
        let mut fds = vec![PollFd::from_borrowed_fd(signals, PollFlags::IN)];
        fds.extend(awaited.iter().flatten().cloned());
        let silent = match poll(&mut fds, limit.as_ref()) {
            Ok(ready) => ready == 0,
            Err(Errno::INTR) => false,
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
        if (signalled || silent)
            && self.end.is_none()
            && let Some(status) =
                self.child.try_wait().with_context(|| "waiting for the command".to_owned())?
        {
            self.end = Some(CommandEnd::from_status(status));
            self.silence_deadline = Deadline::after(MAX_SILENCE);
            self.lines.retain(WatchedStream::is_output);
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
                self.silence_deadline = Deadline::after(MAX_SILENCE);
            }
        }
    }

    fn handle_signals(&mut self) {
        for arrived in self.signals.take_pending() {
            self.interrupted |= arrived.is_ending();
            if arrived.signal == SIGWINCH
                && let Some(terminal) = self.terminal
            {
                terminal.resize_to_window();
            }
            match self.end {
                None => {
                    let ArrivedSignal { signal, from_terminal } = arrived;
                    // The terminal may have sent it to the command, too.
                    let has_it = self.terminal.is_none()
                        && from_terminal
                        && (signal == SIGINT || signal == SIGQUIT);
                    let ours = signal == SIGCHLD || signal == SIGWINCH;
                    if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
                        && let Some(signal) = Signal::from_named_raw(signal)
                        && !ours
                        && !has_it
                    {
                        // The command may have ended already; it is not reaped yet.
                        let _ = kill_process(pid, signal);
                    }
                }
                // The command is gone, so the signal is for us.
                Some(_) if arrived.is_ending() => {
                    self.end = Some(CommandEnd::Signal(arrived.signal));
                    self.lines.clear();
                }
                Some(_) => {}
            }
        }
    }
}

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// Forwarder between two file descriptors.
#[derive(Debug)]
struct FdForwarder<'a> {
    source: Option<OwnedFd>,
    sink: BorrowedFd<'a>,
    /// Bytes that can be written without blocking once the sink is ready.
    most: usize,
    buffer: Vec<u8>,
    /// Range of the buffer that is not yet written.
    pending: std::ops::Range<usize>,
    /// Error that stopped writing.
    broken: Option<io::Error>,
}

impl<'a> FdForwarder<'a> {
    fn new(source: OwnedFd, sink: BorrowedFd<'a>) -> Self {
        let is_file = fstat(sink)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        Self {
            source: Some(source),
            sink,
            most: if is_file { PIECE } else { SAFE_WRITE_BYTES },
            buffer: Vec::new(),
            pending: 0..0,
            broken: None,
        }
    }

    /// Event to poll for; none at the end.
    fn poll_fd(&self) -> Option<PollFd<'_>> {
        if self.is_pending() {
            return Some(PollFd::from_borrowed_fd(self.sink, PollFlags::OUT));
        }
        self.source.as_ref().map(|source| PollFd::new(source, PollFlags::IN))
    }

    /// True if something was read and is not yet written.
    fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Reads or writes; returns what was read.
    fn step(&mut self) -> &[u8] {
        if self.is_pending() { self.write() } else { self.read() }
    }

    fn read(&mut self) -> &[u8] {
        let Some(source) = &self.source else { return &[] };
        self.buffer.resize(PIECE, 0);
        match rustix::io::read(source, &mut self.buffer[..]) {
            Ok(len) if len > 0 => self.pending = 0..len,
            Err(Errno::INTR | Errno::AGAIN) => {}
            // End of input; a pseudo-terminal returns EIO when its other side is closed.
            Ok(_) | Err(_) => self.source = None,
        }
        &self.buffer[self.pending.clone()]
    }

    fn write(&mut self) -> &[u8] {
        if !has_room(self.sink) {
            return &[];
        }
        let piece = &self.buffer[self.pending.clone()];
        match rustix::io::write(self.sink, &piece[..piece.len().min(self.most)]) {
            Ok(len) => self.pending.start += len,
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => {
                // Closing the source gives the writer its SIGPIPE, as without us.
                (self.source, self.pending) = (None, 0..0);
                self.broken = Some(error.into());
            }
        }
        &[]
    }
}

/// Writes everything; blocks as long as needed.
pub(super) fn write_all(sink: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(sink, bytes) {
            Ok(len) => bytes = &bytes[len..],
            Err(Errno::INTR) => {}
            // Another process made it non-blocking; blocking is still wanted.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

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
struct ArrivedSignal {
    signal: i32,
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
    fn fd(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// Last pending signal that asks to end.
    pub(super) fn pending_end_signal(&mut self) -> Option<i32> {
        let mut ending = self.take_pending().into_iter().filter(|arrived| arrived.is_ending());
        ending.next_back().map(|arrived| arrived.signal)
    }

    fn take_pending(&mut self) -> Vec<ArrivedSignal> {
        let read = |origin: Origin| ArrivedSignal {
            signal: origin.signal,
            from_terminal: origin.cause == Cause::Kernel,
        };
        self.delivery.pending().map(read).collect()
    }
}

impl ArrivedSignal {
    /// True if it asks to end.
    fn is_ending(self) -> bool {
        ENDING.contains(&self.signal)
    }
}
