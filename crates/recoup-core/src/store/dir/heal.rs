//! Repair after a crash or changes by others: our heads and the bodies are authoritative, and the
//! index is for entries that are not ours.
//!
//! Bodies without a head and without an index entry are left alone: their sources are unknown.

use std::thread;
use std::time::Duration;

use super::DirectoryStore;
use super::catalogue::{CatalogueEntries, CatalogueEntry, ScopeCatalogue, ScopeStamps, StatStamp};
use super::head::HeadFile;
use super::index::{self, DirectoryIndex, IndexState};
use super::layout::{
    ScopeLayout, file_name, keys_in, read_file, read_rebuildable, remove_rebuildable,
};
use super::listed_entry::ListedEntry;
use super::open_scope::stats_of;
use crate::base::clock::SystemClock;
use crate::base::digest::Sha256Digest;
use crate::base::fsx;
use crate::base::name::fresh_id;
use crate::entry::EntryHead;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Scope};

/// How often a broken index is read: a tool that does not rename may just be writing it.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// A repaired scope.
pub(super) struct RepairedScope {
    pub(super) index: DirectoryIndex,
    pub(super) facts: CatalogueEntries,
    /// True if all heads could be read, so that all references are known.
    pub(super) knows_all: bool,
}

/// Repairs a scope. The caller must hold the lock.
pub(super) fn repair_scope(
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
    let is_lost = |key: &&str| Key::parse(key).is_ok_and(|key| !bodies.contains(&key));
    let lost: Vec<String> = index.keys().filter(is_lost).map(str::to_owned).collect();
    lost.iter().for_each(|key| index.remove(key));
    let replaced = replaced_by_others(layout, &index, &facts);
    remove_stale_heads(replaced, layout, &mut facts)?;
    list_own_entries(layout, &mut index, &facts);
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
        "{} could not be read: it is kept as {}, and made again from what is there",
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

/// Corrects the index entries of our own entries.
fn list_own_entries(layout: &ScopeLayout, index: &mut DirectoryIndex, facts: &CatalogueEntries) {
    for (key, fact) in facts {
        let is_right =
            |listed: ListedEntry| fact.has_body(listed.integrity_hash) && listed.is_own();
        let full = fact.full.map(|full| file_name(&full.sha256.to_hex()));
        if index.entry_for(key.as_str()).is_some_and(is_right)
            && index.full_name(key.as_str(), layout) == full
        {
            continue;
        }
        if let Some(head) = read_head(layout, key) {
            index.update_entry(key.as_str(), ListedEntry::of(&head, layout));
        }
    }
}
