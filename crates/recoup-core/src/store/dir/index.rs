//! `index.json`, as contract 1 has it: for us an export, for other tools the
//! truth. What we do not know in it is kept as it is.

mod changes;
mod text;

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use self::changes::Change;
use super::fields::{Fields, raw};
use super::files;
use super::layout::Layout;
use super::listed::Listed;
use super::stamps::Stamp;
use super::stats::Stats;
use crate::base::clock::Timestamp;
use crate::base::name::Name;
use crate::error::{Error, ErrorKind, Result};

/// What is found in the place of an index.
#[derive(Debug)]
pub(super) enum Found {
    Whole(Index),
    /// Nothing is lost with it: it is not there, or empty.
    Nothing,
    /// What may have been an index.
    Broken,
    /// Something that is whole, and no index.
    Others,
}

#[derive(Debug, Default)]
pub(super) struct Index {
    /// Everything but the entries, which only have their place among them.
    fields: Fields,
    entries: BTreeMap<String, Box<RawValue>>,
    /// How the file looked from which it was read; none where there was none.
    seen: Option<Stamp>,
    /// What we did since, to do it again to what others put in its place.
    changes: Vec<Change>,
}

impl Index {
    /// An empty one that has been counting since the beginning, to be put where it
    /// looked like that. When it was begun shows when it is written.
    pub(super) fn with_stats(stats: Stats, seen: Option<Stamp>) -> Self {
        let mut index = Self { seen, ..Self::default() };
        for name in ["schema_version", "created_at", "entries"] {
            index.fields.set(name, raw(&()));
        }
        index.add_stats(Stats::default(), stats);
        index
    }

    /// Read whole, or not at all.
    pub(super) fn find(path: &Path) -> Result<Found> {
        // Before it is read: what changes meanwhile shows when it is written.
        let seen = Stamp::at(path);
        let json = match files::read(path) {
            Ok(None) => return Ok(Found::Nothing),
            Ok(Some(json)) if json.trim_ascii().is_empty() => return Ok(Found::Nothing),
            Ok(Some(json)) => json,
            Err(_) if files::is_directory(path) => return Ok(Found::Others),
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(Found::Broken),
            Err(error) => return Err(error),
        };
        Ok(match serde_json::from_slice::<Self>(&json) {
            Ok(index) if index.fields.is_empty() => Found::Nothing,
            Ok(index) if index.is_one() => Found::Whole(Self { seen, ..index }),
            Ok(_) => Found::Others,
            Err(_) if is_whole_and_no_object(&json) => Found::Others,
            Err(_) => Found::Broken,
        })
    }

    fn is_one(&self) -> bool {
        ["entries", "schema_version"].iter().any(|it| self.fields.get::<IgnoredAny>(it).is_some())
    }

    /// What a reader makes of it: what is no index lists nothing.
    pub(super) fn read(path: &Path) -> Result<Self> {
        Ok(match Self::find(path)? {
            Found::Whole(index) => index,
            Found::Nothing | Found::Broken | Found::Others => Self::default(),
        })
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(super) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// What is said of an entry, if all of it can be read.
    pub(super) fn listed(&self, key: &str) -> Option<Listed> {
        serde_json::from_str(self.entries.get(key)?.get()).ok()
    }

    /// The file of an entry's full result, where that is in this directory.
    pub(super) fn full_name(&self, key: &str, layout: &Layout) -> Option<String> {
        let entry: Fields = serde_json::from_str(self.entries.get(key)?.get()).ok()?;
        let path = PathBuf::from(entry.get::<String>("full_result_path")?);
        let name = path.file_name()?.to_str()?;
        Name::parse("full result", name).ok()?;
        leads_to(&path, &layout.full(name)).then(|| name.to_owned())
    }

    fn entry(&self, key: &str) -> Fields {
        let entry = self.entries.get(key);
        entry.and_then(|entry| serde_json::from_str(entry.get()).ok()).unwrap_or_default()
    }

    /// Lists an entry, in place of any that was listed.
    pub(super) fn insert(&mut self, key: &str, listed: Listed) {
        self.change(Change::Put(key.to_owned(), listed));
    }

    /// Puts right what is said of an entry, and keeps what else is said of it.
    pub(super) fn restate(&mut self, key: &str, listed: Listed) {
        self.change(Change::Restated(key.to_owned(), listed));
    }

    pub(super) fn remove(&mut self, key: &str) {
        self.change(Change::Removed(key.to_owned()));
    }

    /// Counts hits of a listed entry, which had at least `in_all` of them.
    pub(super) fn add_hits(&mut self, key: &str, hits: u64, in_all: u64, last: Timestamp) {
        self.change(Change::Hits { key: key.to_owned(), hits, in_all, last });
    }

    /// Counts look-ups, of which there were at least `least` in all.
    pub(super) fn add_stats(&mut self, added: Stats, least: Stats) {
        self.change(Change::Stats { added, least });
    }
}

/// An object of which half is missing may have been an index.
fn is_whole_and_no_object(json: &[u8]) -> bool {
    !json.trim_ascii_start().starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(json).is_ok()
}

/// Whether a path in the index is that of a file of ours. One that is not absolute
/// is as its writer saw the directory: from somewhere above it.
fn leads_to(path: &Path, file: &Path) -> bool {
    let is_plain = path.components().all(|it| !matches!(it, Component::ParentDir));
    let path: PathBuf = path.components().filter(|it| *it != Component::CurDir).collect();
    let is_it =
        |file: PathBuf| if path.is_absolute() { path == file } else { file.ends_with(&path) };
    let in_full = path.components().count() > 1;
    is_plain
        && in_full
        && (std::path::absolute(file).is_ok_and(is_it) || real(file).is_some_and(is_it))
}

/// With the directory as it is behind all links. The file need not be there.
fn real(file: &Path) -> Option<PathBuf> {
    let full = file.parent()?;
    let dir = full.parent()?.canonicalize().ok()?;
    Some(dir.join(full.file_name()?).join(file.file_name()?))
}

/// What is in the place of an index and belongs to somebody else.
pub(super) fn refused(path: &Path) -> Error {
    let message = format!(
        "{} is not the index of a cache, so it is left alone: move it, or name another directory",
        path.display()
    );
    Error::new(ErrorKind::Invalid, message)
}
