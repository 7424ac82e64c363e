//! A log in a few files of limited length, to which many processes append.
//!
//! ```text
//! DIR/NAME.EXT      lines are appended here
//! DIR/NAME.1.EXT    the previous one, and so on; the last is dropped at a rotation
//! DIR/NAME.lock     held by the one process that rotates
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::clock::Deadline;
use crate::base::fsx::{self, FileLock};
use crate::error::{Error, ErrorKind, Result};

/// How often an append is repeated because the file was rotated meanwhile.
const TRIES: usize = 10;
/// How long to wait for running appends.
const WAIT: Duration = Duration::from_secs(1);

/// A log with rotation.
#[derive(Debug, Clone)]
pub struct RollingLog {
    dir: PathBuf,
    name: &'static str,
    extension: &'static str,
    max_len: u64,
    files: usize,
}

impl RollingLog {
    /// The log of that name in `dir`, with this number of files of about that length. The directory
    /// is created with the first line.
    pub fn new(
        dir: impl Into<PathBuf>,
        name: &'static str,
        extension: &'static str,
        max_len: u64,
        files: usize,
    ) -> Self {
        Self { dir: dir.into(), name, extension, max_len, files }
    }

    /// Sets the approximate size of its files.
    #[must_use]
    pub fn with_max_len(self, max_len: u64) -> Self {
        Self { max_len, ..self }
    }

    /// Path of the latest file.
    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.{}", self.name, self.extension))
    }

    /// Paths of all possible files, the oldest first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let older = (1..self.files).rev().map(|number| self.rotated_path(number));
        older.chain([self.path()]).collect()
    }

    fn rotated_path(&self, number: usize) -> PathBuf {
        self.dir.join(format!("{}.{number}.{}", self.name, self.extension))
    }

    /// Appends complete lines.
    pub fn append(&self, lines: &[u8]) -> Result<()> {
        let path = self.path();
        if len(&path) >= self.max_len {
            self.rotate()?;
        }
        for _ in 0..TRIES {
            if fsx::append_shared(&path, lines, u64::MAX)? {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Locked, format!("{} is moved all the time", path.display())))
    }

    /// Checks again under the lock, because another process may just have rotated. While it does,
    /// the file may grow a little longer.
    fn rotate(&self) -> Result<()> {
        let lock = self.dir.join(format!("{}.lock", self.name));
        let Some(_lock) = FileLock::try_acquire(&lock)? else { return Ok(()) };
        if len(&self.path()) < self.max_len {
            return Ok(());
        }
        for number in (1..self.files.saturating_sub(1)).rev() {
            if self.rotated_path(number).exists() {
                fsx::rename(&self.rotated_path(number), &self.rotated_path(number + 1))?;
            }
        }
        fsx::rename_and_settle(&self.path(), &self.rotated_path(1), Deadline::after(WAIT))
    }
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
