//! One scope while it is changed: what is there, brought in line, and written
//! back in one go. Whoever has one holds the lock.

use std::collections::HashMap;

use super::catalogue::{Catalogue, Fact, Facts, first_death};
use super::deaths;
use super::head::StoredHead;
use super::heal::{self, Healed};
use super::index::{Found, Index};
use super::layout::{self, Layout, file_name};
use super::listed::Listed;
use super::stats::Stats;
use crate::base::fsx;
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Key, Scope};
use crate::store::folder::{Counts, Folder};

#[derive(Debug)]
pub(super) struct Shelf<'a> {
    folder: &'a Folder,
    scope: &'a Scope,
    pub(super) layout: Layout,
    pub(super) index: Index,
    pub(super) facts: Facts,
    /// How many entries name each file of a full result, once somebody asked.
    sharers: Option<HashMap<String, u64>>,
    changed: bool,
}

impl<'a> Shelf<'a> {
    /// As it was left, or brought in line with what is there.
    pub(super) fn open(folder: &'a Folder, scope: &'a Scope) -> Result<Self> {
        let layout = Layout::new(folder.of(scope));
        if let Some(current) = Catalogue::read_current(&layout)?
            && let Found::Whole(index) = Index::find(&layout.index())?
        {
            let facts = current.facts;
            return Ok(Self { folder, scope, layout, index, facts, sharers: None, changed: false });
        }
        Self::heal(folder, scope, layout)
    }

    fn heal(folder: &'a Folder, scope: &'a Scope, layout: Layout) -> Result<Self> {
        let last = Catalogue::read(&layout)?;
        layout::remove(&layout.catalogue())?;
        let Healed { index, facts, abandoned } = heal::healed(&layout, last)?;
        let mut index = match index {
            Some(index) => index,
            None => Index::with_stats(stats_of(&folder.counts()?, scope)),
        };
        heal::list_ours(&layout, &mut index, &facts);
        let mut shelf = Self { folder, scope, layout, index, facts, sharers: None, changed: true };
        abandoned.into_iter().try_for_each(|name| shelf.free(&name))?;
        Ok(shelf)
    }

    /// From here on the catalogue is not true any more.
    fn begin(&mut self) -> Result<()> {
        if !self.changed {
            layout::remove(&self.layout.catalogue())?;
            self.changed = true;
        }
        Ok(())
    }

    /// Keeps an entry, in place of any that was there.
    pub(super) fn put(
        &mut self,
        key: &Key,
        head: &Head,
        body: &[u8],
        full: Option<&[u8]>,
    ) -> Result<()> {
        self.layout.prepare()?;
        self.begin()?;
        let stored = StoredHead::of(head);
        let fact = Fact::of(&stored, head);
        let old = self.full_of(key);
        let full = full_name(&fact).zip(full);
        self.replace(key, &stored, body, full)?;
        self.count_sharer(full_name(&fact));
        self.index.insert(key.as_str(), &Listed::of(head, &self.layout));
        self.facts.insert(key.clone(), fact);
        self.release(old)
    }

    /// In the steps that `head.rs` describes.
    fn replace(
        &self,
        key: &Key,
        stored: &StoredHead,
        body: &[u8],
        full: Option<(String, &[u8])>,
    ) -> Result<()> {
        let (head, place) = (self.layout.head(key), self.layout.body(key));
        let before = StoredHead::read(&head).ok().flatten();
        let replaces = before.is_some();
        if !replaces && !self.index.contains(key.as_str()) {
            // A body that belongs to nobody would pass for a damaged one of ours.
            layout::remove(&place)?;
        }
        before.map_or_else(|| stored.clone(), |before| stored.replacing(before)).write(&head)?;
        if let Some((name, full)) = full {
            self.layout.write_full(&name, full)?;
        }
        fsx::write_whole(&place, body)?;
        if replaces { stored.write(&head) } else { Ok(()) }
    }

    /// Removes an entry, whosever it is; `false` when there was none. The body
    /// goes first: a head without one stands for nothing.
    pub(super) fn remove(&mut self, key: &Key) -> Result<bool> {
        let head = self.layout.head(key);
        if !layout::is_there(&head) && !self.index.contains(key.as_str()) {
            return Ok(false);
        }
        self.begin()?;
        let old = self.full_of(key);
        let had_body = layout::remove(&self.layout.body(key))?;
        let had_head = layout::remove(&head)?;
        self.facts.remove(key);
        self.index.remove(key.as_str());
        self.release(old)?;
        Ok(had_body || had_head)
    }

    /// Changes what has happened to an entry of ours.
    pub(super) fn restate(&mut self, key: &Key, stored: &StoredHead, head: &Head) -> Result<()> {
        self.begin()?;
        stored.write(&self.layout.head(key))?;
        self.facts.insert(key.clone(), Fact::of(stored, head));
        Ok(())
    }

    /// Changes nothing but the index.
    pub(super) fn index_mut(&mut self) -> Result<&mut Index> {
        self.begin()?;
        Ok(&mut self.index)
    }

    /// The full result that an entry has, about to be released: so its sharers
    /// are counted now, this one among them.
    fn full_of(&mut self, key: &Key) -> Option<String> {
        let name =
            self.facts.get(key).map_or_else(|| self.index.full_name(key.as_str()), full_name);
        if name.is_some() {
            self.sharers();
        }
        name
    }

    fn sharers(&mut self) -> &mut HashMap<String, u64> {
        let Self { index, facts, sharers, .. } = self;
        sharers.get_or_insert_with(|| {
            let is_foreign =
                |key: &&str| !Key::parse(key).is_ok_and(|key| facts.contains_key(&key));
            let foreign = index.keys().filter(is_foreign).filter_map(|key| index.full_name(key));
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

    /// One entry fewer has that full result; the last one takes it along.
    fn release(&mut self, name: Option<String>) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        let sharers = self.sharers().entry(name.clone()).or_default();
        *sharers = sharers.saturating_sub(1);
        self.free(&name)
    }

    /// Removes a full result that nobody has.
    fn free(&mut self, name: &str) -> Result<()> {
        if self.sharers().get(name).is_none_or(|sharers| *sharers == 0) {
            layout::remove(&self.layout.full(name))?;
        }
        Ok(())
    }

    /// Writes what was changed.
    pub(super) fn save(mut self) -> Result<()> {
        deaths::note(self.folder, self.scope, first_death(&self.facts))?;
        if !self.changed {
            return Ok(());
        }
        self.layout.prepare()?;
        self.index.write(&self.layout.index())?;
        Catalogue::write(&self.layout, &self.facts)
    }
}

pub(super) fn stats_of(counts: &Counts, scope: &Scope) -> Stats {
    Stats::of(counts.of(scope).into_iter().map(|tally| (tally.what, tally.count)))
}

fn full_name(fact: &Fact) -> Option<String> {
    fact.full.map(|full| file_name(&full.sha256.to_hex()))
}
