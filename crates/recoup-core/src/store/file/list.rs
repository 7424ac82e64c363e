//! What a scope's directory holds, by name alone: which files could be entries,
//! and which are what a writer left behind.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use crate::base::fsx;
use crate::error::Result;
use crate::key::Key;
use crate::store::folder::each_in;

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

/// The contents of a directory, judged by names and sizes alone.
#[derive(Debug, Default)]
pub(super) struct FolderSurvey {
    /// How many files could be entries; at least as many as count as ours.
    pub(super) entries: u64,
    /// How many bytes those have.
    pub(super) bytes: u64,
    /// Temporary files of entries, whether their writers are alive or not.
    pub(super) temporaries: Vec<PathBuf>,
}

pub(super) fn survey(dir: &Path) -> Result<FolderSurvey> {
    let mut seen = FolderSurvey::default();
    each_file(dir, &mut |file, name| {
        if key_of(name).is_some() {
            // Gone meanwhile is nothing.
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
    fsx::temporary_for(name).and_then(key_of).is_some()
}

/// The temporary files of entries, whether their writers are alive or not.
pub(super) fn temporary_in(dir: &Path) -> Result<Vec<PathBuf>> {
    named(dir, &is_temporary)
}

/// The same of what only we read.
pub(super) fn hidden_in(own: &Path) -> Result<Vec<PathBuf>> {
    named(own, &fsx::is_hidden_temporary)
}

fn named(dir: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    each_file(dir, &mut |file, name| found.extend(is_wanted(name).then(|| file.path())))?;
    Ok(found)
}

fn key_of(name: &str) -> Option<Key> {
    Key::parse(name.strip_suffix(ENDING)?).ok()
}

/// Regular files. Links are not followed.
fn each_file(dir: &Path, visit: &mut dyn FnMut(&DirEntry, &str)) -> Result<()> {
    each_in(dir, &mut |entry, name| {
        if entry.file_type().is_ok_and(|sort| sort.is_file()) {
            visit(entry, name);
        }
    })
}
