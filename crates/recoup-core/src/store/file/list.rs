//! What a scope's directory holds, by name alone: which files could be entries,
//! and which are what a writer left behind.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::base::fsx;
use crate::error::{IoContext as _, Result};
use crate::key::Key;

/// What an entry's file name ends with.
const ENDING: &str = ".json";

/// A file whose name says that it could be an entry.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) key: Key,
    pub(super) path: PathBuf,
}

/// Where the entry of a key is, in the directory of its scope.
pub(super) fn path_in(mut dir: PathBuf, key: &Key) -> PathBuf {
    dir.reserve(key.as_str().len() + ENDING.len() + 1);
    dir.push(key.as_str());
    dir.as_mut_os_string().push(ENDING);
    dir
}

/// The files that could be entries; none where there is no directory.
pub(super) fn entries_in(dir: &Path) -> Result<Vec<Named>> {
    let mut found = Vec::new();
    each_file(dir, &mut |file, name| {
        found.extend(key_of(name).map(|key| Named { key, path: file.path() }));
    })?;
    Ok(found)
}

/// How many there are, and how many bytes they have; at least as much as
/// counts as ours.
pub(super) fn sizes_in(dir: &Path) -> Result<(u64, u64)> {
    let (mut count, mut bytes) = (0, 0u64);
    each_file(dir, &mut |file, name| {
        if key_of(name).is_some() {
            // Gone meanwhile is nothing.
            bytes = bytes.saturating_add(file.metadata().map_or(0, |metadata| metadata.len()));
            count += 1;
        }
    })?;
    Ok((count, bytes))
}

/// The temporary files of entries, whether their writers are alive or not.
pub(super) fn temporary_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    each_file(dir, &mut |file, name| {
        found.extend(fsx::temporary_for(name).and_then(key_of).map(|_| file.path()));
    })?;
    Ok(found)
}

fn key_of(name: &str) -> Option<Key> {
    Key::parse(name.strip_suffix(ENDING)?).ok()
}

/// Regular files with names that are text. Links are not followed.
fn each_file(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(());
        }
        entries => entries.doing(listing)?,
    };
    for entry in entries {
        let entry = entry.doing(listing)?;
        let is_file = entry.file_type().is_ok_and(|sort| sort.is_file());
        if let Some(name) = entry.file_name().to_str().filter(|_| is_file) {
            visit(&entry, name);
        }
    }
    Ok(())
}
