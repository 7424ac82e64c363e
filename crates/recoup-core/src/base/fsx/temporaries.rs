//! What those leave who were ended while they wrote: whole copies, under a hidden name.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::{is_hidden_temporary, remove};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};

/// In milliseconds: nobody takes that long to write a file.
const LEFT_BEHIND: u64 = 60_000;

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
