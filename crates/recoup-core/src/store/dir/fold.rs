//! Folding of event batches: into the heads, then the counts, then the index, which is only an
//! export.
//!
//! A head records the last batch that it took in, so a batch that is repeated after a crash between
//! these steps adds nothing twice.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::Directory;
use super::files;
use super::head::StoredHead;
use super::layout::Layout;
use super::read;
use super::shelf::{Shelf, stats_of};
use super::stats::Stats;
use crate::base::clock::Timestamp;
use crate::base::name::Name;
use crate::entry::Batch;
use crate::error::{ErrorKind, Result};
use crate::key::{Key, Scope};
use crate::store::sums::Sums;
use crate::store::tallies::Tallies;

pub(super) fn fold(dir: &Directory, batch: &Batch) -> Result<()> {
    if batch.events.is_empty() {
        return Ok(());
    }
    let sums = Sums::of(batch);
    let folder = &dir.folder;
    let _lock = folder.lock()?;
    let mut counts = folder.counts()?;
    if !counts.add(batch, &sums) {
        return Ok(());
    }
    let scopes: BTreeSet<&Scope> = sums.counts.keys().map(|counted| counted.scope).collect();
    let mut shelves = Vec::new();
    for scope in scopes {
        if let Some(mut shelf) = shelf_of(dir, scope)? {
            tell_entries(&mut shelf, scope, &sums, &batch.name)?;
            shelves.push((scope, shelf));
        }
    }
    folder.save_counts(&counts)?;
    for (scope, mut shelf) in shelves {
        tell_stats(&mut shelf, scope, &sums, &counts)?;
        shelf.save()?;
    }
    Ok(())
}

/// `None` if nothing is stored there. A refused scope is skipped, so that it does not block the
/// others: its readers and writers get the error.
fn shelf_of<'a>(dir: &'a Directory, scope: &'a Scope) -> Result<Option<Shelf<'a>>> {
    let open = || {
        let is_used = dir.layout(scope)?.is_used()?;
        if is_used { Shelf::open(dir, scope).map(Some) } else { Ok(None) }
    };
    match open() {
        Err(error) if error.kind() == ErrorKind::Invalid => Ok(None),
        opened => opened,
    }
}

fn tell_entries(shelf: &mut Shelf<'_>, scope: &Scope, sums: &Sums<'_>, batch: &Name) -> Result<()> {
    for (id, (hits, last)) in sums.served.iter().filter(|(id, _)| id.scope == *scope) {
        serve(shelf, &id.key, batch, *hits, *last)?;
    }
    for (id, at) in sums.damaged.iter().filter(|(id, _)| id.scope == *scope) {
        if is_still_damaged(&shelf.layout, &id.key, *at) && shelf.obstacle(&id.key).is_none() {
            shelf.remove(&id.key)?;
        }
    }
    Ok(())
}

/// Entries of other tools have their hits in the index only.
fn serve(shelf: &mut Shelf<'_>, key: &Key, batch: &Name, hits: u64, last: Timestamp) -> Result<()> {
    let mut in_all = 0;
    match StoredHead::read(&shelf.layout.head(key)) {
        Ok(Some(mut stored)) => {
            stored.add_hits(batch, hits, last);
            if let Ok(head) = stored.head() {
                shelf.restate(key, &stored, &head)?;
                in_all = head.hits;
            }
        }
        Ok(None) => {}
        // An unreadable head was not served, or broke since.
        Err(_) => return Ok(()),
    }
    if shelf.index.contains(key.as_str()) {
        shelf.index_mut()?.add_hits(key.as_str(), hits, in_all, last);
    }
    Ok(())
}

/// Checks again: the entry may have been stored anew or restored. Other tools take no lock, so a
/// body newer than the damage may be one that is not in the index yet.
fn is_still_damaged(layout: &Layout, key: &Key, at: Timestamp) -> bool {
    let is_newer = || modified(&layout.body(key)).is_some_and(|modified| modified > at);
    let is_damaged = || match read::get(layout, key) {
        Ok(None) => false,
        Ok(Some(record)) if record.head.stored_at > at => false,
        Ok(Some(record)) => record.open().is_err() || !has_full(layout, key),
        // Anything but a file is not ours to remove, unless there is a head of ours.
        Err(error) => {
            let is_ours = files::is_there(&layout.head(key)).unwrap_or(false);
            is_ours && error.kind() == ErrorKind::Corrupt
        }
    };
    !is_newer() && is_damaged()
}

fn modified(path: &Path) -> Option<Timestamp> {
    let since = fs::symlink_metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH);
    Some(Timestamp::from_millis(i64::try_from(since.ok()?.as_millis()).ok()?))
}

/// True if the entry has no full result, or an intact one.
fn has_full(layout: &Layout, key: &Key) -> bool {
    let info = || read::get(layout, key).ok()??.head.header.full;
    match (read::full(layout, key), info()) {
        (Ok(Some(full)), Some(info)) => full.to_plain(&info).is_ok(),
        (Err(error), _) => error.kind() != ErrorKind::Corrupt,
        _ => true,
    }
}

fn tell_stats(
    shelf: &mut Shelf<'_>,
    scope: &Scope,
    sums: &Sums<'_>,
    counts: &Tallies,
) -> Result<()> {
    let these = sums.counts.iter().filter(|(counted, _)| counted.scope == scope);
    let added = Stats::of(these.map(|(counted, amount)| (counted.what, amount.count)));

    shelf.index_mut()?.add_stats(added, stats_of(counts, scope));
    Ok(())
}
