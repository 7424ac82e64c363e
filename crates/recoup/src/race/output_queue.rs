//! Writes output step by step: a slow reader delays neither the end of the other commands nor the
//! handling of a signal.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::os::fd::BorrowedFd;

use recoup_core::{Error, ErrorKind, Result};
use rustix::io::Errno;

use crate::process::room::{SAFE_WRITE_BYTES, has_room};

/// Bytes per read.
const READ_BYTES: usize = 64 << 10;
/// Maximum number of reads and writes in one step.
const MAX_OPERATIONS: usize = 256;

/// Output to be written, one part after the other.
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
    pub(super) fn next_sink(&self) -> Option<BorrowedFd<'static>> {
        self.parts.front().map(|part| part.sink)
    }

    /// Drops the remaining output.
    pub(super) fn clear(&mut self) {
        (self.parts, self.pending) = (VecDeque::new(), 0..0);
    }

    /// Writes as much as there is room for, up to a limit.
    pub(super) fn write_some(&mut self) -> Result<()> {
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
