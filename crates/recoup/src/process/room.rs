//! Polls file descriptors: can they be written without blocking, are they hung up?

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Bytes that fit into a pipe or a terminal that is ready for writing.
pub(crate) const SAFE_WRITE_BYTES: usize = 4096;

/// True if `sink` can be written without blocking. Check right before each write: another stream or
/// process may have filled the same pipe.
pub(crate) fn has_room(sink: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], Some(&now)) {
        Ok(ready) => ready > 0,
        // Interrupted: writing now might block for ever.
        Err(Errno::INTR) => false,
        // The write itself reports what is wrong.
        Err(_) => true,
    }
}

/// True if the other end is closed; there may still be data to read.
pub(crate) fn is_hung_up(source: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::from_borrowed_fd(source, PollFlags::RDHUP)];
    poll(&mut polled, Some(&now)).is_ok_and(|_| {
        polled[0].revents().intersects(PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR)
    })
}
