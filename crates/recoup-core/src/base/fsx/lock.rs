//! Advisory locks on files, and appending to a file that another process may close by renaming it.
//! The kernel frees locks when their owner dies, so there is nothing to clean up after a crash.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;

use super::regular::FileIdentity;
use super::{ensure_dir, open_private, parent, private_options, remove, rename_unsynced};
use crate::base::clock::Deadline;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Pause between two attempts to get a lock that is held only briefly.
const LOCK_RETRY_PAUSE: Duration = Duration::from_micros(200);
/// Attempts of an appender, which is on the hot path: the closing process holds the lock only
/// briefly.
const APPEND_ATTEMPTS: usize = 10;
/// Attempts to get a lock whose file was removed meanwhile. Each time another owner had it, so
/// giving up means that others are at work.
const EPHEMERAL_ATTEMPTS: usize = 10;

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
                    format!(
                        "timed out waiting for the lock {}: another process holds it",
                        path.display()
                    ),
                ));
            }
            thread::sleep(Duration::from_millis(fastrand::u64(1..=5)).min(deadline.remaining()));
        }
    }

    /// Takes the lock on `path`; `None` if another owner holds it.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>> {
        let file = open_private(path)?;
        Ok(try_lock(&file, path)?.then_some(Self { _file: file }))
    }
}

/// Opens a private file, creating it if missing, with a shared lock that lasts as long as the file
/// is open. Waits for exclusive holders, which are brief.
pub fn open_with_shared_lock(path: &Path) -> Result<File> {
    let file = open_private(path)?;
    file.lock_shared().map_err(|error| lock_error(path, error))?;
    Ok(file)
}

/// Exclusive lock that removes its file when it is dropped, for names that are used only once.
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
    pub(crate) fn try_acquire(path: &Path) -> Result<Option<Self>> {
        for _ in 0..EPHEMERAL_ATTEMPTS {
            let file = open_creating_parent(
                path,
                private_options().write(true).create(true).truncate(false),
            )?;
            let Some(lock) = Self::try_lock(file, path)? else { return Ok(None) };
            if lock.is_at_its_path() {
                return Ok(Some(lock));
            }
        }
        Ok(None)
    }

    /// Removes the file of a lock that nobody holds; `false` if it is held or missing.
    pub(crate) fn remove_unheld(path: &Path) -> Result<bool> {
        let file = match private_options().write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            opened => opened.with_context(|| format!("cannot open {}", path.display()))?,
        };
        let lock = Self::try_lock(file, path)?;
        Ok(lock.is_some_and(|lock| lock.is_at_its_path()))
    }

    fn try_lock(file: File, path: &Path) -> Result<Option<Self>> {
        Ok(try_lock(&file, path)?.then(|| Self { file, path: path.to_owned() }))
    }

    /// False if the file was removed or replaced meanwhile, perhaps by a person.
    fn is_at_its_path(&self) -> bool {
        is_same_file(self.file.metadata(), fs::symlink_metadata(&self.path))
    }
}

impl Drop for EphemeralLock {
    fn drop(&mut self) {
        if self.is_at_its_path() {
            // A file that can't be removed is unlocked all the same, and reused.
            let _ = remove(&self.path);
        }
    }
}

/// Appends `bytes` in one write. Returns `false`, with nothing written, if the file was renamed
/// before we locked it: the caller tries again. Data beyond `limit` bytes is dropped.
pub fn append_shared(path: &Path, bytes: &[u8], limit: u64) -> Result<bool> {
    // Opening a pipe without a reader would block.
    let at_once = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let options = private_options().append(true).create(true).custom_flags(at_once).clone();
    let mut file = open_creating_parent(path, &options)?;
    match retry_lock(|| file.try_lock_shared(), attempts(APPEND_ATTEMPTS)) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Error::new(
                ErrorKind::Locked,
                format!("{} is locked by another process", path.display()),
            ));
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    let held = file.metadata().with_context(|| format!("cannot access {}", path.display()))?;
    let len = held.len();
    if !is_same_file(Ok(held), fs::metadata(path)) {
        return Ok(false);
    }
    if len + bytes.len() as u64 <= limit {
        file.write_all(bytes).with_context(|| format!("cannot append to {}", path.display()))?;
    }
    Ok(true)
}

/// Appends text to one of the user's files, which gets `heading` first if it is missing or empty.
/// The file keeps its mode, and a link to it is followed.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are opened for writing")]
pub fn append_text(path: &Path, heading: &str, text: &str) -> Result<()> {
    let append = || {
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let before = if file.seek(SeekFrom::End(0))? == 0 {
            heading
        } else {
            let mut last = [0];
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
            if last == *b"\n" { "" } else { "\n" }
        };
        file.write_all(format!("{before}{text}").as_bytes())
    };
    append().with_context(|| format!("cannot append to {}", path.display()))
}

/// Renames a file that other processes append to, and waits for appenders that already hold it:
/// nobody writes to it after this returns. Not synced: a power failure may undo the rename, but
/// nothing else.
pub fn rename_and_settle(from: &Path, to: &Path, deadline: Deadline) -> Result<()> {
    rename_unsynced(from, to)?;
    let file = File::open(to).with_context(|| format!("cannot open {}", to.display()))?;
    retry_lock(|| file.try_lock(), || !deadline.has_passed()).map_err(|error| {
        let message = format!("other processes are still writing to {}", to.display());
        Error::new(ErrorKind::Locked, message).with_source(error)
    })
}

/// Tries a lock that others hold only briefly, again and again while `may_retry` returns true.
pub(super) fn retry_lock(
    try_lock: impl Fn() -> std::result::Result<(), TryLockError>,
    mut may_retry: impl FnMut() -> bool,
) -> std::result::Result<(), TryLockError> {
    loop {
        match try_lock() {
            Err(TryLockError::WouldBlock) if may_retry() => thread::sleep(LOCK_RETRY_PAUSE),
            done => return done,
        }
    }
}

/// Permits `most` attempts in all.
pub(super) fn attempts(most: usize) -> impl FnMut() -> bool {
    let mut retries = 1..most;
    move || retries.next().is_some()
}

/// Takes an exclusive lock; false if another owner holds it.
fn try_lock(file: &File, path: &Path) -> Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(lock_error(path, error)),
    }
}

fn lock_error(path: &Path, error: io::Error) -> Error {
    Error::new(ErrorKind::Io, format!("cannot lock {}", path.display())).with_source(error)
}

fn is_same_file(held: io::Result<fs::Metadata>, there: io::Result<fs::Metadata>) -> bool {
    let identity = |found: io::Result<fs::Metadata>| found.ok().map(|it| FileIdentity::of(&it));
    identity(held).is_some_and(|held| identity(there) == Some(held))
}

/// Opens a file, after creating its directory if that is missing.
fn open_creating_parent(path: &Path, options: &OpenOptions) -> Result<File> {
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            ensure_dir(parent(path))?;
            options.open(path)
        }
        opened => opened,
    }
    .with_context(|| format!("cannot open {}", path.display()))
}
