//! The file that lines are appended to, and how it is closed without losing one.
//!
//! Whoever appends holds a shared lock, and checks after taking it that the file
//! is still the open one. Whoever closes renames it first and then waits for
//! those who were already appending.

use std::path::Path;
use std::time::Duration;

use crate::base::clock::Deadline;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// No segment is read beyond this; one that nobody folds stops growing there.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// How often an appender may find that the file was closed under its hands.
const TRIES: usize = 10;

/// How long a closer waits for appenders, each of which needs microseconds.
const WAIT: Duration = Duration::from_secs(1);

pub(super) fn append(path: &Path, line: &[u8]) -> Result<()> {
    for _ in 0..TRIES {
        if fsx::append_shared(path, line, MAX_LEN)? {
            return Ok(());
        }
    }
    Err(Error::new(ErrorKind::Locked, format!("{} is closed all the time", path.display())))
}

pub(super) fn close(open: &Path, closed: &Path) -> Result<()> {
    if !open.exists() {
        return Ok(());
    }
    fsx::rename_and_settle(open, closed, Deadline::after(WAIT))
}
