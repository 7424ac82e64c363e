//! Whether something can be written without waiting, and whether anything can still come.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// What fits for sure into a pipe or a terminal that can be written to.
pub(crate) const FITS: usize = 4096;

/// Looked at right before it is used: another stream, or another process, may have
/// filled the same pipe since.
pub(crate) fn has_room(sink: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut [PollFd::from_borrowed_fd(sink, PollFlags::OUT)], Some(&now)) {
        Ok(ready) => ready > 0,
        // A signal came, and nothing is known: writing now might wait for ever.
        Err(Errno::INTR) => false,
        // Where that can't be found out, writing says why.
        Err(_) => true,
    }
}

/// Whether nobody has the other end any more; there may be something to read all the same.
pub(crate) fn is_hung_up(source: BorrowedFd<'_>) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::from_borrowed_fd(source, PollFlags::RDHUP)];
    poll(&mut polled, Some(&now)).is_ok_and(|_| {
        polled[0].revents().intersects(PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR)
    })
}
