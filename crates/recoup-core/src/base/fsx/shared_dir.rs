//! Files in a directory that several programs replace and remove. A removal is meant for a certain
//! file, never for another that has taken its place.
//!
//! Our processes coordinate with a lock on the directory itself, which leaves no lock file behind:
//! replacing takes it shared, removing takes it exclusively. Programs that do not know the lock are
//! safe too: a file is moved aside, checked again, and put back if it is not the one.

use std::fs::{self, DirEntry, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use rustix::fs::{Mode, OFlags};
use tempfile::NamedTempFile;

use super::lock::{attempts, retry_lock};
use super::regular::FileVersionStamp;
use super::{HIDDEN, HIDDEN_RANDOM, parent, remove, with_suffix, write_temp_file};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Attempts before going on without the lock, which only spares others a moment in which the file
/// is missing.
const TRIES: usize = 500;
/// Infix of temporary names, after the target's name. Distinctive, because old files with it are
/// removed, and `x.json.tmpbackup` is somebody's.
const TEMPORARY_INFIX: &str = ".tmp-recoup-";
/// Number of random characters after it.
const RANDOM: usize = 8;
/// Attempts to change a file that others keep changing.
const CHANGE_ATTEMPTS: usize = 100;
/// Age at which a temporary file can't be in use, in milliseconds: no write takes that long.
const ABANDONED_AFTER_MILLIS: u64 = 60_000;

/// Writes `contents` to `path`, private and atomic, through a temporary file whose name is that of
/// `path` with `.tmp-recoup-` and eight characters. Not synced: a power failure may leave it empty.
pub fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    replace_if(path, contents, || Ok(()))
}

/// Like [`replace`], if `look`, which reads what is at `path`, returns no error. `look` is called
/// again if the file has changed since.
pub fn replace_if(
    path: &Path,
    contents: &[u8],
    mut look: impl FnMut() -> Result<()>,
) -> Result<()> {
    let doing = || format!("cannot write {}", path.display());
    let mut file = create_temporary(path, contents).with_write_context(doing)?;
    for _ in 0..CHANGE_ATTEMPTS {
        let known = stamp_at(path).with_write_context(doing)?;
        look()?;
        let _turn = lock_dir(parent(path), TRIES, File::try_lock_shared);
        if stamp_at(path).with_write_context(doing)? == known {
            match file.persist(path).map_err(io::Error::from) {
                // Another process took it for abandoned before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    file = create_temporary(path, contents).with_write_context(doing)?;
                }
                done => return done.map(drop).with_write_context(doing),
            }
        }
    }
    Err(contention_error(path))
}

/// Like [`replace`], if the existing file has this stamp; else returns `false`.
pub(super) fn replace_if_unchanged(
    path: &Path,
    contents: &[u8],
    stamp: FileVersionStamp,
) -> io::Result<bool> {
    let file = create_temporary(path, contents)?;
    let _turn = lock_dir(parent(path), TRIES, File::try_lock_shared);
    let is_the_one = stamp_at(path)? == Some(stamp);
    if is_the_one {
        file.persist(path)?;
    }
    Ok(is_the_one)
}

fn create_temporary(path: &Path, contents: &[u8]) -> io::Result<NamedTempFile> {
    let name = Path::new(path.file_name().unwrap_or_default());
    write_temp_file(parent(path), &with_suffix(name, TEMPORARY_INFIX), RANDOM, contents)
}

fn contention_error(path: &Path) -> Error {
    Error::new(ErrorKind::Locked, format!("other processes keep changing {}", path.display()))
}

/// The target's name, if `name` is a temporary one that [`replace`] makes.
pub fn temporary_target(name: &str) -> Option<&str> {
    let (target, random) = name.rsplit_once(TEMPORARY_INFIX)?;
    is_random(random, RANDOM).then_some(target)
}

/// True if `name` is a hidden temporary name, as `write_unsynced` and others make it.
pub fn is_hidden_temporary(name: &str) -> bool {
    name.strip_prefix(HIDDEN).is_some_and(|random| is_random(random, HIDDEN_RANDOM))
}

fn is_random(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes the file at `path` if `look`, which reads it, returns true. `look` is called again if
/// the file has changed since.
pub fn remove_if(path: &Path, mut look: impl FnMut() -> Result<bool>) -> Result<bool> {
    for _ in 0..CHANGE_ATTEMPTS {
        let known = stamp_at(path).with_context(|| format!("cannot access {}", path.display()))?;
        let Some(stamp) = known else { return Ok(false) };
        if !look()? {
            return Ok(false);
        }
        if remove_if_unchanged(path, stamp)? {
            return Ok(true);
        }
    }
    Err(contention_error(path))
}

/// Removes the file with this stamp; `false` if it is missing or another has taken its place.
pub fn remove_if_unchanged(path: &Path, stamp: FileVersionStamp) -> Result<bool> {
    let _turn = lock_dir(parent(path), TRIES, File::try_lock);
    remove_checked(path, stamp).with_write_context(|| format!("cannot remove {}", path.display()))
}

/// Like [`remove_if_unchanged`], without waiting: `false` also if others are busy.
pub fn try_remove_if_unchanged(path: &Path, stamp: FileVersionStamp) -> Result<bool> {
    let Some(_turn) = lock_dir(parent(path), 1, File::try_lock) else { return Ok(false) };
    remove_checked(path, stamp).with_write_context(|| format!("cannot remove {}", path.display()))
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are moved and removed")]
fn remove_checked(path: &Path, stamp: FileVersionStamp) -> io::Result<bool> {
    if stamp_at(path)? != Some(stamp) {
        return Ok(false);
    }
    let random: String = (0..RANDOM).map(|_| fastrand::alphanumeric()).collect();
    let aside = with_suffix(path, &format!("{TEMPORARY_INFIX}{random}"));
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        moved => moved?,
    }
    let is_the_one = stamp_at(&aside)? == Some(stamp);
    if is_the_one {
        fs::remove_file(&aside)?;
    } else {
        // Moved back, but never over a newer one.
        match fs::hard_link(&aside, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => fs::rename(&aside, path),
            _ => fs::remove_file(&aside),
        }?;
    }
    Ok(is_the_one)
}

fn stamp_at(path: &Path) -> io::Result<Option<FileVersionStamp>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(FileVersionStamp::of(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Locks the directory; `None` if others are busy for too long. Best effort: the file is returned
/// unlocked where the file system has no locks.
fn lock_dir(
    dir: &Path,
    tries: usize,
    lock: fn(&File) -> std::result::Result<(), TryLockError>,
) -> Option<File> {
    let file = File::open(dir).ok()?;
    let locked = retry_lock(|| lock(&file), attempts(tries));
    (!matches!(locked, Err(TryLockError::WouldBlock))).then_some(file)
}

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
