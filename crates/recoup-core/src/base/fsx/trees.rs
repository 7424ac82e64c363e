//! Directories that appear and vanish whole, by a rename.

use std::fs;
use std::io;
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// True if there is a directory at `path`. A link to one, or anything else there, is an error: it
/// is somebody's.
pub fn is_real_dir(path: &Path) -> Result<bool> {
    let refused =
        |why: &str| Err(Error::new(ErrorKind::Invalid, format!("{} {why}", path.display())));
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => Ok(true),
        Ok(found) if found.is_symlink() => {
            refused("is a symbolic link, which is not followed: put a directory in its place")
        }
        Ok(_) => refused("is not a directory: remove it, or name another directory"),
        Err(error) if is_absence(&error) => Ok(false),
        Err(error) => Err(error).with_context(|| format!("looking at {}", path.display())),
    }
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Renames a directory to an unused name in one step; `false`, with nothing changed, if the name is
/// taken. Not synced.
pub fn rename_noreplace(from: &Path, to: &Path) -> Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Not all file systems support this; a plain rename replaces only an empty directory.
        Err(Errno::INVAL | Errno::NOSYS) => rename_fallback(from, to),
        Err(Errno::EXIST | Errno::NOTEMPTY) => Ok(false),
        done => done
            .map(|()| true)
            .map_err(io::Error::from)
            .with_write_context(|| format!("moving {} to {}", from.display(), to.display())),
    }
}

#[expect(clippy::disallowed_methods, reason = "fsx is where files are renamed")]
fn rename_fallback(from: &Path, to: &Path) -> Result<bool> {
    match fs::rename(from, to) {
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::AlreadyExists | io::ErrorKind::DirectoryNotEmpty
            ) =>
        {
            Ok(false)
        }
        done => done
            .map(|()| true)
            .with_write_context(|| format!("moving {} to {}", from.display(), to.display())),
    }
}

/// Removes an empty directory; `false` if it is missing or not empty.
pub fn remove_empty_dir(path: &Path) -> Result<bool> {
    match rustix::fs::rmdir(path) {
        Ok(()) => Ok(true),
        Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR) => Ok(false),
        Err(error) => Err(io::Error::from(error))
            .with_write_context(|| format!("removing {}", path.display())),
    }
}

/// Removes a file, or a directory with all that is in it. Links are removed, not followed.
#[expect(clippy::disallowed_methods, reason = "fsx is where files are removed")]
pub fn remove_tree(path: &Path) -> Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.with_write_context(|| format!("removing {}", path.display())),
    }
}
