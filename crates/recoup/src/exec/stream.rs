//! One way from a file descriptor to another, a step at a time: whoever owns it
//! asks what it waits for, polls, and lets it take its step.
//!
//! A step never blocks: what is read is there, and what is written fits.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use crate::process::room::{FITS, has_room};

/// How much is read at once.
const PIECE: usize = 64 << 10;

/// From where to where.
#[derive(Debug)]
pub(super) struct Stream<'a> {
    source: Option<OwnedFd>,
    sink: BorrowedFd<'a>,
    most: usize,
    buffer: Vec<u8>,
    /// What of the buffer was read and not yet written.
    pending: std::ops::Range<usize>,
    /// Why nothing can be written any more.
    broken: Option<io::Error>,
}

impl<'a> Stream<'a> {
    pub(super) fn new(source: OwnedFd, sink: BorrowedFd<'a>) -> Self {
        Self {
            source: Some(source),
            sink,
            most: fitting(sink),
            buffer: Vec::new(),
            pending: 0..0,
            broken: None,
        }
    }

    /// What it waits for; none when nothing more can come.
    pub(super) fn awaits(&self) -> Option<PollFd<'_>> {
        if self.is_pending() {
            return Some(PollFd::from_borrowed_fd(self.sink, PollFlags::OUT));
        }
        self.source.as_ref().map(|source| PollFd::new(source, PollFlags::IN))
    }

    /// Whether something was read and is not yet written.
    pub(super) fn is_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// Why it stopped before its end.
    pub(super) fn into_broken(self) -> Option<io::Error> {
        self.broken
    }

    /// Does what it waited for; gives what was read.
    pub(super) fn step(&mut self) -> &[u8] {
        if self.is_pending() { self.write() } else { self.read() }
    }

    fn read(&mut self) -> &[u8] {
        let Some(source) = &self.source else { return &[] };
        self.buffer.resize(PIECE, 0);
        match rustix::io::read(source, &mut self.buffer[..]) {
            Ok(len) if len > 0 => self.pending = 0..len,
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Its end; a pseudo-terminal says EIO when nobody has the other side any more.
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
                // Without a reader the writer gets its SIGPIPE, as it would without us.
                (self.source, self.pending) = (None, 0..0);
                self.broken = Some(error.into());
            }
        }
        &[]
    }
}

/// How much may be written at once without waiting, where there is room at all.
fn fitting(sink: BorrowedFd<'_>) -> usize {
    let is_file = fstat(sink)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
    if is_file { PIECE } else { FITS }
}

/// Writes everything, and waits for as long as that takes.
pub(super) fn write_all(sink: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(sink, bytes) {
            Ok(len) => bytes = &bytes[len..],
            Err(Errno::INTR) => {}
            // Somebody else has made it so; waiting is still what is meant.
            Err(Errno::AGAIN) => {
                poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
