//! Changes to an index, and writing it: other tools take no lock, so if they wrote the file
//! meanwhile it is read again, and the changes are replayed on it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::super::fields::{JsonFields, to_raw_json};
use super::super::files;
use super::super::layout::ScopeLayout;
use super::super::listed_entry::ListedEntry;
use super::super::stamps::StatStamp;
use super::super::stats::IndexStats;
use super::{DirectoryIndex, IndexState, not_an_index_error};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::Key;

/// How often an index that others keep replacing is read again, and the pause for one that is half
/// written.
const ROUNDS: usize = 16;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) enum IndexChange {
    Put(String, ListedEntry),
    Restated(String, ListedEntry),
    Removed(String),
    Hits { key: String, hits: u64, in_all: u64, last: Timestamp },
    Stats { added: IndexStats, least: IndexStats },
}

/// Result of writing an index.
pub(in crate::store::dir) struct SavedIndex {
    /// Stamp of the written file.
    pub(in crate::store::dir) stamp: Option<StatStamp>,
    /// True if others had written meanwhile.
    pub(in crate::store::dir) merged: bool,
}

impl DirectoryIndex {
    pub(super) fn change(&mut self, change: IndexChange) {
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
                self.apply_hits(key, *hits, *in_all, *last)
            }
            IndexChange::Stats { added, least } => self.apply_stats(*added, *least),
        }
    }

    fn apply_hits(&mut self, key: &str, hits: u64, in_all: u64, last: Timestamp) {
        if !self.contains(key) {
            return;
        }
        let mut entry = self.entry_fields(key);
        let counted = entry.get::<u64>("hit_count").unwrap_or(0).saturating_add(hits);
        let last = entry.get::<i64>("last_hit").unwrap_or(i64::MIN).max(last.as_seconds());
        entry.set("hit_count", to_raw_json(&counted.max(in_all)));
        entry.set("last_hit", to_raw_json(&last));
        self.entries.insert(key.to_owned(), to_raw_json(&entry));
    }

    pub(super) fn apply_stats(&mut self, added: IndexStats, least: IndexStats) {
        let mut stats = self.fields.get::<JsonFields>("stats").unwrap_or_default();
        IndexStats::read(&stats).plus(added).max_of_each(least).write(&mut stats);
        self.fields.set("stats", to_raw_json(&stats));
    }

    /// Writes the index in place of the one that was read. A change by others between the last
    /// check and the rename is lost, which cannot be avoided without a lock of theirs.
    pub(in crate::store::dir) fn save(mut self, layout: &ScopeLayout) -> Result<SavedIndex> {
        let path = layout.index();
        for round in 0.. {
            self.add_required_fields();
            let staged = layout.stage(self.to_json().as_bytes())?;
            if round == ROUNDS || StatStamp::at(&path) == self.seen {
                let file = staged.move_into_place(&path)?;
                let stamp = file.metadata().ok().map(|meta| StatStamp::of(&meta));
                return Ok(SavedIndex { stamp, merged: round > 0 });
            }
            self = self.merge_with_file(&path, layout)?;
        }
        unreachable!("the last round returns")
    }

    fn merge_with_file(mut self, path: &Path, layout: &ScopeLayout) -> Result<Self> {
        let seen = StatStamp::at(path);
        match Self::find(path)? {
            IndexState::Whole(theirs) => Ok(self.replay_on(theirs, layout)),
            IndexState::Nothing => {
                self.seen = seen;
                Ok(self)
            }
            IndexState::Others => Err(not_an_index_error(path)),
            IndexState::Broken => {
                thread::sleep(PAUSE);
                Ok(self)
            }
        }
    }

    fn replay_on(self, mut theirs: Self, layout: &ScopeLayout) -> Self {
        for change in &self.changes {
            if change.still_applies(&theirs, layout) {
                theirs.apply(change);
            }
        }
        Self { changes: self.changes, ..theirs }
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
                    let body = files::read_rebuildable(&body(key)?)?;
                    other.hashed_part(&body).map(drop)
                };
                other.and_then(is_there).is_none()
            }
            Self::Removed(key) => {
                !body(key).is_some_and(|body| files::exists(&body).unwrap_or(true))
            }
            Self::Hits { .. } | Self::Stats { .. } => true,
        }
    }
}
