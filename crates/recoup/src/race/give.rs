//! Gives out what somebody wrote, a step at a time: a reader that takes its time holds
//! up neither the end of the others nor a signal.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::BorrowedFd;

use recoup_core::{Error, ErrorKind, Result};
use rustix::io::Errno;

use crate::process::room::{FITS, has_room};

/// How much is read at once.
const PIECE: usize = 64 << 10;
/// How much of that is done before somebody else has a turn.
const TURN: usize = 256;

/// What is to be given out, one thing after the other.
#[derive(Default)]
pub(crate) struct Delivery {
    parts: VecDeque<Part>,
    piece: Vec<u8>,
    pending: Range<usize>,
}

struct Part {
    source: Box<dyn Read>,
    sink: BorrowedFd<'static>,
    /// Whether it matters that it arrives.
    matters: bool,
}

impl Delivery {
    /// Data for a script.
    pub(crate) fn data(self, source: impl Read + 'static, sink: BorrowedFd<'static>) -> Self {
        self.with(Part { source: Box::new(source), sink, matters: true })
    }

    /// Words for people: whoever does not hear them may still want the data.
    pub(crate) fn words(self, source: impl Read + 'static, sink: BorrowedFd<'static>) -> Self {
        self.with(Part { source: Box::new(source), sink, matters: false })
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push_back(part);
        self
    }

    /// Where there must be room for the next step; none when all is given out.
    pub(super) fn awaits(&self) -> Option<BorrowedFd<'static>> {
        self.parts.front().map(|part| part.sink)
    }

    /// Gives up what is left.
    pub(super) fn stop(&mut self) {
        (self.parts, self.pending) = (VecDeque::new(), 0..0);
    }

    /// As much as there is room for, up to a limit.
    pub(super) fn step(&mut self) -> Result<()> {
        for _ in 0..TURN {
            let Some(part) = self.parts.front_mut() else { return Ok(()) };
            if self.pending.is_empty() {
                self.piece.resize(PIECE, 0);
                match part.source.read(&mut self.piece) {
                    Ok(0) => drop(self.parts.pop_front()),
                    Ok(len) => self.pending = 0..len,
                    Err(error) if part.matters => {
                        self.stop();
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
            match rustix::io::write(part.sink, &rest[..rest.len().min(FITS)]) {
                Ok(len) => self.pending.start += len,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(()),
                // Whoever read it has read enough.
                Err(Errno::PIPE) if part.matters => self.stop(),
                Err(error) if part.matters => {
                    self.stop();
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
