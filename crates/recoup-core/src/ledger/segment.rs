//! The file that lines are appended to, and closing it without losing a line.
//!
//! An appender holds a shared lock, and checks after taking it that the file is still the open one.
//! A closer renames the file first and then waits for the running appends.

use std::path::Path;
use std::time::Duration;

use crate::base::clock::Deadline;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, Result};

/// Maximum length of a segment; one that is not folded stops growing there.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// How often an append is repeated because the file was closed meanwhile.
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
