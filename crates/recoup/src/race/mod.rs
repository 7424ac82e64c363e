//! A race of several commands: the first to succeed wins, its output is written, and the others are
//! ended.
//!
//! One thread polls for all of them: streams, exits, signals, and results of other participants in
//! the session. Nothing is printed here: the caller decides what is written where.

mod contest;
mod guard;
mod process_tree;
mod runner;

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use recoup_core::base::name::SafeName;
use recoup_core::early_exit::{EarlyExit, WinnerAnswer};
use recoup_core::{Error, ErrorKind, Result};
use rustix::io::Errno;
use tempfile::SpooledTempFile;

use crate::process::{SAFE_WRITE_BYTES, has_room};
pub(crate) use contest::RunningRace;
pub(crate) use guard::run_guard;

/// The exit code for when the time is up.
pub(crate) const TIMED_OUT: i32 = 124;
/// The exit code for a failure of ours.
pub(crate) const FAILED: i32 = 125;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 << 10;
/// Maximum number of reads and writes in one step.
const MAX_OPERATIONS: usize = 256;

/// Options of a race.
#[derive(Debug)]
pub(crate) struct RaceOptions<'a> {
    pub(crate) session: SafeName,
    /// Each with its arguments; none is empty.
    pub(crate) commands: Vec<Vec<OsString>>,
    pub(crate) timeout: Option<Duration>,
    /// Time for losing commands to exit by themselves; none means for ever.
    pub(crate) grace: Option<Duration>,
    pub(crate) early_exit: &'a EarlyExit,
    /// Receives errors that do not stop the race.
    pub(crate) warn: fn(&Error),
}

/// Outcome of a race.
#[derive(Debug)]
pub(crate) enum RaceOutcome {
    /// A command of ours was first.
    Ours(WinnerOutput),
    /// Another participant in the session was, before or after we had begun.
    Theirs(WinnerAnswer, RaceProgress),
    /// All failed; a line on each.
    Failed(Vec<String>),
    /// The time was up.
    TimedOut,
    /// This signal asked for the end.
    Interrupted(i32),
}

/// Tells if any command of ours was started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RaceProgress {
    Yes,
    No,
}

/// Output of a command, to be read from its beginning.
#[derive(Debug)]
pub(crate) struct WinnerOutput {
    pub(crate) out: SpooledTempFile,
    pub(crate) err: SpooledTempFile,
}

/// Output to be written step by step, one part after the other: a slow reader delays neither the end
/// of the other commands nor the handling of a signal.
#[derive(Default)]
pub(crate) struct OutputQueue {
    parts: VecDeque<OutputPart>,
    piece: Vec<u8>,
    pending: Range<usize>,
}

struct OutputPart {
    source: Box<dyn Read>,
    sink: BorrowedFd<'static>,
    /// True if a failed write is an error.
    matters: bool,
}

impl OutputQueue {
    /// Adds data for scripts.
    pub(crate) fn with_data(self, source: impl Read + 'static, sink: BorrowedFd<'static>) -> Self {
        self.with_part(OutputPart { source: Box::new(source), sink, matters: true })
    }

    /// Adds messages for people; a failed write does not stop the data.
    pub(crate) fn with_messages(
        self,
        source: impl Read + 'static,
        sink: BorrowedFd<'static>,
    ) -> Self {
        self.with_part(OutputPart { source: Box::new(source), sink, matters: false })
    }

    fn with_part(mut self, part: OutputPart) -> Self {
        self.parts.push_back(part);
        self
    }

    /// Sink that the next step writes to; none when all is written.
    fn next_sink(&self) -> Option<BorrowedFd<'static>> {
        self.parts.front().map(|part| part.sink)
    }

    /// Drops the remaining output.
    fn clear(&mut self) {
        (self.parts, self.pending) = (VecDeque::new(), 0..0);
    }

    /// Writes as much as there is room for, up to a limit.
    fn write_some(&mut self) -> Result<()> {
        for _ in 0..MAX_OPERATIONS {
            let Some(part) = self.parts.front_mut() else { return Ok(()) };
            if self.pending.is_empty() {
                self.piece.resize(READ_BYTES, 0);
                match part.source.read(&mut self.piece) {
                    Ok(0) => drop(self.parts.pop_front()),
                    Ok(len) => self.pending = 0..len,
                    Err(error) if part.matters => {
                        self.clear();
                        return failed("reading a command's output", error);
                    }
                    Err(_) => drop(self.parts.pop_front()),
                }
                continue;
            }
            if !has_room(part.sink) {
                return Ok(());
            }
            let rest = &self.piece[self.pending.clone()];
            match rustix::io::write(part.sink, &rest[..rest.len().min(SAFE_WRITE_BYTES)]) {
                Ok(len) => self.pending.start += len,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                // The reader has closed the pipe.
                Err(Errno::PIPE) if part.matters => self.clear(),
                Err(error) if part.matters => {
                    self.clear();
                    return failed("writing to stdout", error.into());
                }
                Err(_) => (_, self.pending) = (self.parts.pop_front(), 0..0),
            }
        }
        Ok(())
    }
}

fn failed(doing: &str, error: io::Error) -> Result<()> {
    Err(Error::new(ErrorKind::Io, doing).with_source(error))
}

/// Name of an agent, such as `1-claude`: place and program.
fn agent_name(place: usize, program: &OsString) -> SafeName {
    let program = std::path::Path::new(program).file_name().unwrap_or(program);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let shown = program.to_string_lossy();
    let shown = shown.chars().map(|c| if allowed(c) { c } else { '_' }).take(100);
    let name = format!("{}-{}", place + 1, shown.collect::<String>());
    SafeName::parse("agent", &name).expect("a number and a hundred characters that are allowed")
}
