//! What is in a directory, and whether there is one.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::Folder;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Shows everything in `dir` that has a name which is text; nothing where there
/// is no such directory. A file in its place, or a directory that may be listed
/// and not looked into, is an error: it would seem empty.
pub(in crate::store) fn each_in(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.doing(listing)?,
    };
    match fs::metadata(dir.join(".")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        looked => looked.doing(listing)?,
    };
    for entry in entries {
        let entry = entry.doing(listing)?;
        if let Some(name) = entry.file_name().to_str() {
            visit(&entry, name);
        }
    }
    Ok(())
}

impl Folder {
    /// Whether there is a directory; anything else in its place is an error.
    pub(in crate::store) fn is_there(&self) -> Result<bool> {
        let found = match fs::metadata(self.root()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found.doing(|| format!("looking at {}", self.root().display()))?,
        };
        if found.is_dir() {
            return Ok(true);
        }
        let message = format!("{} is not a directory", self.root().display());
        Err(Error::new(ErrorKind::Io, message))
    }
}
