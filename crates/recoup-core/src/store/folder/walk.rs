//! Directory listing.

use std::fs::{self, DirEntry};
use std::io;
use std::path::Path;

use super::StoreFolder;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Visits everything in `dir` that has a UTF-8 name; nothing if the directory does not exist. A
/// file in its place, or a directory without search permission, is an error: it would seem empty.
pub(in crate::store) fn visit_entries(
    dir: &Path,
    visit: &mut dyn FnMut(&DirEntry, &str),
) -> Result<()> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.with_context(listing)?,
    };
    match fs::metadata(dir.join(".")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        looked => looked.with_context(listing)?,
    };
    for entry in entries {
        let entry = entry.with_context(listing)?;
        if let Some(name) = entry.file_name().to_str() {
            visit(&entry, name);
        }
    }
    Ok(())
}

impl StoreFolder {
    /// True if the directory exists; an error if something else is in its place.
    pub(in crate::store) fn exists(&self) -> Result<bool> {
        let found = match fs::metadata(self.root()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            found => found.with_context(|| format!("looking at {}", self.root().display()))?,
        };
        if found.is_dir() {
            return Ok(true);
        }
        let message = format!("{} is not a directory", self.root().display());
        Err(Error::new(ErrorKind::Io, message))
    }
}
