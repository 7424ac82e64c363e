//! No link is followed below a store's directory: whoever planted one would have
//! us write and remove somewhere else. The directory itself may be behind one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::Folder;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

impl Folder {
    /// Makes sure that every directory below the root on the way to `dir` is one, or
    /// is not there yet. What can't be looked at is an error, and not nothing.
    pub(in crate::store) fn refuse_links(&self, dir: &Path) -> Result<()> {
        let mut path = PathBuf::from(self.root());
        for name in dir.strip_prefix(self.root()).unwrap_or(Path::new("")) {
            path.push(name);
            let found = match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(no_directory(fsx::parent(&path)));
                }
                found => found.doing(|| format!("looking at {}", path.display()))?,
            };
            if found.is_symlink() {
                return Err(link(&path));
            }
            if !found.is_dir() {
                return Err(no_directory(&path));
            }
        }
        Ok(())
    }
}

fn link(path: &Path) -> Error {
    let path = path.display();
    let message =
        format!("{path} is a symbolic link, which is not followed: put a directory in its place");
    Error::new(ErrorKind::Invalid, message)
}

fn no_directory(path: &Path) -> Error {
    let path = path.display();
    let message = format!("{path} is not a directory: remove it, or name another directory");
    Error::new(ErrorKind::Invalid, message)
}
