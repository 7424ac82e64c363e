//! Listing of a scope's directory by file names alone: possible entries, and temporary files.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::base::fsx;
use crate::error::Result;
use crate::key::Key;
use crate::store::folder::visit_entries;

/// Extension of an entry's file.
const ENDING: &str = ".json";

/// A file whose name is that of an entry.
#[derive(Debug)]
pub(super) struct EntryPath {
    pub(super) key: Key,
    pub(super) path: PathBuf,
}

/// Path of an entry in the directory of its scope.
pub(super) fn path_in(mut dir: PathBuf, key: &Key) -> PathBuf {
    dir.reserve(key.as_str().len() + ENDING.len() + 1);
    dir.push(key.as_str());
    dir.as_mut_os_string().push(ENDING);
    dir
}

/// The files that could be entries; none if the directory does not exist.
pub(super) fn entries_in(dir: &Path) -> Result<Vec<EntryPath>> {
    let mut found = Vec::new();
    visit_files(dir, &mut |file, name| {
        found.extend(key_of(name).map(|key| EntryPath { key, path: file.path() }));
    })?;
    Ok(found)
}

/// The contents of a directory, judged by names and sizes alone.
#[derive(Debug, Default)]
pub(super) struct FolderSurvey {
    /// Number of possible entries, an upper bound for those of ours.
    pub(super) entries: u64,
    /// Total size of those.
    pub(super) bytes: u64,
    /// Temporary files of entries, whether or not their writers are alive.
    pub(super) temporaries: Vec<PathBuf>,
}

pub(super) fn survey(dir: &Path) -> Result<FolderSurvey> {
    let mut seen = FolderSurvey::default();
    visit_files(dir, &mut |file, name| {
        if key_of(name).is_some() {
            // A file that is gone meanwhile has no size.
            let len = file.metadata().map_or(0, |metadata| metadata.len());
            seen.bytes = seen.bytes.saturating_add(len);
            seen.entries += 1;
        } else if is_temporary(name) {
            seen.temporaries.push(file.path());
        }
    })?;
    Ok(seen)
}

fn is_temporary(name: &str) -> bool {
    fsx::temporary_target(name).and_then(key_of).is_some()
}

/// The temporary files of entries, whether or not their writers are alive.
pub(super) fn temporaries_in(dir: &Path) -> Result<Vec<PathBuf>> {
    paths_named(dir, &is_temporary)
}

/// The temporary files in our own directory.
pub(super) fn own_temporaries_in(own: &Path) -> Result<Vec<PathBuf>> {
    paths_named(own, &fsx::is_hidden_temporary)
}

fn paths_named(dir: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    visit_files(dir, &mut |file, name| found.extend(is_wanted(name).then(|| file.path())))?;
    Ok(found)
}

fn key_of(name: &str) -> Option<Key> {
    Key::parse(name.strip_suffix(ENDING)?).ok()
}

/// Visits regular files. Links are not followed.
fn visit_files(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    visit_entries(dir, &mut |entry, name| {
        if entry.file_type().is_ok_and(|sort| sort.is_file()) {
            visit(entry, name);
        }
    })
}
