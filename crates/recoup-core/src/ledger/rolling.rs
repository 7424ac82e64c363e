//! A log of lines in a few files of limited length, that many processes append to.
//!
//! ```text
//! DIR/NAME.EXT      lines are appended here
//! DIR/NAME.1.EXT    the one before, and so on; the last goes when another comes
//! DIR/NAME.lock     held by the one process that moves them on
//! ```

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::base::clock::Deadline;
use crate::base::fsx::{self, FileLock};
use crate::error::{Error, ErrorKind, Result};

/// How often an appender may find that the file was moved under its hands.
const TRIES: usize = 10;
/// How long to wait for those who are just appending.
const WAIT: Duration = Duration::from_secs(1);

/// Where lines are written down.
#[derive(Debug, Clone)]
pub struct Rolling {
    dir: PathBuf,
    name: &'static str,
    extension: &'static str,
    max_len: u64,
    files: usize,
}

impl Rolling {
    /// The log of that name in `dir`, which is made when there is something to write down:
    /// so many files of about that length.
    pub fn new(
        dir: impl Into<PathBuf>,
        name: &'static str,
        extension: &'static str,
        max_len: u64,
        files: usize,
    ) -> Self {
        Self { dir: dir.into(), name, extension, max_len, files }
    }

    /// The same with files of about that length.
    #[must_use]
    pub fn with_max_len(self, max_len: u64) -> Self {
        Self { max_len, ..self }
    }

    /// Where the latest are.
    pub fn path(&self) -> PathBuf {
        self.dir.join(format!("{}.{}", self.name, self.extension))
    }

    /// All that there may be, the oldest first.
    pub fn paths(&self) -> Vec<PathBuf> {
        let older = (1..self.files).rev().map(|number| self.older(number));
        older.chain([self.path()]).collect()
    }

    fn older(&self, number: usize) -> PathBuf {
        self.dir.join(format!("{}.{number}.{}", self.name, self.extension))
    }

    /// Appends whole lines.
    pub fn append(&self, lines: &[u8]) -> Result<()> {
        let path = self.path();
        if len(&path) >= self.max_len {
            self.move_on()?;
        }
        for _ in 0..TRIES {
            if fsx::append_shared(&path, lines, u64::MAX)? {
                return Ok(());
            }
        }
        Err(Error::new(ErrorKind::Locked, format!("{} is moved all the time", path.display())))
    }

    /// Looks again once it is alone: another may just have done it. While that one
    /// is at it, the file may become a little longer.
    fn move_on(&self) -> Result<()> {
        let lock = self.dir.join(format!("{}.lock", self.name));
        let Some(_lock) = FileLock::try_acquire(&lock)? else { return Ok(()) };
        if len(&self.path()) < self.max_len {
            return Ok(());
        }
        for number in (1..self.files.saturating_sub(1)).rev() {
            if self.older(number).exists() {
                fsx::rename(&self.older(number), &self.older(number + 1))?;
            }
        }
        fsx::rename_and_settle(&self.path(), &self.older(1), Deadline::after(WAIT))
    }
}

fn len(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |file| file.len())
}
