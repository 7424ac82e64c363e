//! What those leave who were ended while they wrote: whole copies, under a hidden name.

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{Mode, OFlags};

use super::{is_hidden_temporary, remove};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};

/// In milliseconds: nobody takes that long to write a file.
const LEFT_BEHIND: u64 = 60_000;

/// True if whoever wrote a temporary file is gone: its lock is held while it is written, and the
/// kernel frees it with its owner. One that was begun this very moment may not be locked yet: its
/// writer begins again.
pub fn is_abandoned(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else {
        return false;
    };
    file.metadata().is_ok_and(|it| it.is_file()) && file.try_lock().is_ok()
}

/// Removes from a directory what was left there so long ago that nobody is still writing it.
/// What can't be removed is in nobody's way.
pub fn sweep_temporaries(dir: &Path) {
    let now = SystemClock.now();
    for path in temporaries_in(dir) {
        let written = fs::symlink_metadata(&path).and_then(|found| found.modified());
        let since = written.ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let millis = since.and_then(|it| i64::try_from(it.as_millis()).ok());
        if millis.is_some_and(|it| now.millis_since(Timestamp::from_millis(it)) > LEFT_BEHIND) {
            let _ = remove(&path);
        }
    }
}

/// Files that a process of ours is writing, or was when it was ended.
pub fn temporaries_in(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_one = |entry: &DirEntry| is_hidden_temporary(&entry.file_name().to_string_lossy());
    entries.filter(is_one).map(|entry| entry.path())
}
