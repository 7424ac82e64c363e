//! Forwards bytes from one file descriptor to another, one step at a time: the owner polls for what
//! it waits for, then lets it take a step.
//!
//! A step never blocks: it reads what is there, and writes what fits.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::process::room::{SAFE_WRITE_BYTES, has_room};

/// Bytes read at once.
const PIECE: usize = 64 << 10;

/// Forwarder between two file descriptors.
#[derive(Debug)]
pub(super) struct FdForwarder<'a> {
    source: Option<OwnedFd>,
    sink: BorrowedFd<'a>,
    most: usize,
    buffer: Vec<u8>,
    /// Range of the buffer that is not yet written.
    pending: std::ops::Range<usize>,
    /// Error that stopped writing.
    broken: Option<io::Error>,
}

impl<'a> FdForwarder<'a> {
    pub(super) fn new(source: OwnedFd, sink: BorrowedFd<'a>) -> Self {
        Self {
            source: Some(source),
            sink,
            most: max_write_len(sink),
            buffer: Vec::new(),
            pending: 0..0,
            broken: None,
        }
    }

    /// Event to poll for; none at the end.
    pub(super) fn poll_fd(&self) -> Option<PollFd<'_>> {
        if self.is_pending() {
            return Some(PollFd::from_borrowed_fd(self.sink, PollFlags::OUT));
        }
        self.source.as_ref().map(|source| PollFd::new(source, PollFlags::IN))
    }

    /// True if something was read and is not yet written.
    pub(super) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Error that stopped it before its end.
    pub(super) fn into_write_error(self) -> Option<io::Error> {
        self.broken
    }

    /// Reads or writes; returns what was read.
    pub(super) fn step(&mut self) -> &[u8] {
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

/// Bytes that can be written without blocking once the sink is ready.
fn max_write_len(sink: BorrowedFd<'_>) -> usize {
    let is_file = fstat(sink)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
    if is_file { PIECE } else { SAFE_WRITE_BYTES }
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
