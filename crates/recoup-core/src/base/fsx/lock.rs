//! Advisory locks on files of their own. The kernel frees them when their
//! owner dies, so there is nothing to clean up after a crash.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, Result};

/// An exclusive lock, held until it is dropped.
///
/// The file stays: removing it would let two owners lock two different files
/// of the same name.
#[derive(Debug)]
pub struct FileLock {
    _file: File,
}

impl FileLock {
    /// Waits for the lock on `path` until `deadline`.
    pub fn acquire(path: &Path, deadline: Deadline) -> Result<Self> {
        loop {
            if let Some(lock) = Self::try_acquire(path)? {
                return Ok(lock);
            }
            if deadline.has_passed() {
                return Err(Error::new(
                    ErrorKind::Locked,
                    format!("another process holds {} for too long", path.display()),
                ));
            }
            thread::sleep(Duration::from_millis(fastrand::u64(1..=5)).min(deadline.remaining()));
        }
    }

    /// Takes the lock on `path`; `None` if another owner holds it.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        let file = super::open_private(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                let message = format!("locking {}", path.display());
                Err(Error::new(ErrorKind::Io, message).with_source(error))
            }
        }
    }
}

/// Opens a private file, creating it if missing, with a shared lock that lasts as long as the file
/// is open. Waits for exclusive holders, which are brief.
pub fn open_with_shared_lock(path: &Path) -> Result<File> {
    let file = super::open_private(path)?;
    file.lock_shared().map_err(|error| {
        Error::new(ErrorKind::Io, format!("locking {}", path.display())).with_source(error)
    })?;
    Ok(file)
}
