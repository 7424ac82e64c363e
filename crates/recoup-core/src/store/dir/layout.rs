//! Where the files of one scope are, and how they are read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::base::fsx;
use crate::error::{Error, ErrorKind, IoContext as _, Result};
use crate::key::Key;

/// The largest file that is read or written: no cached result comes near it.
pub(super) const MAX_LEN: u64 = 1 << 30;
/// What everything in the directory is called for git.
const IGNORE_ALL: &[u8] = b"*\n";

/// The directory of one scope. Keys are validated names, so no path leads out of it.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    dir: PathBuf,
}

impl Layout {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(super) fn index(&self) -> PathBuf {
        self.dir.join("index.json")
    }

    /// What could not be read as an index, kept for its owner.
    pub(super) fn broken_index(&self) -> PathBuf {
        self.dir.join("index.json.broken")
    }

    pub(super) fn bodies(&self) -> PathBuf {
        self.dir.join("results")
    }

    pub(super) fn body(&self, key: &Key) -> PathBuf {
        self.bodies().join(file_name(key.as_str()))
    }

    fn fulls(&self) -> PathBuf {
        self.dir.join("full")
    }

    /// Where a full result is, by the name of its file.
    pub(super) fn full(&self, name: &str) -> PathBuf {
        self.fulls().join(name)
    }

    pub(super) fn heads(&self) -> PathBuf {
        self.own().join("heads")
    }

    pub(super) fn head(&self, key: &Key) -> PathBuf {
        self.heads().join(file_name(key.as_str()))
    }

    pub(super) fn catalogue(&self) -> PathBuf {
        self.own().join("catalogue")
    }

    fn own(&self) -> PathBuf {
        self.dir.join(".recoup")
    }

    /// Whether anything was ever stored here, by us or by others.
    pub(super) fn is_used(&self) -> bool {
        self.heads().is_dir() || self.index().exists()
    }

    /// Makes the directories. The first time, git is told to pass over them; an
    /// ignore file that is there is the user's.
    pub(super) fn prepare(&self) -> Result<()> {
        if !self.heads().is_dir() {
            fsx::ensure_dir(&self.dir)?;
            let ignore = self.dir.join(".gitignore");
            if !is_there(&ignore) {
                fsx::write_whole(&ignore, IGNORE_ALL)?;
            }
            fsx::ensure_dir(&self.heads())?;
        }
        fsx::ensure_dir(&self.bodies())
    }

    /// Removes what writers that were killed left behind. The caller holds the
    /// lock, so nobody is about to rename one of them.
    pub(super) fn remove_leftovers(&self) -> Result<()> {
        for dir in [self.dir.clone(), self.own(), self.heads(), self.bodies(), self.fulls()] {
            for name in names_in(&dir)?.iter().filter(|name| is_leftover(name)) {
                if dir.join(name).is_file() {
                    fsx::remove(&dir.join(name))?;
                }
            }
        }
        Ok(())
    }

    /// Writes a full result under the name of its contents.
    pub(super) fn write_full(&self, name: &str, contents: &[u8]) -> Result<()> {
        fsx::ensure_dir(&self.fulls())?;
        fsx::write_whole(&self.full(name), contents)
    }
}

/// The file of a key, or of a full result's digest.
pub(super) fn file_name(stem: &str) -> String {
    format!("{stem}.json")
}

/// What one of our files holds. A pipe or a directory in its place is damage,
/// and nothing that is waited for. Links are followed to read, since all that is
/// read proves itself; to write is to replace them.
pub(super) fn read(path: &Path) -> Result<Option<Vec<u8>>> {
    fsx::read_regular(path, MAX_LEN).map_err(|error| match error.kind() {
        ErrorKind::Invalid => Error::new(ErrorKind::Corrupt, error.message()),
        _ => error,
    })
}

/// Removes one of our files; `false` when there was none. A directory in its place
/// is not ours, and stays.
pub(super) fn remove(path: &Path) -> Result<bool> {
    match fsx::remove(path) {
        Err(_) if path.is_dir() => Ok(false),
        removed => removed,
    }
}

/// Whether anything is there, be it a link that leads nowhere.
pub(super) fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok()
}

/// The keys that have a file in `dir`.
pub(super) fn keys_in(dir: &Path) -> Result<BTreeSet<Key>> {
    let keys = names_in(dir)?;
    let key = |name: String| Key::parse(name.strip_suffix(".json")?).ok();
    Ok(keys.into_iter().filter_map(key).collect())
}

fn is_leftover(name: &str) -> bool {
    name.strip_prefix(".recoup-").is_some_and(|random| random.len() == 6)
}

fn names_in(dir: &Path) -> Result<Vec<String>> {
    let listing = || format!("listing {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Vec::new());
        }
        entries => entries.doing(listing)?,
    };
    let names = entries.map(|entry| Ok(entry.doing(listing)?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}
