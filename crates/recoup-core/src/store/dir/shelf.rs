//! A scope opened for changes: loaded, repaired if necessary, and written back at once. The owner
//! holds the lock.

use std::collections::HashMap;
use std::path::PathBuf;

use super::Directory;
use super::catalogue::{Catalogue, Fact, Facts, first_death};
use super::files::{self, file_name};
use super::head::StoredHead;
use super::heal::{self, Healed};
use super::index::{Found, Index};
use super::layout::Layout;
use super::listed::Listed;
use super::stats::Stats;
use super::{deaths, fulls};
use crate::base::fsx;
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Key, Scope};
use crate::store::tallies::Tallies;

#[derive(Debug)]
pub(super) struct Shelf<'a> {
    dir: &'a Directory,
    scope: &'a Scope,
    pub(super) layout: Layout,
    pub(super) index: Index,
    pub(super) facts: Facts,
    /// Number of entries per full result, computed on demand.
    sharers: Option<HashMap<String, u64>>,
    changed: bool,
}

impl<'a> Shelf<'a> {
    /// Loads the scope, and repairs it if others changed it.
    pub(super) fn open(dir: &'a Directory, scope: &'a Scope) -> Result<Self> {
        let layout = dir.layout(scope)?;
        if let Some(Catalogue { facts, .. }) = Catalogue::read_current(&layout)
            && let Found::Whole(index) = Index::find(&layout.index())?
        {
            return Ok(Self { dir, scope, layout, index, facts, sharers: None, changed: false });
        }
        Self::heal(dir, scope, layout)
    }

    fn heal(dir: &'a Directory, scope: &'a Scope, layout: Layout) -> Result<Self> {
        let Healed { index, facts, knows_all } = heal::healed(dir, scope, &layout)?;
        let mut shelf = Self { dir, scope, layout, index, facts, sharers: None, changed: true };
        if knows_all {
            // Left over from an interrupted put or removal.
            fulls::made(&shelf.layout)?.iter().try_for_each(|name| shelf.free(name))?;
        }
        Ok(shelf)
    }

    /// Removes the catalogue before the first change.
    fn begin(&mut self) -> Result<()> {
        if !self.changed {
            files::remove_helper(&self.layout.catalogue())?;
            self.changed = true;
        }
        Ok(())
    }

    /// Stores an entry, in place of any previous one.
    pub(super) fn put(
        &mut self,
        key: &Key,
        head: &Head,
        body: &[u8],
        full: Option<&[u8]>,
    ) -> Result<()> {
        let stored = StoredHead::of(head);
        let fact = Fact::of(&stored, head);
        let full = full_name(&fact).zip(full);
        self.refuse_strangers(key)?;
        if let Some((name, full)) = &full {
            fulls::refuse_strangers(&self.layout, name, full)?;
        }
        self.layout.prepare()?;
        self.begin()?;
        let old = self.full_of(key);
        self.replace(key, &stored, body, full)?;
        self.count_sharer(full_name(&fact));
        self.index.insert(key.as_str(), Listed::of(head, &self.layout));
        self.facts.insert(key.clone(), fact);
        self.release(old)
    }

    /// An error if there is a body without a head and an index entry, which is not ours.
    fn refuse_strangers(&self, key: &Key) -> Result<()> {
        let place = self.layout.body(key);
        let is_known =
            self.index.contains(key.as_str()) || files::is_there(&self.layout.head(key))?;
        if is_known || !files::is_there(&place)? { Ok(()) } else { Err(files::stranger(&place)) }
    }

    /// Writes the files in the order that `head.rs` describes.
    fn replace(
        &self,
        key: &Key,
        stored: &StoredHead,
        body: &[u8],
        full: Option<(String, &[u8])>,
    ) -> Result<()> {
        let Self { layout, .. } = self;
        let before = StoredHead::read(&layout.head(key)).ok().flatten();
        let replaces = before.is_some();
        if !replaces && !self.index.contains(key.as_str()) {
            // The body of an unreadable head would pass for a damaged one of this entry.
            fsx::remove(&layout.body(key))?;
        }
        let first = before.map_or_else(|| stored.clone(), |before| stored.replacing(before));
        first.write(layout, key)?;
        if let Some((name, full)) = full {
            fulls::write(layout, &name, full)?;
        }
        layout.write(&layout.body(key), body)?;
        if replaces { stored.write(layout, key) } else { Ok(()) }
    }

    /// Removes an entry of any owner; returns `false` if there was none. The body goes first: a
    /// head without one is no entry.
    pub(super) fn remove(&mut self, key: &Key) -> Result<bool> {
        let (body, head) = (self.layout.body(key), self.layout.head(key));
        if !files::is_there(&head)? && !self.index.contains(key.as_str()) {
            return Ok(false);
        }
        if let Some(directory) = self.obstacle(key) {
            return Err(files::stranger(&directory));
        }
        self.begin()?;
        let old = self.full_of(key);
        let had_body = fsx::remove(&body)?;
        let had_head = fsx::remove(&head)?;
        self.facts.remove(key);
        self.index.remove(key.as_str());
        self.release(old)?;
        Ok(had_body || had_head)
    }

    /// A directory in the place of the entry's files, which is not ours to remove.
    pub(super) fn obstacle(&self, key: &Key) -> Option<PathBuf> {
        let places = [self.layout.body(key), self.layout.head(key)];
        places.into_iter().find(|place| files::is_directory(place))
    }

    /// Writes the changed head of an entry of ours.
    pub(super) fn restate(&mut self, key: &Key, stored: &StoredHead, head: &Head) -> Result<()> {
        self.begin()?;
        stored.write(&self.layout, key)?;
        self.facts.insert(key.clone(), Fact::of(stored, head));
        Ok(())
    }

    /// The index, for changes of nothing else.
    pub(super) fn index_mut(&mut self) -> Result<&mut Index> {
        self.begin()?;
        Ok(&mut self.index)
    }

    /// The full result of an entry that is about to be replaced or removed. Sharers are counted
    /// now, while this entry is among them.
    fn full_of(&mut self, key: &Key) -> Option<String> {
        let listed = || self.index.full_name(key.as_str(), &self.layout);
        let name = self.facts.get(key).map_or_else(listed, full_name);
        if name.is_some() {
            self.sharers();
        }
        name
    }

    fn sharers(&mut self) -> &mut HashMap<String, u64> {
        let Self { layout, index, facts, sharers, .. } = self;
        sharers.get_or_insert_with(|| {
            let is_foreign =
                |key: &&str| !Key::parse(key).is_ok_and(|key| facts.contains_key(&key));
            let foreign = index.keys().filter(is_foreign);
            let foreign = foreign.filter_map(|key| index.full_name(key, layout));
            let mut counts = HashMap::new();
            for name in facts.values().filter_map(full_name).chain(foreign) {
                *counts.entry(name).or_default() += 1;
            }
            counts
        })
    }

    fn count_sharer(&mut self, name: Option<String>) {
        if let Some(name) = name {
            *self.sharers().entry(name).or_default() += 1;
        }
    }

    /// Drops one reference to a full result, which is removed with the last.
    fn release(&mut self, name: Option<String>) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        let sharers = self.sharers().entry(name.clone()).or_default();
        *sharers = sharers.saturating_sub(1);
        self.free(&name)
    }

    /// Removes a full result without references, if it is ours.
    fn free(&mut self, name: &str) -> Result<()> {
        if self.sharers().get(name).is_none_or(|sharers| *sharers == 0) {
            fulls::remove(&self.layout, name)?;
        }
        Ok(())
    }

    /// Writes the changes.
    pub(super) fn save(self) -> Result<()> {
        let Self { dir, scope, layout, index, facts, changed, .. } = self;
        deaths::note(&dir.folder, scope, first_death(&facts));
        if !changed {
            return Ok(());
        }
        layout.prepare()?;
        let saved = index.save(&layout)?;
        if !saved.merged {
            // Best effort: the catalogue can be rebuilt, so the write does not fail for it.
            let _ = Catalogue::write(&layout, &facts, saved.stamp);
        }
        Ok(())
    }
}

pub(super) fn stats_of(counts: &Tallies, scope: &Scope) -> Stats {
    Stats::of(counts.of(Some(scope)).into_iter().map(|tally| (tally.what, tally.count)))
}

fn full_name(fact: &Fact) -> Option<String> {
    fact.full.map(|full| file_name(&full.sha256.to_hex()))
}
