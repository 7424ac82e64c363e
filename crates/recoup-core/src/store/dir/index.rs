//! `index.json` of contract 1: an export for us, authoritative for other tools. Unknown fields are
//! preserved.

mod changes;
mod text;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use self::changes::IndexChange;
use super::fields::{JsonFields, to_raw_json};
use super::files;
use super::layout::ScopeLayout;
use super::listed_entry::ListedEntry;
use super::stamps::StatStamp;
use super::stats::IndexStats;
use crate::base::clock::Timestamp;
use crate::base::name::SafeName;
use crate::error::{Error, ErrorKind, Result};

/// State of the index file.
#[derive(Debug)]
pub(super) enum IndexState {
    Whole(DirectoryIndex),
    /// Missing or empty, so that nothing is lost.
    Nothing,
    /// Possibly a damaged index.
    Broken,
    /// Intact, but not an index.
    Others,
}

#[derive(Debug, Default)]
pub(super) struct DirectoryIndex {
    /// All fields but the entries, of which only the position is kept.
    fields: JsonFields,
    entries: BTreeMap<String, Box<RawValue>>,
    /// Stamp of the file from which it was read; `None` if there was none.
    seen: Option<StatStamp>,
    /// Our changes since, to be replayed on an index that others wrote meanwhile.
    changes: Vec<IndexChange>,
}

impl DirectoryIndex {
    /// An empty index with these counts, to replace a file with the stamp `seen`. Its creation time
    /// is set when it is written.
    pub(super) fn with_stats(stats: IndexStats, seen: Option<StatStamp>) -> Self {
        let mut index = Self { seen, ..Self::default() };
        for name in ["schema_version", "created_at", "entries"] {
            index.fields.set(name, to_raw_json(&()));
        }
        index.add_stats(IndexStats::default(), stats);
        index
    }

    /// Reads the whole index, or nothing.
    pub(super) fn find(path: &Path) -> Result<IndexState> {
        // Before the read: a concurrent change is noticed when the index is written.
        let seen = StatStamp::at(path);
        let json = match files::read(path) {
            Ok(None) => return Ok(IndexState::Nothing),
            Ok(Some(json)) if json.trim_ascii().is_empty() => return Ok(IndexState::Nothing),
            Ok(Some(json)) => json,
            Err(_) if files::is_directory(path) => return Ok(IndexState::Others),
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(IndexState::Broken),
            Err(error) => return Err(error),
        };
        Ok(match serde_json::from_slice::<Self>(&json) {
            Ok(index) if index.fields.is_empty() => IndexState::Nothing,
            Ok(index) if index.has_index_fields() => IndexState::Whole(Self { seen, ..index }),
            Ok(_) => IndexState::Others,
            Err(_) if is_whole_and_no_object(&json) => IndexState::Others,
            Err(_) => IndexState::Broken,
        })
    }

    fn has_index_fields(&self) -> bool {
        ["entries", "schema_version"].iter().any(|it| self.fields.get::<IgnoredAny>(it).is_some())
    }

    /// The index for readers: empty if the file is not a readable index.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Ok(match Self::find(path)? {
            IndexState::Whole(index) => index,
            IndexState::Nothing | IndexState::Broken | IndexState::Others => Self::default(),
        })
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// An entry of the index, if all its fields can be read.
    pub(super) fn entry_for(&self, key: &str) -> Option<ListedEntry> {
        serde_json::from_str(self.entries.get(key)?.get()).ok()
    }

    /// File name of an entry's full result, if that is in this directory.
    pub(super) fn full_name(&self, key: &str, layout: &ScopeLayout) -> Option<String> {
        let entry: JsonFields = serde_json::from_str(self.entries.get(key)?.get()).ok()?;
        let path = PathBuf::from(entry.get::<String>("full_result_path")?);
        let name = path.file_name()?.to_str()?;
        SafeName::parse("full result", name).ok()?;
        names_our_file(&path, &layout.full(name)).then(|| name.to_owned())
    }

    fn entry_fields(&self, key: &str) -> JsonFields {
        let entry = self.entries.get(key);
        entry.and_then(|entry| serde_json::from_str(entry.get()).ok()).unwrap_or_default()
    }

    /// Adds an entry, in place of any previous one.
    pub(super) fn insert(&mut self, key: &str, listed: ListedEntry) {
        self.change(IndexChange::Put(key.to_owned(), listed));
    }

    /// Updates an entry, and preserves its unknown fields.
    pub(super) fn update_entry(&mut self, key: &str, listed: ListedEntry) {
        self.change(IndexChange::Restated(key.to_owned(), listed));
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.change(IndexChange::Removed(key.to_owned()));
    }

    /// Counts hits of a listed entry, which had at least `in_all` of them.
    pub(super) fn add_hits(&mut self, key: &str, hits: u64, in_all: u64, last: Timestamp) {
        self.change(IndexChange::Hits { key: key.to_owned(), hits, in_all, last });
    }

    /// Counts look-ups, of which there were at least `least` in all.
    pub(super) fn add_stats(&mut self, added: IndexStats, least: IndexStats) {
        self.change(IndexChange::Stats { added, least });
    }
}

/// A truncated object may have been an index.
fn is_whole_and_no_object(json: &[u8]) -> bool {
    !json.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(json).is_ok()
}

/// True if a path in the index names this file of ours. A relative path starts at some directory
/// above, where its writer was.
fn names_our_file(path: &Path, file: &Path) -> bool {
    let is_plain = path.components().all(|it| !matches!(it, Component::ParentDir));
    let path: PathBuf = path.components().filter(|it| *it != Component::CurDir).collect();
    let is_it =
        |file: PathBuf| if path.is_absolute() { path == file } else { file.ends_with(&path) };
    let in_full = path.components().count() > 1;
    is_plain
        && in_full
        && (std::path::absolute(file).is_ok_and(is_it) || canonical_path(file).is_some_and(is_it))
}

/// The path with all links of the directory resolved. The file need not exist.
fn canonical_path(file: &Path) -> Option<PathBuf> {
    let full = file.parent()?;
    let dir = full.parent()?.canonicalize().ok()?;
    Some(dir.join(full.file_name()?).join(file.file_name()?))
}

/// The error for an unrelated file in the place of an index.
pub(super) fn not_an_index_error(path: &Path) -> Error {
    let message = format!(
        "{} is not the index of a cache, so it is left alone: move it, or name another directory",
        path.display()
    );
    Error::new(ErrorKind::Invalid, message)
}
