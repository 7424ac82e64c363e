//! A scope opened for changes: loaded, repaired if necessary, and written back at once. The owner
//! holds the lock.

use std::collections::HashMap;
use std::path::PathBuf;

use super::DirectoryStore;
use super::catalogue::{self, CatalogueEntries, CatalogueEntry, ScopeCatalogue, first_expiry};
use super::head::HeadFile;
use super::heal::{self, RepairedScope};
use super::index::{DirectoryIndex, IndexState};
use super::layout::{
    ScopeLayout, file_name, is_directory, not_an_entry_error, own_full_results, path_exists,
    refuse_foreign_full, remove_full_result, remove_rebuildable, write_full_result,
};
use super::listed_entry::{IndexStats, ListedEntry};
use crate::base::fsx;
use crate::entry::EntryHead;
use crate::error::Result;
use crate::key::{Key, Scope};
use crate::store::tallies::TallyTable;

#[derive(Debug)]
pub(super) struct OpenScope<'a> {
    dir: &'a DirectoryStore,
    scope: &'a Scope,
    pub(super) layout: ScopeLayout,
    pub(super) index: DirectoryIndex,
    pub(super) facts: CatalogueEntries,
    /// Number of entries per full result, computed on demand.
    sharers: Option<HashMap<String, u64>>,
    changed: bool,
}

impl<'a> OpenScope<'a> {
    /// Loads the scope, and repairs it if others changed it.
    pub(super) fn open(dir: &'a DirectoryStore, scope: &'a Scope) -> Result<Self> {
        let layout = dir.layout(scope)?;
        if let Some(ScopeCatalogue { facts, .. }) = ScopeCatalogue::read_current(&layout)
            && let IndexState::Whole(index) = DirectoryIndex::find(&layout.index())?
        {
            return Ok(Self { dir, scope, layout, index, facts, sharers: None, changed: false });
        }
        Self::open_and_repair(dir, scope, layout)
    }

    fn open_and_repair(
        dir: &'a DirectoryStore,
        scope: &'a Scope,
        layout: ScopeLayout,
    ) -> Result<Self> {
        let RepairedScope { index, facts, knows_all } = heal::repair_scope(dir, scope, &layout)?;
        let mut shelf = Self { dir, scope, layout, index, facts, sharers: None, changed: true };
        if knows_all {
            // Left over from an interrupted put or removal.
            own_full_results(&shelf.layout)?
                .iter()
                .try_for_each(|name| shelf.remove_if_unshared(name))?;
        }
        Ok(shelf)
    }

    /// Removes the catalogue before the first change.
    fn invalidate_catalogue(&mut self) -> Result<()> {
        if !self.changed {
            remove_rebuildable(&self.layout.catalogue())?;
            self.changed = true;
        }
        Ok(())
    }

    /// Stores an entry, in place of any previous one.
    pub(super) fn put(
        &mut self,
        key: &Key,
        head: &EntryHead,
        body: &[u8],
        full: Option<&[u8]>,
    ) -> Result<()> {
        let stored = HeadFile::of(head);
        let fact = CatalogueEntry::of(&stored, head);
        let full = full_name(&fact).zip(full);
        let place = self.layout.body(key);
        let is_known = self.index.contains(key.as_str()) || path_exists(&self.layout.head(key))?;
        // A body without a head and an index entry is not ours.
        if !is_known && path_exists(&place)? {
            return Err(not_an_entry_error(&place));
        }
        if let Some((name, full)) = &full {
            refuse_foreign_full(&self.layout, name, full)?;
        }
        self.layout.prepare()?;
        self.invalidate_catalogue()?;
        let old = self.full_result_of(key);
        self.write_files(key, &stored, body, full)?;
        if let Some(name) = full_name(&fact) {
            *self.sharer_counts().entry(name).or_default() += 1;
        }
        self.index.insert(key.as_str(), ListedEntry::of(head, &self.layout));
        self.facts.insert(key.clone(), fact);
        self.release_full_result(old)
    }

    /// Writes the files in the order that `head.rs` describes.
    fn write_files(
        &self,
        key: &Key,
        stored: &HeadFile,
        body: &[u8],
        full: Option<(String, &[u8])>,
    ) -> Result<()> {
        let Self { layout, .. } = self;
        let before = HeadFile::read(&layout.head(key)).ok().flatten();
        let replaces = before.is_some();
        if !replaces && !self.index.contains(key.as_str()) {
            // The body of an unreadable head would pass for a damaged one of this entry.
            fsx::remove(&layout.body(key))?;
        }
        let first = before.map_or_else(|| stored.clone(), |before| stored.with_previous(before));
        first.write(layout, key)?;
        if let Some((name, full)) = full {
            write_full_result(layout, &name, full)?;
        }
        layout.write(&layout.body(key), body)?;
        if replaces { stored.write(layout, key) } else { Ok(()) }
    }

    /// Removes an entry of any owner; returns `false` if there was none. The body goes first: a
    /// head without one is no entry.
    pub(super) fn remove(&mut self, key: &Key) -> Result<bool> {
        let (body, head) = (self.layout.body(key), self.layout.head(key));
        if !path_exists(&head)? && !self.index.contains(key.as_str()) {
            return Ok(false);
        }
        if let Some(directory) = self.blocking_directory(key) {
            return Err(not_an_entry_error(&directory));
        }
        self.invalidate_catalogue()?;
        let old = self.full_result_of(key);
        let had_body = fsx::remove(&body)?;
        let had_head = fsx::remove(&head)?;
        self.facts.remove(key);
        self.index.remove(key.as_str());
        self.release_full_result(old)?;
        Ok(had_body || had_head)
    }

    /// A directory in the place of the entry's files, which is not ours to remove.
    pub(super) fn blocking_directory(&self, key: &Key) -> Option<PathBuf> {
        let places = [self.layout.body(key), self.layout.head(key)];
        places.into_iter().find(|place| is_directory(place))
    }

    /// Writes the changed head of an entry of ours.
    pub(super) fn update_head(
        &mut self,
        key: &Key,
        stored: &HeadFile,
        head: &EntryHead,
    ) -> Result<()> {
        self.invalidate_catalogue()?;
        stored.write(&self.layout, key)?;
        self.facts.insert(key.clone(), CatalogueEntry::of(stored, head));
        Ok(())
    }

    /// The index, for changes of nothing else.
    pub(super) fn index_mut(&mut self) -> Result<&mut DirectoryIndex> {
        self.invalidate_catalogue()?;
        Ok(&mut self.index)
    }

    /// The full result of an entry that is about to be replaced or removed. Sharers are counted
    /// now, while this entry is among them.
    fn full_result_of(&mut self, key: &Key) -> Option<String> {
        let listed = || self.index.full_name(key.as_str(), &self.layout);
        let name = self.facts.get(key).map_or_else(listed, full_name);
        if name.is_some() {
            self.sharer_counts();
        }
        name
    }

    fn sharer_counts(&mut self) -> &mut HashMap<String, u64> {
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

    /// Drops one reference to a full result, which is removed with the last.
    fn release_full_result(&mut self, name: Option<String>) -> Result<()> {
        let Some(name) = name else { return Ok(()) };
        let sharers = self.sharer_counts().entry(name.clone()).or_default();
        *sharers = sharers.saturating_sub(1);
        self.remove_if_unshared(&name)
    }

    /// Removes a full result without references, if it is ours.
    fn remove_if_unshared(&mut self, name: &str) -> Result<()> {
        if self.sharer_counts().get(name).is_none_or(|sharers| *sharers == 0) {
            remove_full_result(&self.layout, name)?;
        }
        Ok(())
    }

    /// Writes the changes.
    pub(super) fn save(self) -> Result<()> {
        let Self { dir, scope, layout, index, facts, changed, .. } = self;
        catalogue::record_first_expiry(&dir.folder, scope, first_expiry(&facts));
        if !changed {
            return Ok(());
        }
        layout.prepare()?;
        let saved = index.save(&layout)?;
        if !saved.merged {
            // Best effort: the catalogue can be rebuilt, so the write does not fail for it.
            let _ = ScopeCatalogue::write(&layout, &facts, saved.stamp);
        }
        Ok(())
    }
}

pub(super) fn stats_of(counts: &TallyTable, scope: &Scope) -> IndexStats {
    IndexStats::of(counts.for_scope(Some(scope)).into_iter().map(|tally| (tally.what, tally.count)))
}

fn full_name(fact: &CatalogueEntry) -> Option<String> {
    fact.full.map(|full| file_name(&full.sha256.to_hex()))
}
