//! Locks whose files are removed with them, for names that are used only once.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{ensure_dir, parent, private_options};
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Attempts to get a lock whose file was removed meanwhile. Each time another owner had it, so
/// giving up means that others are at work.
const TRIES: usize = 10;

/// Exclusive lock that removes its file when it is dropped.
///
/// The file is removed while still locked, and an acquirer whose file is no longer at its path
/// tries again: two owners never hold two files of the same name. A dead owner's file is unlocked,
/// and reused.
#[derive(Debug)]
pub struct EphemeralLock {
    file: File,
    path: PathBuf,
}

impl EphemeralLock {
    /// Takes the lock on `path`; `None` if another owner holds it. Creates directories as needed.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        for _ in 0..TRIES {
            let Some(lock) = Self::try_lock(open(path)?, path)? else { return Ok(None) };
            if lock.is_at_its_path() {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }

    /// Removes the file of a lock that nobody holds; `false` if it is held or missing.
    pub fn remove_unheld(path: &Path) -> Result<bool> {
        let file = match private_options().write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.with_context(|| format!("opening {}", path.display()))?,
        };
        let lock = Self::try_lock(file, path)?;
        Ok(lock.is_some_and(|lock| lock.is_at_its_path()))
    }

    fn try_lock(file: File, path: &Path) -> Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, path: path.to_owned() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => {
                let message = format!("locking {}", path.display());
                Err(Error::new(ErrorKind::Io, message).with_source(error))
            }
        }
    }

    /// False if the file was removed or replaced meanwhile, perhaps by a person.
    fn is_at_its_path(&self) -> bool {
        let same = |held: std::fs::Metadata| {
            std::fs::symlink_metadata(&self.path)
                .is_ok_and(|there| (there.dev(), there.ino()) == (held.dev(), held.ino()))
        };
        self.file.metadata().is_ok_and(same)
    }
}

impl Drop for EphemeralLock {
    fn drop(&mut self) {
        if self.is_at_its_path() {
            // A file that can't be removed is unlocked all the same, and reused.
            let _ = super::remove(&self.path);
        }
    }
}

fn open(path: &Path) -> Result<File> {
    let open = || private_options().write(true).create(true).truncate(false).open(path);
    match open() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(parent(path))?;
            open()
        }
        opened => opened,
    }
    .with_context(|| format!("opening {}", path.display()))
}
