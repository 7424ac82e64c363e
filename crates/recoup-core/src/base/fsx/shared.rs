//! Files of a directory that several programs replace and remove. Whoever
//! removes one means a certain file, and never another that was put in its
//! place meanwhile.
//!
//! Those of ours agree with a lock on the directory itself, which leaves nothing
//! behind in it: whoever replaces a file holds it with others, whoever removes
//! one holds it alone. Programs that know nothing of it are still safe: a file
//! is moved aside, looked at again, and put back if it is not the one.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::thread;
use std::time::Duration;

use tempfile::NamedTempFile;

use super::regular::Stamp;
use super::{parent, prepared, with_suffix};
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Between two tries to get the lock.
const STEP: Duration = Duration::from_micros(200);
/// How often it is tried. Then it goes without: it spares others a moment in
/// which a file is not there, and nothing else depends on it.
const TRIES: usize = 500;
/// What a temporary name has after that of the file it is for. So particular,
/// because such files are removed when they are old, and `x.json.tmpbackup` is
/// somebody's.
const MARK: &str = ".tmp-recoup-";
/// How many random characters follow it.
const RANDOM: usize = 8;
/// How often one looks again at a file that others keep changing.
const LOOKS: usize = 100;

/// Puts `contents` at `path`, private, whole or not at all. Written to a file
/// beside it whose name is that of `path` with `.tmp-recoup-` and eight
/// characters; a power failure may leave it empty.
pub fn replace(path: &Path, contents: &[u8]) -> Result<()> {
    replace_if(path, contents, || Ok(()))
}

/// The same if `look`, which sees what is at `path`, has nothing against it. What
/// has come there since it looked, it is asked about again.
pub fn replace_if(
    path: &Path,
    contents: &[u8],
    mut look: impl FnMut() -> Result<()>,
) -> Result<()> {
    let doing = || format!("writing {}", path.display());
    let mut file = temporary(path, contents).writing(doing)?;
    for _ in 0..LOOKS {
        let known = stamp_at(path).writing(doing)?;
        look()?;
        let _turn = among_others(parent(path));
        if stamp_at(path).writing(doing)? == known {
            match file.persist(path).map_err(io::Error::from) {
                // Somebody took it for abandoned before it was locked.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    file = temporary(path, contents).writing(doing)?;
                }
                done => return done.map(drop).writing(doing),
            }
        }
    }
    Err(too_restless(path))
}

/// The same if the file that is there has this stamp; `false` when it has not.
pub(super) fn replace_same(path: &Path, contents: &[u8], stamp: Stamp) -> io::Result<bool> {
    let file = temporary(path, contents)?;
    let _turn = among_others(parent(path));
    let is_the_one = stamp_at(path)? == Some(stamp);
    if is_the_one {
        file.persist(path)?;
    }
    Ok(is_the_one)
}

fn temporary(path: &Path, contents: &[u8]) -> io::Result<NamedTempFile> {
    let name = Path::new(path.file_name().unwrap_or_default());
    prepared(parent(path), &with_suffix(name, MARK), RANDOM, contents)
}

fn too_restless(path: &Path) -> Error {
    Error::new(ErrorKind::Locked, format!("others keep changing {}", path.display()))
}

/// Whether a file's name is one that [`replace`] makes for another's: then that
/// other name.
pub fn temporary_for(name: &str) -> Option<&str> {
    let (target, random) = name.rsplit_once(MARK)?;
    is_random(random, RANDOM).then_some(target)
}

/// Whether a file's name is one that `write_whole` makes, whatever for.
pub fn is_hidden_temporary(name: &str) -> bool {
    name.strip_prefix(super::HIDDEN).is_some_and(|random| is_random(random, super::HIDDEN_RANDOM))
}

fn is_random(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Removes what is at `path` if `look`, which sees it, says so. What has come
/// there since it looked, it is asked about again.
pub fn remove_if(path: &Path, mut look: impl FnMut() -> Result<bool>) -> Result<bool> {
    for _ in 0..LOOKS {
        let known = stamp_at(path).doing(|| format!("looking at {}", path.display()))?;
        let Some(stamp) = known else { return Ok(false) };
        if !look()? {
            return Ok(false);
        }
        if remove_same(path, stamp)? {
            return Ok(true);
        }
    }
    Err(too_restless(path))
}

/// Removes the file that has this stamp; `false` when another one, or none, is
/// in its place.
pub fn remove_same(path: &Path, stamp: Stamp) -> Result<bool> {
    let _turn = alone(parent(path), TRIES);
    take_away(path, stamp).writing(|| format!("removing {}", path.display()))
}

/// The same for those who do not wait: `false` also when others are busy.
pub fn try_remove_same(path: &Path, stamp: Stamp) -> Result<bool> {
    let Some(_turn) = alone(parent(path), 1) else { return Ok(false) };
    take_away(path, stamp).writing(|| format!("removing {}", path.display()))
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are moved and removed")]
fn take_away(path: &Path, stamp: Stamp) -> io::Result<bool> {
    if stamp_at(path)? != Some(stamp) {
        return Ok(false);
    }
    let random: String = (0..RANDOM).map(|_| fastrand::alphanumeric()).collect();
    let aside = with_suffix(path, &format!("{MARK}{random}"));
    match fs::rename(path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        moved => moved?,
    }
    let is_the_one = stamp_at(&aside)? == Some(stamp);
    if is_the_one { fs::remove_file(&aside) } else { put_back(&aside, path) }?;
    Ok(is_the_one)
}

/// Never over what has come since, which is newer still.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are moved and removed")]
fn put_back(aside: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(aside, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => fs::rename(aside, path),
        _ => fs::remove_file(aside),
    }
}

fn stamp_at(path: &Path) -> io::Result<Option<Stamp>> {
    match fs::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(Stamp::of(&metadata))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Holds the directory with all who replace files in it.
fn among_others(dir: &Path) -> Option<File> {
    held(dir, TRIES, File::try_lock_shared)
}

/// Holds the directory alone; none when others are busy for too long.
fn alone(dir: &Path, tries: usize) -> Option<File> {
    held(dir, tries, File::try_lock)
}

/// A file system without such locks has to do without.
fn held(
    dir: &Path,
    tries: usize,
    lock: fn(&File) -> std::result::Result<(), TryLockError>,
) -> Option<File> {
    let file = File::open(dir).ok()?;
    for round in 0..tries {
        if round > 0 {
            thread::sleep(STEP);
        }
        if !matches!(lock(&file), Err(TryLockError::WouldBlock)) {
            return Some(file);
        }
    }
    None
}
