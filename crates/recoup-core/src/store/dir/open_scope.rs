//! A scope opened for changes: loaded, repaired if necessary, and written back at once. The owner
//! holds the lock.
//!
//! Repair is needed after a crash or changes by others: our heads and the bodies are authoritative,
//! and the index is for entries that are not ours. Bodies without a head and without an index entry
//! are left alone: their sources are unknown.

use std::collections::HashMap;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use super::DirectoryStore;
use super::catalogue::{
    self, CatalogueEntries, CatalogueEntry, ScopeCatalogue, ScopeStamps, StatStamp, first_expiry,
};
use super::index::{self, DirectoryIndex, IndexState};
use super::layout::{
    HeadFile, ScopeLayout, file_name, is_directory, keys_in, not_an_entry_error, own_full_results,
    path_exists, read_file, read_rebuildable, refuse_foreign_full, remove_full_result,
    remove_rebuildable, write_full_result,
};
use super::listed_entry::{IndexStats, ListedEntry};
use crate::base::clock::SystemClock;
use crate::base::digest::Sha256Digest;
use crate::base::fsx;
use crate::base::name::fresh_id;
use crate::entry::EntryHead;
use crate::error::{Error, ErrorKind, Result};
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
        let RepairedScope { index, facts, knows_all } = repair_scope(dir, scope, &layout)?;
        let mut opened = Self { dir, scope, layout, index, facts, sharers: None, changed: true };
        if knows_all {
            // Left over from an interrupted put or removal.
            own_full_results(&opened.layout)?
                .iter()
                .try_for_each(|name| opened.remove_if_unshared(name))?;
        }
        Ok(opened)
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

    /// Writes the files in the order that `layout.rs` describes.
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

/// How often a broken index is read: a tool that does not rename may just be writing it.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// A repaired scope.
struct RepairedScope {
    pub(super) index: DirectoryIndex,
    pub(super) facts: CatalogueEntries,
    /// True if all heads could be read, so that all references are known.
    knows_all: bool,
}

/// Repairs a scope. The caller must hold the lock.
fn repair_scope(
    dir: &DirectoryStore,
    scope: &Scope,
    layout: &ScopeLayout,
) -> Result<RepairedScope> {
    // First, because it may be refused: then nothing is touched.
    let mut index = find_or_create_index(dir, scope, layout)?;
    let last = ScopeCatalogue::read(layout);
    remove_rebuildable(&layout.catalogue())?;
    layout.remove_leftovers()?;
    let bodies = keys_in(&layout.bodies())?;
    let mut facts = match last {
        Some(last) if last.stamps.heads == ScopeStamps::of(layout).heads => last.facts,
        _ => read_all_heads(layout, |key, settled| settled.write(layout, key))?,
    };
    let bodiless = keys_in(&layout.heads())?.difference(&bodies).cloned().collect();
    remove_stale_heads(bodiless, layout, &mut facts)?;
    // Keys that are invalid for us are kept, because the paths of their bodies are unknown.
    let is_bodiless = |key: &&str| Key::parse(key).is_ok_and(|key| !bodies.contains(&key));
    let without_body: Vec<String> = index.keys().filter(is_bodiless).map(str::to_owned).collect();
    for key in &without_body {
        index.remove(key);
    }
    let replaced = replaced_by_others(layout, &index, &facts);
    remove_stale_heads(replaced, layout, &mut facts)?;
    // Corrects the index entries of our own entries.
    for (key, fact) in &facts {
        let is_right =
            |listed: ListedEntry| fact.has_body(listed.integrity_hash) && listed.is_own();
        let is_listed = index.entry_for(key.as_str()).is_some_and(is_right)
            && index.full_name(key.as_str(), layout) == full_name(fact);
        if !is_listed && let Some(head) = read_head(layout, key) {
            index.update_entry(key.as_str(), ListedEntry::of(&head, layout));
        }
    }
    let knows_all = keys_in(&layout.heads())?.len() == facts.len();
    Ok(RepairedScope { index, facts, knows_all })
}

/// Removes heads whose bodies were removed or replaced by others.
fn remove_stale_heads(
    keys: Vec<Key>,
    layout: &ScopeLayout,
    facts: &mut CatalogueEntries,
) -> Result<()> {
    for key in keys {
        facts.remove(&key);
        // An unreadable head may be that of a later version.
        if read_head(layout, &key).is_some() {
            fsx::remove(&layout.head(&key))?;
        }
    }
    Ok(())
}

fn read_head(layout: &ScopeLayout, key: &Key) -> Option<EntryHead> {
    HeadFile::read(&layout.head(key)).ok()??.parse_head().ok()
}

/// Catalogue data of the entries that have a head and a body. Writes nothing; unreadable heads are
/// skipped, and stay for the error that a read reports.
pub(super) fn entries_from_heads(layout: &ScopeLayout) -> Result<CatalogueEntries> {
    read_all_heads(layout, |_, _| Ok(()))
}

/// Reads all heads. `settle` is called for those whose put was interrupted, with the head that
/// applies.
fn read_all_heads(
    layout: &ScopeLayout,
    mut settle: impl FnMut(&Key, &HeadFile) -> Result<()>,
) -> Result<CatalogueEntries> {
    let mut facts = CatalogueEntries::new();
    let heads = keys_in(&layout.heads())?;
    let bodies = keys_in(&layout.bodies())?;
    for key in heads.into_iter().filter(|key| bodies.contains(key)) {
        let Ok(Some(mut stored)) = HeadFile::read(&layout.head(&key)) else { continue };
        if stored.is_unsettled() {
            let Ok(Some(body)) = read_file(&layout.body(&key)) else { continue };
            stored = stored.settle_for(Sha256Digest::of(&body));
            settle(&key, &stored)?;
        }
        if let Ok(head) = stored.parse_head() {
            facts.insert(key, CatalogueEntry::of(&stored, &head));
        }
    }
    Ok(facts)
}

/// The existing index, or a new one. A broken one is set aside and reported; an unrelated file is
/// an error.
fn find_or_create_index(
    dir: &DirectoryStore,
    scope: &Scope,
    layout: &ScopeLayout,
) -> Result<DirectoryIndex> {
    let path = layout.index();
    let stats = stats_of(&dir.folder.load_counts()?, scope);
    for attempt in 1.. {
        let seen = StatStamp::at(&path);
        match DirectoryIndex::find(&path)? {
            IndexState::Whole(index) => return Ok(index),
            IndexState::Nothing => return Ok(DirectoryIndex::with_stats(stats, seen)),
            IndexState::Others => return Err(index::not_an_index_error(&path)),
            IndexState::Broken if attempt == TRIES => break,
            IndexState::Broken => thread::sleep(PAUSE),
        }
    }
    let aside = fsx::with_suffix(&path, &format!(".broken-{}", fresh_id(&SystemClock)));
    fsx::rename(&path, &aside)?;
    let message = format!(
        "cannot read {}: moved to {} and rebuilt from the entries",
        path.display(),
        aside.display()
    );
    dir.log_fault(&Error::new(ErrorKind::Corrupt, message));
    Ok(DirectoryIndex::with_stats(stats, None))
}

/// Entries of ours whose body and index entry another tool has replaced: they are no longer ours.
fn replaced_by_others(
    layout: &ScopeLayout,
    index: &DirectoryIndex,
    facts: &CatalogueEntries,
) -> Vec<Key> {
    let is_replaced = |(key, fact): &(&Key, &CatalogueEntry)| {
        let speaks_of_another = |listed: &ListedEntry| {
            !fact.has_body(listed.integrity_hash)
                || !listed.is_own()
                    && read_head(layout, key).is_some_and(|head| listed.differs_from(&head))
        };
        index.entry_for(key.as_str()).filter(speaks_of_another).is_some_and(|listed| {
            let body = read_rebuildable(&layout.body(key));
            body.is_some_and(|body| listed.hashed_part(&body).is_some())
        })
    };
    facts.iter().filter(is_replaced).map(|(key, _)| key.clone()).collect()
}
