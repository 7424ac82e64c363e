//! Those who watch follow the open logs. While there are any, a log that was told
//! stays for a while, so that they read it to its end; else it goes at once.

use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::TOLD;
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx;
use crate::error::Result;

/// How long a log stays for them, in milliseconds. They look several times a second.
const STAY: u64 = 10_000;

/// Beside all ledgers, so that it covers those that are made while one watches.
pub(super) fn lock_in(ledgers: &Path) -> PathBuf {
    ledgers.join("watch.lock")
}

/// Whoever holds the file shared is watching. Without a file there never was one.
fn is_watched(ledger: &Path) -> bool {
    let Ok(file) = File::open(lock_in(fsx::parent(ledger))) else { return false };
    matches!(file.try_lock(), Err(TryLockError::WouldBlock))
}

/// Done with a batch.
pub(super) fn put_away(batch: &Path) -> Result<()> {
    if is_watched(fsx::parent(batch)) {
        fsx::rename_unsynced(batch, &batch.with_extension(TOLD))
    } else {
        fsx::remove(batch).map(drop)
    }
}

pub(super) fn remove_if_old(told: &Path) -> Result<()> {
    // Its inode changed when it got this name.
    let renamed = std::fs::symlink_metadata(told).map(|log| Timestamp::from_seconds(log.ctime()));
    if renamed.is_ok_and(|at| SystemClock.now().millis_since(at) > STAY) {
        fsx::remove(told)?;
    }
    Ok(())
}
