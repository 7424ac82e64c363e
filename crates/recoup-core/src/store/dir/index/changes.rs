//! Changes to an index, and writing it: other tools take no lock, so if they wrote the file
//! meanwhile it is read again, and the changes are replayed on it.

use std::path::Path;
use std::thread;
use std::time::Duration;

use super::super::fields::{Fields, raw};
use super::super::files;
use super::super::layout::Layout;
use super::super::listed::Listed;
use super::super::stamps::Stamp;
use super::super::stats::Stats;
use super::{Found, Index, refused};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::Key;

/// How often an index that others keep replacing is read again, and the pause for one that is half
/// written.
const ROUNDS: usize = 16;
const PAUSE: Duration = Duration::from_millis(1);

#[derive(Debug)]
pub(super) enum Change {
    Put(String, Listed),
    Restated(String, Listed),
    Removed(String),
    Hits { key: String, hits: u64, in_all: u64, last: Timestamp },
    Stats { added: Stats, least: Stats },
}

/// Result of writing an index.
pub(in crate::store::dir) struct Saved {
    /// Stamp of the written file.
    pub(in crate::store::dir) stamp: Option<Stamp>,
    /// True if others had written meanwhile.
    pub(in crate::store::dir) merged: bool,
}

impl Index {
    pub(super) fn change(&mut self, change: Change) {
        self.apply(&change);
        self.changes.push(change);
    }

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Put(key, listed) => {
                self.entries.insert(key.clone(), raw(listed));
            }
            Change::Restated(key, listed) => {
                let mut entry = self.entry(key);
                let fields = serde_json::from_str(raw(listed).get());
                entry.set_all(fields.expect("it was just written"));
                self.entries.insert(key.clone(), raw(&entry));
            }
            Change::Removed(key) => {
                self.entries.remove(key);
            }
            Change::Hits { key, hits, in_all, last } => self.tell_hits(key, *hits, *in_all, *last),
            Change::Stats { added, least } => self.tell_stats(*added, *least),
        }
    }

    fn tell_hits(&mut self, key: &str, hits: u64, in_all: u64, last: Timestamp) {
        if !self.contains(key) {
            return;
        }
        let mut entry = self.entry(key);
        let counted = entry.get::<u64>("hit_count").unwrap_or(0).saturating_add(hits);
        let last = entry.get::<i64>("last_hit").unwrap_or(i64::MIN).max(last.as_seconds());
        entry.set("hit_count", raw(&counted.max(in_all)));
        entry.set("last_hit", raw(&last));
        self.entries.insert(key.to_owned(), raw(&entry));
    }

    pub(super) fn tell_stats(&mut self, added: Stats, least: Stats) {
        let mut stats = self.fields.get::<Fields>("stats").unwrap_or_default();
        Stats::read(&stats).plus(added).at_least(least).write(&mut stats);
        self.fields.set("stats", raw(&stats));
    }

    /// Writes the index in place of the one that was read. A change by others between the last
    /// check and the rename is lost, which cannot be avoided without a lock of theirs.
    pub(in crate::store::dir) fn save(mut self, layout: &Layout) -> Result<Saved> {
        let path = layout.index();
        for round in 0.. {
            self.complete();
            let staged = layout.stage(self.to_json().as_bytes())?;
            if round == ROUNDS || Stamp::at(&path) == self.seen {
                let file = staged.put_at(&path)?;
                let stamp = file.metadata().ok().map(|meta| Stamp::of(&meta));
                return Ok(Saved { stamp, merged: round > 0 });
            }
            self = self.merged(&path, layout)?;
        }
        unreachable!("the last round returns")
    }

    fn merged(mut self, path: &Path, layout: &Layout) -> Result<Self> {
        let seen = Stamp::at(path);
        match Self::find(path)? {
            Found::Whole(theirs) => Ok(self.replayed_on(theirs, layout)),
            Found::Nothing => {
                self.seen = seen;
                Ok(self)
            }
            Found::Others => Err(refused(path)),
            Found::Broken => {
                thread::sleep(PAUSE);
                Ok(self)
            }
        }
    }

    fn replayed_on(self, mut theirs: Self, layout: &Layout) -> Self {
        for change in &self.changes {
            if change.stands(&theirs, layout) {
                theirs.apply(change);
            }
        }
        Self { changes: self.changes, ..theirs }
    }
}

impl Change {
    /// True if the change still applies after others have written: an entry that they stored since,
    /// body and index, is theirs.
    fn stands(&self, theirs: &Index, layout: &Layout) -> bool {
        let body = |key: &str| Key::parse(key).ok().map(|key| layout.body(&key));
        match self {
            Self::Put(key, listed) | Self::Restated(key, listed) => {
                let other = theirs.listed(key).filter(|it| !it.is_marked() && it != listed);
                let is_there = |other: Listed| {
                    let body = files::read_helper(&body(key)?)?;
                    other.hashed_part(&body).map(drop)
                };
                other.and_then(is_there).is_none()
            }
            Self::Removed(key) => {
                !body(key).is_some_and(|body| files::is_there(&body).unwrap_or(true))
            }
            Self::Hits { .. } | Self::Stats { .. } => true,
        }
    }
}
