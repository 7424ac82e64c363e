//! Paths of the files of one scope; reading, writing and removing them.
//!
//! Our head of an entry has a file of its own: the header as sealed, times and hits. So an entry is
//! two files, which cannot be replaced atomically: a head that replaces another contains both until
//! the body is written. Whichever body a reader finds, one of the two heads belongs to it.
//!
//! ```text
//! 1. heads/K.json    the new head, and inside it the one before
//! 2. full/….json     the new full result, named by a head from the start
//! 3. results/K.json  the new body
//! 4. heads/K.json    the new head alone
//! ```
//! If both heads have the same body, the previous one counts until it is gone.
//!
//! Full results are named by their digest. Each of ours has an empty marker file of that name in
//! `.recoup/made/`, from before it is written until after it is removed: so those of others are
//! never removed, and ours never leaked.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::index::{DirectoryIndex, IndexCache};
use crate::base::clock::Timestamp;
use crate::base::digest::Sha256Digest;
use crate::base::fsx::{self, StagedFile};
use crate::base::name::SafeName;
use crate::entry::{EntryHead, Header};
use crate::error::{Error, ErrorKind, IoContext as _, Result};
use crate::key::Key;

/// Maximum size of a file that is read or written.
pub(super) const MAX_LEN: u64 = 1 << 30;
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
    fn full_markers(&self) -> PathBuf {
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
        Ok(path_exists(&self.heads())? || path_exists(&self.index())?)
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
        if path_exists(&ignore)? {
            return Ok(());
        }
        let is_project = path_exists(&self.dir.join(".git"))?;
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
        let is_leftover =
            |name: &&String| name.strip_prefix(".recoup-").is_some_and(|random| random.len() == 6);
        for name in names_in(&own)?.iter().filter(is_leftover) {
            if own.join(name).is_file() {
                fsx::remove(&own.join(name))?;
            }
        }
        Ok(())
    }
}

/// The file of a key, or of a full result's digest.
pub(super) fn file_name(stem: &str) -> String {
    format!("{stem}.json")
}

/// The contents of one of our files. A pipe or a directory in its place counts as damage. Links are
/// followed for reading, because all contents are verified; writing replaces them.
pub(super) fn read_file(path: &Path) -> Result<Option<Vec<u8>>> {
    fsx::read_regular(path, MAX_LEN).map_err(|error| match error.kind() {
        ErrorKind::Invalid => Error::new(ErrorKind::Corrupt, error.message()),
        _ => error,
    })
}

/// The contents of a file that can be rebuilt; `None` also if it cannot be read.
pub(super) fn read_rebuildable(path: &Path) -> Option<Vec<u8>> {
    read_file(path).ok().flatten()
}

/// Removes a file that can be rebuilt. A directory in its place stays.
pub(super) fn remove_rebuildable(path: &Path) -> Result<()> {
    match fsx::remove(path) {
        Err(_) if path.is_dir() => Ok(()),
        removed => removed.map(drop),
    }
}

/// True if anything exists there, even a dangling link. An error if that cannot be determined.
pub(super) fn path_exists(path: &Path) -> Result<bool> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        found => found.map(|_| true).with_context(|| format!("cannot access {}", path.display())),
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

fn names_in(dir: &Path) -> Result<Vec<String>> {
    let listing = || format!("cannot list {}", dir.display());
    let entries = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(listing)?,
    };
    let names =
        entries.map(|entry| Ok(entry.with_context(listing)?.file_name().into_string().ok()));
    names.filter_map(Result::transpose).collect()
}

fn full_marker(layout: &ScopeLayout, name: &str) -> PathBuf {
    layout.full_markers().join(name)
}

/// An error if there is a different file in its place that we did not write.
pub(super) fn refuse_foreign_full(layout: &ScopeLayout, name: &str, contents: &[u8]) -> Result<()> {
    let place = layout.full(name);
    if should_write(layout, name)? || read_rebuildable(&place).is_some_and(|it| it == contents) {
        return Ok(());
    }
    Err(not_an_entry_error(&place))
}

/// Writes a full result, unless another program did.
pub(super) fn write_full_result(layout: &ScopeLayout, name: &str, contents: &[u8]) -> Result<()> {
    if !should_write(layout, name)? {
        return Ok(());
    }
    fsx::ensure_dir(&layout.full_markers())?;
    fsx::create_private(&full_marker(layout, name))?;
    fsx::ensure_dir(&layout.fulls())?;
    layout.write(&layout.full(name), contents).map(drop)
}

fn should_write(layout: &ScopeLayout, name: &str) -> Result<bool> {
    Ok(path_exists(&full_marker(layout, name))? || !path_exists(&layout.full(name))?)
}

/// Removes an unreferenced full result, if it is ours.
pub(super) fn remove_full_result(layout: &ScopeLayout, name: &str) -> Result<()> {
    let full_marker = full_marker(layout, name);
    if path_exists(&full_marker)? {
        remove_rebuildable(&layout.full(name))?;
        fsx::remove(&full_marker)?;
    }
    Ok(())
}

/// The names of all full results of ours.
pub(super) fn own_full_results(layout: &ScopeLayout) -> Result<Vec<String>> {
    names_in(&layout.full_markers())
}

/// A head as it is written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct HeadFile {
    /// Random number of the put, so that a reader notices a new one.
    pub(super) turn: u64,
    stored_at: Timestamp,
    hits: u64,
    last_used: Timestamp,
    /// The last batch whose hits are included: a repetition after a crash adds none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    batch: Option<String>,
    header: Box<RawValue>,
    /// The head that is being replaced, until that is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Box<Self>>,
}

impl HeadFile {
    pub(super) fn of(head: &EntryHead) -> Self {
        let EntryHead { header, stored_at, hits, last_used } = head;
        Self {
            turn: fastrand::u64(..),
            stored_at: *stored_at,
            hits: *hits,
            last_used: *last_used,
            batch: None,
            header: serde_json::value::to_raw_value(header)
                .expect("a header has only strings and numbers, which always serialize"),
            before: None,
        }
    }

    /// The stored head; an error if it cannot be read.
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(json) = read_file(path)? else { return Ok(None) };
        serde_json::from_slice(&json).map(Some).map_err(|error| {
            Error::new(ErrorKind::Corrupt, "the entry's head can't be read").with_source(error)
        })
    }

    pub(super) fn write(&self, layout: &ScopeLayout, key: &Key) -> Result<()> {
        let json = serde_json::to_vec(self).expect("what was read or made as JSON serializes");
        layout.write(&layout.head(key), &json).map(drop)
    }

    /// Both heads, until the body is replaced.
    pub(super) fn with_previous(&self, before: Self) -> Self {
        let before = Some(Box::new(Self { before: None, ..before }));
        Self { before, ..self.clone() }
    }

    /// True if a put was interrupted, so that the body decides which head applies.
    pub(super) fn is_unsettled(&self) -> bool {
        self.before.is_some()
    }

    /// The one of the two heads that the body belongs to, alone.
    pub(super) fn settle_for(self, body: Sha256Digest) -> Self {
        let is_its = |head: EntryHead| head.header.body.sha256 == body;
        match self.before {
            Some(before) if before.parse_head().is_ok_and(is_its) => *before,
            _ => Self { before: None, ..self },
        }
    }

    /// The head of that body, if one of the two is.
    pub(super) fn head_for_body(&self, body: Sha256Digest) -> Result<Option<EntryHead>> {
        let is_its = |head: &EntryHead| head.header.body.sha256 == body;
        let before =
            self.before.as_ref().and_then(|before| before.parse_head().ok()).filter(is_its);
        match before {
            Some(before) => Ok(Some(before)),
            None => self.parse_head().map(|head| Some(head).filter(is_its)),
        }
    }

    /// The parsed head.
    pub(super) fn parse_head(&self) -> Result<EntryHead> {
        let header = Header::from_json(self.header.get().as_bytes())?;
        let Self { stored_at, hits, last_used, .. } = *self;
        Ok(EntryHead { header, stored_at, hits, last_used })
    }

    /// Size of the header.
    pub(super) fn header_len(&self) -> u64 {
        self.header.get().len() as u64
    }

    /// Counts the hits of a batch, once.
    pub(super) fn add_hits(&mut self, batch: &SafeName, hits: u64, last: Timestamp) {
        if self.batch.as_deref() != Some(batch.as_str()) {
            self.hits = self.hits.saturating_add(hits);
            self.last_used = self.last_used.max(last);
            self.batch = Some(batch.to_string());
        }
    }
}
