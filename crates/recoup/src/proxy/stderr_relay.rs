//! stderr of the server, which goes to ours. It is always read: a server that can't write there
//! stands still. A slow reader of ours slows the server down, as it would without us; if nobody reads
//! at all, what does not fit the buffer is dropped.

use std::collections::VecDeque;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use recoup_core::base::clock::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::process::{SAFE_WRITE_BYTES, has_room};

/// Bytes that wait for a slow reader.
const MAX_WAITING_BYTES: usize = 1 << 20;
/// Time without a read after which nobody is taken to read at all.
const READER_TIMEOUT: Duration = Duration::from_millis(500);

/// Copies until the server closes its end.
pub(super) fn relay_stderr(server: &OwnedFd, ours: BorrowedFd<'_>) {
    let mut waiting = VecDeque::new();
    let mut piece = vec![0; 64 << 10];
    // When a full buffer is no reason to wait any more.
    let mut reader_gone = Deadline::after(READER_TIMEOUT);
    let mut is_open = true;
    while is_open || !waiting.is_empty() {
        let is_full = waiting.len() + piece.len() > MAX_WAITING_BYTES;
        let is_gone = reader_gone.has_passed();
        if !is_open && is_gone {
            return;
        }
        let reads = is_open && (!is_full || is_gone);
        let mut fds = Vec::with_capacity(2);
        if reads {
            fds.push(PollFd::from_borrowed_fd(server.as_fd(), PollFlags::IN));
        }
        if !waiting.is_empty() {
            fds.push(PollFd::from_borrowed_fd(ours, PollFlags::OUT));
        }
        let limit =
            (!reads).then(|| Timespec::try_from(reader_gone.remaining()).unwrap_or_default());
        if !matches!(poll(&mut fds, limit.as_ref()), Ok(_) | Err(Errno::INTR)) {
            return;
        }
        let is_ready = |at: usize| fds.get(at).is_some_and(|fd| !fd.revents().is_empty());
        let (has_input, can_write) = (reads && is_ready(0), is_ready(usize::from(reads)));
        if has_input {
            match rustix::io::read(server, &mut piece) {
                Ok(0) => is_open = false,
                Ok(len) if !is_full => waiting.extend(&piece[..len]),
                Ok(_) | Err(Errno::INTR | Errno::AGAIN) => {}
                Err(_) => is_open = false,
            }
            if !is_open || waiting.len() <= piece.len() {
                reader_gone = Deadline::after(READER_TIMEOUT);
            }
        }
        if can_write {
            match write_some(&mut waiting, ours) {
                Ok(()) => reader_gone = Deadline::after(READER_TIMEOUT),
                Err(Errno::INTR | Errno::AGAIN) => {}
                // Nobody will read it.
                Err(_) => waiting.clear(),
            }
        }
    }
}

/// Writes as much as fits without blocking.
fn write_some(waiting: &mut VecDeque<u8>, ours: BorrowedFd<'_>) -> Result<(), Errno> {
    if !has_room(ours) {
        return Err(Errno::AGAIN);
    }
    let (front, _) = waiting.as_slices();
    let len = rustix::io::write(ours, &front[..front.len().min(SAFE_WRITE_BYTES)])?;
    waiting.drain(..len);
    Ok(())
}
