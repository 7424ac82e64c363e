//! No symbolic link is followed below a store's directory: a planted one would redirect our writes
//! and removals. The directory itself may be a link.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::StoreFolder;
use crate::base::fsx;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

impl StoreFolder {
    /// Checks that every component below the root on the way to `dir` is a directory or does not
    /// exist. One that cannot be inspected is an error.
    pub(in crate::store) fn refuse_links(&self, dir: &Path) -> Result<()> {
        let mut path = PathBuf::from(self.root());
        for name in dir.strip_prefix(self.root()).unwrap_or(Path::new("")) {
            path.push(name);
            let found = match fs::symlink_metadata(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    return Err(not_a_directory_error(fsx::parent(&path)));
                }
                found => found.with_context(|| format!("looking at {}", path.display()))?,
            };
            if found.is_symlink() {
                return Err(link_error(&path));
            }
            if !found.is_dir() {
                return Err(not_a_directory_error(&path));
            }
        }
        Ok(())
    }
}

fn link_error(path: &Path) -> Error {
    let path = path.display();
    let message =
        format!("{path} is a symbolic link, which is not followed: put a directory in its place");
    Error::new(ErrorKind::Invalid, message)
}

fn not_a_directory_error(path: &Path) -> Error {
    let path = path.display();
    let message = format!("{path} is not a directory: remove it, or name another directory");
    Error::new(ErrorKind::Invalid, message)
}
