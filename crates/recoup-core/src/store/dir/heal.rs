//! Repair after a crash or changes by others: our heads and the bodies are authoritative, and the
//! index is for entries that are not ours.
//!
//! Bodies without a head and without an index entry are left alone: their sources are unknown.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::Directory;
use super::catalogue::{Catalogue, Fact, Facts};
use super::files::{self, file_name};
use super::head::StoredHead;
use super::index::{self, Found, Index};
use super::layout::Layout;
use super::listed::Listed;
use super::shelf::stats_of;
use super::stamps::{Stamp, Stamps};
use crate::base::clock::SystemClock;
use crate::base::digest::Digest;
use crate::base::{fsx, ids};
use crate::entry::Head;
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Key, Scope};

/// How often a broken index is read: a tool that does not rename may just be writing it.
const TRIES: usize = 4;
const PAUSE: Duration = Duration::from_millis(1);

/// A repaired scope.
pub(super) struct Healed {
    pub(super) index: Index,
    pub(super) facts: Facts,
    /// True if all heads could be read, so that all references are known.
    pub(super) knows_all: bool,
}

/// Repairs a scope. The caller must hold the lock.
pub(super) fn healed(dir: &Directory, scope: &Scope, layout: &Layout) -> Result<Healed> {
    // First, because it may be refused: then nothing is touched.
    let mut index = found_index(dir, scope, layout)?;
    let last = Catalogue::read(layout);
    files::remove_helper(&layout.catalogue())?;
    layout.remove_leftovers()?;
    let bodies = files::keys_in(&layout.bodies())?;
    let mut facts = match last {
        Some(last) if last.stamps.heads == Stamps::of(layout).heads => last.facts,
        _ => sweep(layout, |key, settled| settled.write(layout, key))?,
    };
    let bodiless = files::keys_in(&layout.heads())?.difference(&bodies).cloned().collect();
    give_up(bodiless, layout, &mut facts)?;
    forget_lost(&mut index, &bodies);
    let replaced = replaced_by_others(layout, &index, &facts);
    give_up(replaced, layout, &mut facts)?;
    list_ours(layout, &mut index, &facts);
    let knows_all = files::keys_in(&layout.heads())?.len() == facts.len();
    Ok(Healed { index, facts, knows_all })
}

/// Removes heads whose bodies were removed or replaced by others.
fn give_up(keys: Vec<Key>, layout: &Layout, facts: &mut Facts) -> Result<()> {
    for key in keys {
        facts.remove(&key);
        // An unreadable head may be that of a later version.
        if read_head(layout, &key).is_some() {
            fsx::remove(&layout.head(&key))?;
        }
    }
    Ok(())
}

fn read_head(layout: &Layout, key: &Key) -> Option<Head> {
    StoredHead::read(&layout.head(key)).ok()??.head().ok()
}

/// Catalogue data of the entries that have a head and a body. Writes nothing; unreadable heads are
/// skipped, and stay for the error that a read reports.
pub(super) fn facts_from_heads(layout: &Layout) -> Result<Facts> {
    sweep(layout, |_, _| Ok(()))
}

/// Reads all heads. `settle` is called for those whose put was interrupted, with the head that
/// applies.
fn sweep(
    layout: &Layout,
    mut settle: impl FnMut(&Key, &StoredHead) -> Result<()>,
) -> Result<Facts> {
    let mut facts = Facts::new();
    let heads = files::keys_in(&layout.heads())?;
    let bodies = files::keys_in(&layout.bodies())?;
    for key in heads.into_iter().filter(|key| bodies.contains(key)) {
        let Ok(Some(mut stored)) = StoredHead::read(&layout.head(&key)) else { continue };
        if stored.is_open() {
            let Ok(Some(body)) = files::read(&layout.body(&key)) else { continue };
            stored = stored.settled(Digest::of(&body));
            settle(&key, &stored)?;
        }
        if let Ok(head) = stored.head() {
            facts.insert(key, Fact::of(&stored, &head));
        }
    }
    Ok(facts)
}

/// The existing index, or a new one. A broken one is set aside and reported; an unrelated file is
/// an error.
fn found_index(dir: &Directory, scope: &Scope, layout: &Layout) -> Result<Index> {
    let path = layout.index();
    let stats = stats_of(&dir.folder.counts()?, scope);
    for attempt in 1.. {
        let seen = Stamp::at(&path);
        match Index::find(&path)? {
            Found::Whole(index) => return Ok(index),
            Found::Nothing => return Ok(Index::with_stats(stats, seen)),
            Found::Others => return Err(index::refused(&path)),
            Found::Broken if attempt == TRIES => break,
            Found::Broken => thread::sleep(PAUSE),
        }
    }
    set_aside(dir, &path)?;
    Ok(Index::with_stats(stats, None))
}

fn set_aside(dir: &Directory, index: &Path) -> Result<()> {
    let aside = fsx::with_suffix(index, &format!(".broken-{}", ids::fresh(&SystemClock)));
    fsx::rename(index, &aside)?;
    let message = format!(
        "{} could not be read: it is kept as {}, and made again from what is there",
        index.display(),
        aside.display()
    );
    dir.tell(&Error::new(ErrorKind::Corrupt, message));
    Ok(())
}

/// Removes entries without a body from the index. Keys that are invalid for us are kept, because
/// the paths of their bodies are unknown.
fn forget_lost(index: &mut Index, bodies: &BTreeSet<Key>) {
    let is_lost = |key: &&str| Key::parse(key).is_ok_and(|key| !bodies.contains(&key));
    let lost: Vec<String> = index.keys().filter(is_lost).map(str::to_owned).collect();
    for key in lost {
        index.remove(&key);
    }
}

/// Entries of ours whose body and index entry another tool has replaced: they are no longer ours.
fn replaced_by_others(layout: &Layout, index: &Index, facts: &Facts) -> Vec<Key> {
    let is_replaced = |(key, fact): &(&Key, &Fact)| {
        let speaks_of_another = |listed: &Listed| {
            !fact.is_of(listed.integrity_hash)
                || !listed.is_marked()
                    && read_head(layout, key).is_some_and(|head| listed.is_not_of(&head))
        };
        index.listed(key.as_str()).filter(speaks_of_another).is_some_and(|listed| {
            let body = files::read_helper(&layout.body(key));
            body.is_some_and(|body| listed.hashed_part(&body).is_some())
        })
    };
    facts.iter().filter(is_replaced).map(|(key, _)| key.clone()).collect()
}

/// Corrects the index entries of our own entries.
fn list_ours(layout: &Layout, index: &mut Index, facts: &Facts) {
    for (key, fact) in facts {
        let is_right = |listed: Listed| fact.is_of(listed.integrity_hash) && listed.is_marked();
        let full = fact.full.map(|full| file_name(&full.sha256.to_hex()));
        if index.listed(key.as_str()).is_some_and(is_right)
            && index.full_name(key.as_str(), layout) == full
        {
            continue;
        }
        if let Some(head) = read_head(layout, key) {
            index.restate(key.as_str(), Listed::of(&head, layout));
        }
    }
}
