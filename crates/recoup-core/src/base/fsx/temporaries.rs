//! Temporary files with hidden names, left behind by processes that were killed while writing.

use std::fs::{self, DirEntry, File};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{Mode, OFlags};

use super::{is_hidden_temporary, remove};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};

/// In milliseconds: no write takes that long.
const ABANDONED_AFTER_MILLIS: u64 = 60_000;

/// True if the writer of a temporary file is gone: it holds a lock while it writes, which the
/// kernel frees when it dies. A file begun this very moment may not be locked yet: its writer
/// starts again.
pub fn is_abandoned(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOFOLLOW;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()).map(File::from) else {
        return false;
    };
    file.metadata().is_ok_and(|it| it.is_file()) && file.try_lock().is_ok()
}

/// Removes temporary files from a directory that are too old to be in use. Best effort.
pub fn sweep_temporaries(dir: &Path) {
    let now = SystemClock.now();
    for path in temporaries_in(dir) {
        let written = fs::symlink_metadata(&path).and_then(|found| found.modified());
        let since = written.ok().and_then(|it| it.duration_since(UNIX_EPOCH).ok());
        let millis = since.and_then(|it| i64::try_from(it.as_millis()).ok());
        if millis
            .is_some_and(|it| now.millis_since(Timestamp::from_millis(it)) > ABANDONED_AFTER_MILLIS)
        {
            let _ = remove(&path);
        }
    }
}

/// Temporary files of ours in a directory, whether in use or left behind.
pub fn temporaries_in(dir: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let is_one = |entry: &DirEntry| is_hidden_temporary(&entry.file_name().to_string_lossy());
    entries.filter(is_one).map(|entry| entry.path())
}
