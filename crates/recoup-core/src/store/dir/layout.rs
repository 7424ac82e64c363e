//! Paths of the files of one scope, and writing them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::files::{self, file_name};
use super::index::DirectoryIndex;
use super::index_cache::IndexCache;
use crate::base::fsx::{self, StagedFile};
use crate::error::Result;
use crate::key::Key;

/// `.gitignore` that excludes the whole directory.
const IGNORE_ALL: &str = "*\n";
/// `.gitignore` for a directory that is a project's root, which has other files too.
const IGNORE_OURS: &str = "/index.json\n/index.json.broken-*\n/results/\n/full/\n/.recoup/\n\
                           /early-exit/\n/project/\n/tenant/\n/session/\n";

/// The directory of one scope. Keys are validated names, so no path leads out of it.
#[derive(Debug, Clone)]
pub(super) struct ScopeLayout {
    dir: PathBuf,
    parsed: Arc<IndexCache>,
}

impl ScopeLayout {
    pub(super) fn new(dir: PathBuf, parsed: Arc<IndexCache>) -> Self {
        Self { dir, parsed }
    }

    pub(super) fn index(&self) -> PathBuf {
        self.dir.join("index.json")
    }

    /// The index for readers, parsed again only if it has changed.
    pub(super) fn current_index(&self) -> Result<Arc<DirectoryIndex>> {
        self.parsed.current_index(&self.index())
    }

    pub(super) fn bodies(&self) -> PathBuf {
        self.dir.join("results")
    }

    pub(super) fn body(&self, key: &Key) -> PathBuf {
        self.bodies().join(file_name(key.as_str()))
    }

    pub(super) fn fulls(&self) -> PathBuf {
        self.dir.join("full")
    }

    /// Path of a full result, by its file name.
    pub(super) fn full(&self, name: &str) -> PathBuf {
        self.fulls().join(name)
    }

    pub(super) fn heads(&self) -> PathBuf {
        self.private_dir().join("heads")
    }

    pub(super) fn head(&self, key: &Key) -> PathBuf {
        self.heads().join(file_name(key.as_str()))
    }

    /// Directory of the markers for full results of ours.
    pub(super) fn full_markers(&self) -> PathBuf {
        self.private_dir().join("made")
    }

    pub(super) fn catalogue(&self) -> PathBuf {
        self.private_dir().join("catalogue")
    }

    fn private_dir(&self) -> PathBuf {
        self.dir.join(".recoup")
    }

    /// The directories that a `get` reads from.
    pub(super) fn read_directories(&self) -> [PathBuf; 2] {
        [self.heads(), self.bodies()]
    }

    /// All directories in which we write and remove.
    pub(super) fn written_directories(&self) -> [PathBuf; 4] {
        [self.heads(), self.full_markers(), self.bodies(), self.fulls()]
    }

    /// True if anything was ever stored here, by us or by others.
    pub(super) fn is_used(&self) -> Result<bool> {
        Ok(files::exists(&self.heads())? || files::exists(&self.index())?)
    }

    /// Creates the directories, and at the first time a `.gitignore` unless there is one.
    pub(super) fn prepare(&self) -> Result<()> {
        if !self.heads().is_dir() {
            self.hide_from_git()?;
            fsx::ensure_dir(&self.heads())?;
        }
        fsx::ensure_dir(&self.bodies())
    }

    pub(super) fn hide_from_git(&self) -> Result<()> {
        fsx::ensure_dir(&self.private_dir())?;
        let ignore = self.dir.join(".gitignore");
        if files::exists(&ignore)? {
            return Ok(());
        }
        let is_project = files::exists(&self.dir.join(".git"))?;
        let ignored = if is_project { IGNORE_OURS } else { IGNORE_ALL };
        self.write(&ignore, ignored.as_bytes()).map(drop)
    }

    /// Writes a file atomically. Temporary files are in a directory of our own, so that a sweep
    /// removes only ours.
    pub(super) fn write(&self, path: &Path, contents: &[u8]) -> Result<File> {
        self.stage(contents)?.move_into_place(path)
    }

    pub(super) fn stage(&self, contents: &[u8]) -> Result<StagedFile> {
        StagedFile::new(&self.private_dir(), contents)
    }

    /// Removes temporary files of killed writers. The caller must hold the lock, so that none is
    /// still in use.
    pub(super) fn remove_leftovers(&self) -> Result<()> {
        let own = self.private_dir();
        for name in files::names_in(&own)?.iter().filter(|name| is_leftover(name)) {
            if own.join(name).is_file() {
                fsx::remove(&own.join(name))?;
            }
        }
        Ok(())
    }
}

fn is_leftover(name: &str) -> bool {
    name.strip_prefix(".recoup-").is_some_and(|random| random.len() == 6)
}
