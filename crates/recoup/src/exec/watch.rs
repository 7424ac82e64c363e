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

use super::end::End;
use super::record::Record;
use super::run::{Outcome, Ran};
use super::signals::{Arrived, Signals};
use super::stream::Stream;
use super::transcript::Voice;
use super::tty::{self, Terminal};

/// How long a command that has ended may keep its output open in silence, held by a process that it
/// left behind.
const SILENCE: Duration = Duration::from_secs(2);
/// Interval of checks for the command's end: its signal may be blocked by our parent.
const LOOK: Duration = Duration::from_millis(500);

/// Contents of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Said(Voice),
    Typed,
}

#[derive(Debug)]
pub(super) struct Line<'a> {
    what: What,
    stream: Stream<'a>,
}

impl<'a> Line<'a> {
    pub(super) fn new(what: What, source: OwnedFd, sink: BorrowedFd<'a>) -> Self {
        Self { what, stream: Stream::new(source, sink) }
    }

    fn is_output(&self) -> bool {
        self.what != What::Typed
    }
}

/// A running command.
pub(super) struct Watch<'a> {
    child: Child,
    signals: &'a mut Signals,
    lines: Vec<Line<'a>>,
    record: Option<Record>,
    terminal: Option<&'a Terminal>,
    end: Option<End>,
    /// Deadline of the silence after its end.
    patience: Deadline,
    interrupted: bool,
    /// True if anything was typed: the output may be an answer to that.
    typed: bool,
}

impl<'a> Watch<'a> {
    pub(super) fn new(
        child: Child,
        signals: &'a mut Signals,
        lines: Vec<Line<'a>>,
        record: Option<Record>,
        terminal: Option<&'a Terminal>,
    ) -> Self {
        let patience = Deadline::after(SILENCE);
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

    pub(super) fn until_its_end(mut self) -> Result<Ran> {
        loop {
            if let Some(end) = self.end.filter(|_| !self.expects_more()) {
                return Ok(Ran { end, outcome: self.outcome() });
            }
            self.wait()?;
        }
    }

    /// True while output may come: until all writers have closed it, but not for ever.
    fn expects_more(&self) -> bool {
        // If the user ended it, do not wait for a slow reader either.
        let ended = self.interrupted && matches!(self.end, Some(End::Signal(_)));
        !ended && (self.is_pending() || self.is_open() && !self.patience.passed())
    }

    fn is_pending(&self) -> bool {
        self.lines.iter().any(|line| line.is_output() && line.stream.is_pending())
    }

    fn is_open(&self) -> bool {
        self.lines.iter().any(|line| line.is_output() && line.stream.awaits().is_some())
    }

    /// Polls for signals and streams, and handles what is ready.
    fn wait(&mut self) -> Result<()> {
        let limit = match self.end {
            None => Some(timespec(LOOK)),
            Some(_) if self.is_pending() => None,
            Some(_) => Some(timespec(self.patience.remaining())),
        };
        let awaited: Vec<Option<PollFd<'_>>> =
            self.lines.iter().map(|line| line.stream.awaits()).collect();
        let signals = self.signals.fd();
        let mut fds = vec![PollFd::from_borrowed_fd(signals, PollFlags::IN)];
        fds.extend(awaited.iter().flatten().cloned());
        let silent = match poll(&mut fds, limit.as_ref()) {
            Ok(ready) => ready == 0,
            Err(rustix::io::Errno::INTR) => false,
            Err(error) => {
                return Err(io::Error::from(error)).doing(|| "waiting for the command".to_owned());
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
            self.heed();
        }
        if signalled || silent {
            self.look_for_its_end()?;
        }
        Ok(())
    }

    fn step(&mut self, at: usize) {
        let Line { what, stream } = &mut self.lines[at];
        let read = stream.step();
        match what {
            What::Typed => {
                self.interrupted |= tty::asks_to_end(read);
                self.typed |= !read.is_empty();
            }
            What::Said(voice) => {
                if let (Some(record), false) = (&mut self.record, read.is_empty()) {
                    record.push(*voice, read);
                }
                self.patience = Deadline::after(SILENCE);
            }
        }
    }

    fn heed(&mut self) {
        for arrived in self.signals.arrived() {
            self.interrupted |= arrived.is_ending();
            if arrived.is_new_size()
                && let Some(terminal) = self.terminal
            {
                terminal.fit();
            }
            match self.end {
                None => self.pass_on(arrived),
                // The command is gone, so the signal is for us.
                Some(_) if arrived.is_ending() => {
                    self.end = Some(End::Signal(arrived.signal));
                    self.lines.clear();
                }
                Some(_) => {}
            }
        }
    }

    fn pass_on(&self, arrived: Arrived) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            arrived.pass_on(pid, self.terminal.is_none());
        }
    }

    fn look_for_its_end(&mut self) -> Result<()> {
        if self.end.is_some() {
            return Ok(());
        }
        let ended = self.child.try_wait().doing(|| "waiting for the command".to_owned())?;
        if let Some(status) = ended {
            self.end = Some(End::of(status));
            self.patience = Deadline::after(SILENCE);
            self.lines.retain(Line::is_output);
        }
        Ok(())
    }

    fn outcome(self) -> Outcome {
        let held_open = self.is_open();
        let broken = self.lines.into_iter().find_map(|line| line.stream.into_broken());
        match (broken, self.record) {
            (Some(error), _) if error.kind() == io::ErrorKind::BrokenPipe => Outcome::NotHeard,
            (Some(error), _) => Outcome::Unwritable(
                Error::new(ErrorKind::Io, "the command's output could not be passed on")
                    .with_source(error),
            ),
            _ if self.interrupted => Outcome::Interrupted,
            _ if self.typed => Outcome::Typed,
            _ if held_open => Outcome::HeldOpen,
            (None, Some(record)) => Outcome::Whole(record),
            (None, None) => Outcome::Interrupted,
        }
    }
}

fn timespec(wait: Duration) -> Timespec {
    let tv_sec = i64::try_from(wait.as_secs()).unwrap_or(i64::MAX);
    Timespec { tv_sec, tv_nsec: wait.subsec_nanos().into() }
}
