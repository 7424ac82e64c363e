//! `index.json` of the semantic-cache protocol: an export for us, authoritative for other tools. Read whole or not at
//! all, written readably, and unknown fields are preserved.
//!
//! Other tools take no lock, so if they wrote the file meanwhile it is read again, and our changes are
//! replayed on it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, thread};

use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::catalogue::StatStamp;
use super::layout::{ScopeLayout, is_directory, path_exists, read_file, read_rebuildable};
use super::listed_entry::{IndexStats, JsonFields, ListedEntry, to_raw_json};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::name::SafeName;
use crate::error::{Error, ErrorKind, Result};
use crate::key::Key;

const SCHEMA_VERSION: &str = "1.0.0";
/// How often an index that others keep replacing is read again, and the pause for one that is half
/// written.
const ROUNDS: usize = 16;
const PAUSE: Duration = Duration::from_millis(1);

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
        let json = match read_file(path) {
            Ok(None) => return Ok(IndexState::Nothing),
            Ok(Some(json)) if json.trim_ascii().is_empty() => return Ok(IndexState::Nothing),
            Ok(Some(json)) => json,
            Err(_) if is_directory(path) => return Ok(IndexState::Others),
            Err(error) if error.kind() == ErrorKind::Corrupt => return Ok(IndexState::Broken),
            Err(error) => return Err(error),
        };
        let is_index = |index: &Self| {
            let has = |name: &&str| index.fields.get::<IgnoredAny>(name).is_some();
            ["entries", "schema_version"].iter().any(has)
        };
        Ok(match serde_json::from_slice::<Self>(&json) {
            Ok(index) if index.fields.is_empty() => IndexState::Nothing,
            Ok(index) if is_index(&index) => IndexState::Whole(Self { seen, ..index }),
            Ok(_) => IndexState::Others,
            // A truncated object may have been an index.
            Err(_) if json.trim_ascii_start().starts_with(b"{") => IndexState::Broken,
            Err(_) if serde_json::from_slice::<IgnoredAny>(&json).is_ok() => IndexState::Others,
            Err(_) => IndexState::Broken,
        })
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
        // A relative path starts at some directory above, where its writer was.
        let file = layout.full(name);
        let is_plain = path.components().all(|it| !matches!(it, Component::ParentDir));
        let short: PathBuf = path.components().filter(|it| *it != Component::CurDir).collect();
        let is_it = |file: PathBuf| {
            if short.is_absolute() { short == file } else { file.ends_with(&short) }
        };
        let in_full = short.components().count() > 1;
        // With all links of the directory resolved. The file need not exist.
        let canonical = || {
            let full = file.parent()?;
            let dir = full.parent()?.canonicalize().ok()?;
            Some(dir.join(full.file_name()?).join(file.file_name()?))
        };
        let is_ours = is_plain
            && in_full
            && (std::path::absolute(&file).is_ok_and(is_it) || canonical().is_some_and(is_it));
        is_ours.then(|| name.to_owned())
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

/// The error for an unrelated file in the place of an index.
pub(super) fn not_an_index_error(path: &Path) -> Error {
    let message = format!(
        "{} is not the index of a cache, so it is left alone: move it, or name another directory",
        path.display()
    );
    Error::new(ErrorKind::Invalid, message)
}

#[derive(Debug)]
enum IndexChange {
    Put(String, ListedEntry),
    Restated(String, ListedEntry),
    Removed(String),
    Hits { key: String, hits: u64, in_all: u64, last: Timestamp },
    Stats { added: IndexStats, least: IndexStats },
}

/// Result of writing an index.
pub(super) struct SavedIndex {
    /// Stamp of the written file.
    pub(super) stamp: Option<StatStamp>,
    /// True if others had written meanwhile.
    pub(super) merged: bool,
}

impl DirectoryIndex {
    fn change(&mut self, change: IndexChange) {
        self.apply(&change);
        self.changes.push(change);
    }

    fn apply(&mut self, change: &IndexChange) {
        match change {
            IndexChange::Put(key, listed) => {
                self.entries.insert(key.clone(), to_raw_json(listed));
            }
            IndexChange::Restated(key, listed) => {
                let mut entry = self.entry_fields(key);
                let fields = serde_json::from_str(to_raw_json(listed).get());
                entry.set_all(fields.expect("it was just written"));
                self.entries.insert(key.clone(), to_raw_json(&entry));
            }
            IndexChange::Removed(key) => {
                self.entries.remove(key);
            }
            IndexChange::Hits { key, hits, in_all, last } => {
                if !self.contains(key) {
                    return;
                }
                let mut entry = self.entry_fields(key);
                let counted = entry.get::<u64>("hit_count").unwrap_or(0).saturating_add(*hits);
                let last = entry.get("last_hit").unwrap_or(i64::MIN).max(last.as_seconds());
                entry.set("hit_count", to_raw_json(&counted.max(*in_all)));
                entry.set("last_hit", to_raw_json(&last));
                self.entries.insert(key.clone(), to_raw_json(&entry));
            }
            IndexChange::Stats { added, least } => self.apply_stats(*added, *least),
        }
    }

    fn apply_stats(&mut self, added: IndexStats, least: IndexStats) {
        let mut stats = self.fields.get::<JsonFields>("stats").unwrap_or_default();
        IndexStats::read(&stats).plus(added).max_of_each(least).write(&mut stats);
        self.fields.set("stats", to_raw_json(&stats));
    }

    /// Writes the index in place of the one that was read. A change by others between the last
    /// check and the rename is lost, which cannot be avoided without a lock of theirs.
    pub(super) fn save(mut self, layout: &ScopeLayout) -> Result<SavedIndex> {
        let path = layout.index();
        for round in 0.. {
            self.add_required_fields();
            let staged = layout.stage(self.to_json().as_bytes())?;
            if round == ROUNDS || StatStamp::at(&path) == self.seen {
                let file = staged.move_into_place(&path)?;
                let stamp = file.metadata().ok().map(|meta| StatStamp::of(&meta));
                return Ok(SavedIndex { stamp, merged: round > 0 });
            }
            let seen = StatStamp::at(&path);
            match Self::find(&path)? {
                IndexState::Whole(mut theirs) => {
                    for change in &self.changes {
                        if change.still_applies(&theirs, layout) {
                            theirs.apply(change);
                        }
                    }
                    self = Self { changes: self.changes, ..theirs };
                }
                IndexState::Nothing => self.seen = seen,
                IndexState::Others => return Err(not_an_index_error(&path)),
                IndexState::Broken => thread::sleep(PAUSE),
            }
        }
        unreachable!("the last round returns")
    }
}

impl IndexChange {
    /// True if the change still applies after others have written: an entry that they stored since,
    /// body and index, is theirs.
    fn still_applies(&self, theirs: &DirectoryIndex, layout: &ScopeLayout) -> bool {
        let body = |key: &str| Key::parse(key).ok().map(|key| layout.body(&key));
        match self {
            Self::Put(key, listed) | Self::Restated(key, listed) => {
                let other = theirs.entry_for(key).filter(|it| !it.is_own() && it != listed);
                let is_there = |other: ListedEntry| {
                    let body = read_rebuildable(&body(key)?)?;
                    other.hashed_part(&body).map(drop)
                };
                other.and_then(is_there).is_none()
            }
            Self::Removed(key) => !body(key).is_some_and(|body| path_exists(&body).unwrap_or(true)),
            Self::Hits { .. } | Self::Stats { .. } => true,
        }
    }
}

impl DirectoryIndex {
    /// Adds missing required fields, and leaves the others in place.
    fn add_required_fields(&mut self) {
        if self.fields.get::<String>("schema_version").is_none() {
            self.fields.set("schema_version", to_raw_json(&SCHEMA_VERSION));
        }
        if self.fields.get::<String>("created_at").is_none() {
            // A rebuilt index gets the creation time of its oldest entry.
            let entries = self.keys().filter_map(|key| self.entry_for(key));
            let oldest = entries.map(|entry| entry.created_at).min();
            let created = oldest.map_or_else(|| SystemClock.now(), Timestamp::from_seconds);
            self.fields.set("created_at", to_raw_json(&created.to_second_string()));
        }
        self.fields.set("entries", to_raw_json(&()));
        if self.fields.get::<IndexStats>("stats").is_none() {
            self.apply_stats(IndexStats::default(), IndexStats::default());
        }
    }

    /// Writes one line per entry, for human readers.
    fn to_json(&self) -> String {
        let mut json = String::from("{");
        for (n, (name, value)) in self.fields.iter().enumerate() {
            start_line(&mut json, n, "  ", name);
            if name != "entries" {
                json.push_str(value.get());
                continue;
            }
            json.push('{');
            for (n, (key, entry)) in self.entries.iter().enumerate() {
                start_line(&mut json, n, "    ", key);
                json.push_str(entry.get());
            }
            json.push_str(if self.entries.is_empty() { "}" } else { "\n  }" });
        }
        json.push_str("\n}\n");
        json
    }
}

fn start_line(json: &mut String, number: usize, indent: &str, name: &str) {
    json.push_str(if number == 0 { "\n" } else { ",\n" });
    json.push_str(indent);
    json.push_str(to_raw_json(&name).get());
    json.push_str(": ");
}

impl<'de> Deserialize<'de> for DirectoryIndex {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct IndexVisitor;
        impl<'de> Visitor<'de> for IndexVisitor {
            type Value = DirectoryIndex;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an index")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<DirectoryIndex, M::Error> {
                let mut index = DirectoryIndex::default();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "entries" {
                        index.entries = map.next_value()?;
                        index.fields.set(&name, to_raw_json(&()));
                    } else {
                        index.fields.set(&name, map.next_value()?);
                    }
                }
                Ok(index)
            }
        }
        deserializer.deserialize_map(IndexVisitor)
    }
}

#[derive(Debug, Default)]
pub(super) struct IndexCache(Mutex<Option<CachedIndex>>);

#[derive(Debug)]
struct CachedIndex {
    path: PathBuf,
    stamp: StatStamp,
    index: Arc<DirectoryIndex>,
}

impl IndexCache {
    /// The current index. One that has just been changed is not cached: the next change might leave
    /// the same timestamps.
    pub(super) fn current_index(&self, path: &Path) -> Result<Arc<DirectoryIndex>> {
        let Some(stamp) = StatStamp::at(path) else {
            return DirectoryIndex::read(path).map(Arc::new);
        };
        let mut last = self.0.lock();
        if let Some(last) = &*last
            && (last.path.as_path(), last.stamp) == (path, stamp)
        {
            return Ok(Arc::clone(&last.index));
        }
        let index = Arc::new(DirectoryIndex::read(path)?);
        if stamp.is_settled() && StatStamp::at(path) == Some(stamp) {
            *last = Some(CachedIndex { path: path.to_owned(), stamp, index: Arc::clone(&index) });
        }
        Ok(index)
    }
}
