//! Reading, finding and removing single files.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use crate::base::fsx;
use crate::error::{Error, ErrorKind, IoContext as _, Result};
use crate::key::Key;

/// Maximum size of a file that is read or written.
pub(super) const MAX_LEN: u64 = 1 << 30;

/// The file of a key, or of a full result's digest.
pub(super) fn file_name(stem: &str) -> String {
    format!("{stem}.json")
}

/// The contents of one of our files. A pipe or a directory in its place counts as damage. Links are
/// followed for reading, because all contents are verified; writing replaces them.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    fsx::read_regular(path, MAX_LEN).map_err(|error| match error.kind() {
        ErrorKind::Invalid => Error::new(ErrorKind::Corrupt, error.message()),
        _ => error,
    })
}

/// The contents of a file that can be rebuilt; `None` also if it cannot be read.
pub(super) fn read_rebuildable(path: &Path) -> Option<Vec<u8>> {
    read(path).ok().flatten()
}

/// Removes a file that can be rebuilt. A directory in its place stays.
pub(super) fn remove_rebuildable(path: &Path) -> Result<()> {
    match fsx::remove(path) {
        Err(_) if path.is_dir() => Ok(()),
        removed => removed.map(drop),
    }
}

/// True if anything exists there, even a dangling link. An error if that cannot be determined.
pub(super) fn exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|_| true).with_context(|| format!("looking at {}", path.display())),
    }
}

pub(super) fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The error for a file in a place of ours that we did not write.
pub(super) fn not_an_entry_error(path: &Path) -> Error {
    let message = format!("{} is not a cache entry, so it is left alone", path.display());
    Error::new(ErrorKind::Invalid, message)
}

/// The keys that have a file in `dir`.
pub(super) fn keys_in(dir: &Path) -> Result<BTreeSet<Key>> {
    let keys = names_in(dir)?;
    let key = |name: String| Key::parse(name.strip_suffix(".json")?).ok();
    Ok(keys.into_iter().filter_map(key).collect())
}

pub(super) fn names_in(dir: &Path) -> Result<Vec<String>> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(listing)?,
    };
    let names =
        entries.map(|entry| Ok(entry.with_context(listing)?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}
