//! Reads a hook's stdin within bounds of size and time.

use std::os::fd::{AsFd as _, BorrowedFd};

use recoup_core::base::clock::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Limit of a payload; only those that contain whole files exceed it.
const MAX_PAYLOAD_BYTES: usize = 8 << 20;
/// Size of the first read, which mostly suffices; later reads grow up to `BLOCK`.
const FIRST_READ_BYTES: usize = 8 << 10;
const BLOCK: usize = 64 << 10;

/// Reads to the end of input or to the deadline: a client may keep its end open. Excess input is
/// read and dropped, so that the client's write does not fail.
pub(crate) fn read_payload(stdin: BorrowedFd<'_>, deadline: Deadline) -> Result<Vec<u8>, String> {
    let mut all = Vec::with_capacity(2 * FIRST_READ_BYTES);
    let mut length = 0;
    while is_ready(stdin, deadline) {
        if length > MAX_PAYLOAD_BYTES {
            // Too long already: drop it.
            all.truncate(0);
        }
        let held = all.len();
        all.resize(held + held.clamp(FIRST_READ_BYTES, BLOCK), 0);
        let read = match rustix::io::read(stdin.as_fd(), &mut all[held..]) {
            Ok(read) => read,
            Err(Errno::INTR | Errno::AGAIN) => {
                all.truncate(held);
                continue;
            }
            Err(error) => return Err(format!("it can't be read: {error}")),
        };
        all.truncate(held + read);
        length += read;
        if read == 0 {
            break;
        }
    }
    if length > MAX_PAYLOAD_BYTES {
        return Err(format!("it is longer than {} MiB", MAX_PAYLOAD_BYTES >> 20));
    }
    Ok(all)
}

/// Waits for input or its end; returns false when the time is up.
fn is_ready(stdin: BorrowedFd<'_>, deadline: Deadline) -> bool {
    loop {
        let left = deadline.remaining();
        if left.is_zero() {
            return false;
        }
        let time = Timespec::try_from(left).ok();
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], time.as_ref()) {
            Ok(0) => return false,
            Err(Errno::INTR) => {}
            // Polling may fail where reading works.
            Ok(_) | Err(_) => return true,
        }
    }
}
