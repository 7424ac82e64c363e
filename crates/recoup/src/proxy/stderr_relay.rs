//! stderr of the server, which goes to ours. It is always read: a server that can't write there
//! stands still. If nobody reads ours, what does not fit the buffer is dropped.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::process::{SAFE_WRITE_BYTES, has_room};

/// Bytes that wait for a slow reader.
const MAX_WAITING_BYTES: usize = 1 << 20;
/// Time that a slow reader has for the rest, once the server has closed its end.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// Copies until the server closes its end.
pub(super) fn relay_stderr(server: &OwnedFd, ours: BorrowedFd<'_>) {
    let mut waiting = VecDeque::new();
    let mut piece = vec![0; 64 << 10];
    let mut is_readable = true;
    loop {
        let mut fds = vec![PollFd::from_borrowed_fd(server.as_fd(), PollFlags::IN)];
        if !waiting.is_empty() {
            fds.push(PollFd::from_borrowed_fd(ours, PollFlags::OUT));
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return,
        }
        let (has_input, can_write) =
            (!fds[0].revents().is_empty(), fds.get(1).is_some_and(|fd| !fd.revents().is_empty()));
        if has_input {
            match rustix::io::read(server, &mut piece) {
                Ok(0) => break,
                Ok(len) => {
                    let room = MAX_WAITING_BYTES - waiting.len();
                    if is_readable {
                        waiting.extend(&piece[..len.min(room)]);
                    }
                }
                Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => break,
            }
        }
        if can_write && !write_some(&mut waiting, ours) {
            is_readable = false;
            waiting.clear();
        }
    }
    let deadline = Deadline::after(FLUSH_TIMEOUT);
    while !waiting.is_empty() && !deadline.has_passed() {
        let left = Timespec::try_from(deadline.remaining()).unwrap_or_default();
        let _ = poll(&mut [PollFd::from_borrowed_fd(ours, PollFlags::OUT)], Some(&left));
        if !write_some(&mut waiting, ours) {
            return;
        }
    }
}

/// Writes as much as fits without blocking; false if nobody will read it.
fn write_some(waiting: &mut VecDeque<u8>, ours: BorrowedFd<'_>) -> bool {
    if !has_room(ours) {
        return true;
    }
    let (front, _) = waiting.as_slices();
    let front = &front[..front.len().min(SAFE_WRITE_BYTES)];
    match rustix::io::write(ours, front) {
        Ok(len) => waiting.drain(..len).count() == len,
        Err(Errno::INTR | Errno::AGAIN) => true,
        Err(_) => false,
    }
}
