//! Followers of the logs. While there are any, a log that was handed over is kept for a while, so
//! that they can read it to its end; otherwise it is removed at once.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::FOLDED;
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx;
use crate::error::Result;

/// How long a log is kept for followers, in milliseconds. They poll several times a second.
const KEEP_MILLIS: u64 = 10_000;

/// Beside all ledgers, so that it covers later ones too.
pub(super) fn lock_in(ledgers: &Path) -> PathBuf {
    ledgers.join("watch.lock")
}

/// True if another process holds the file shared. Without a file there never was a follower.
fn is_watched(ledger: &Path) -> bool {
    let Ok(file) = File::open(lock_in(fsx::parent(ledger))) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Removes a batch that was handed over, or keeps it for followers.
pub(super) fn retire_batch(batch: &Path) -> Result<()> {
    if is_watched(fsx::parent(batch)) {
        fsx::rename_unsynced(batch, &batch.with_extension(FOLDED))
    } else {
        fsx::remove(batch).map(drop)
    }
}

pub(super) fn remove_if_old(told: &Path) -> Result<()> {
    // The rename to this name changed the ctime.
    let renamed = std::fs::symlink_metadata(told).map(|log| Timestamp::from_seconds(log.ctime()));
    if renamed.is_ok_and(|at| SystemClock.now().millis_since(at) > KEEP_MILLIS) {
        fsx::remove(told)?;
    }
    Ok(())
}
