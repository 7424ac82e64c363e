//! What a client writes to us, within bounds: whatever it is, and whether it ends or not.

use std::os::fd::{AsFd as _, BorrowedFd};

use recoup_core::base::clock::Deadline;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// No payload is longer, but for what holds whole files.
pub(crate) const MOST: usize = 8 << 20;
/// So much is read at first, which is mostly all; then as much as there is already, up to
/// so much at once.
const FIRST: usize = 8 << 10;
const BLOCK: usize = 64 << 10;

/// All that comes until the end, or until the time is up: a client may keep its end open.
/// What is too long is read and dropped, so that whoever writes it is not disturbed.
pub(crate) fn read(stdin: BorrowedFd<'_>, deadline: Deadline) -> Result<Vec<u8>, String> {
    let mut all = Vec::with_capacity(2 * FIRST);
    let mut length = 0;
    while is_ready(stdin, deadline) {
        if length > MOST {
            // Nothing of it is wanted any more.
            all.truncate(0);
        }
        let held = all.len();
        all.resize(held + held.clamp(FIRST, BLOCK), 0);
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
    if length > MOST {
        return Err(format!("it is longer than {} MiB", MOST >> 20));
    }
    Ok(all)
}

/// Waits for more, or for the end; false when the time is up.
fn is_ready(stdin: BorrowedFd<'_>, deadline: Deadline) -> bool {
    loop {
        let left = deadline.remaining();
        if left.is_zero() {
            return false;
        }
        let time = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&time)) {
            Ok(0) => return false,
            Err(Errno::INTR) => {}
            // What can't be waited for can still be read.
            Ok(_) | Err(_) => return true,
        }
    }
}
