//! Directory listings of a ledger.

use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{IoContext as _, Result};

/// Everything in `dir`; nothing if it does not exist.
pub(super) fn entries_of(dir: &Path) -> Result<Vec<DirEntry>> {
    match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        entries => entries
            .and_then(Iterator::collect)
            .with_context(|| format!("listing {}", dir.display())),
    }
}

/// The files in `dir` with that extension, in order of name.
pub(super) fn files_of(dir: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let paths = entries_of(dir)?.into_iter().map(|entry| entry.path());
    let has_ending = |path: &PathBuf| path.extension().is_some_and(|end| end == ending);
    let mut files: Vec<PathBuf> = paths.filter(has_ending).filter(|path| path.is_file()).collect();
    files.sort_unstable();
    Ok(files)
}
