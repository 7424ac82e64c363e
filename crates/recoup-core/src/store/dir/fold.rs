//! Taking in what happened: to the heads first, then to the counts, then to the
//! index, which is only told.
//!
//! A head remembers the last batch that it took in, so a batch that is told again
//! after a crash between these steps adds nothing twice.

use std::collections::BTreeSet;

use super::foreign;
use super::head::StoredHead;
use super::layout::Layout;
use super::shelf::{Shelf, stats_of};
use super::stats::Stats;
use crate::base::clock::Timestamp;
use crate::base::name::Name;
use crate::entry::Batch;
use crate::error::{ErrorKind, Result};
use crate::key::{Key, Scope};
use crate::store::folder::{Counts, Folder};
use crate::store::sums::Sums;

pub(super) fn fold(folder: &Folder, batch: &Batch) -> Result<()> {
    if batch.events.is_empty() {
        return Ok(());
    }
    let sums = Sums::of(batch);
    let _lock = folder.lock()?;
    let mut counts = folder.counts()?;
    if !counts.add(batch, &sums) {
        return Ok(());
    }
    let scopes: BTreeSet<&Scope> = sums.counts.keys().map(|(scope, ..)| *scope).collect();
    let mut shelves = Vec::new();
    for scope in scopes {
        if Layout::new(folder.of(scope)).is_used() {
            let mut shelf = Shelf::open(folder, scope)?;
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

fn tell_entries(shelf: &mut Shelf<'_>, scope: &Scope, sums: &Sums<'_>, batch: &Name) -> Result<()> {
    for (id, (hits, last)) in sums.served.iter().filter(|(id, _)| id.scope == *scope) {
        serve(shelf, &id.key, batch, *hits, *last)?;
    }
    for (id, at) in sums.damaged.iter().filter(|(id, _)| id.scope == *scope) {
        if is_still_damaged(shelf, &id.key, *at) {
            shelf.remove(&id.key)?;
        }
    }
    Ok(())
}

/// An entry of another tool has no place for its hits but the index.
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
        // What can't be read was not served, or is broken since.
        Err(_) => return Ok(()),
    }
    if shelf.index.contains(key.as_str()) {
        shelf.index_mut()?.add_hits(key.as_str(), hits, in_all, last);
    }
    Ok(())
}

/// What was stored anew since is another record. Those of other tools say only by
/// their bodies whether they are.
fn is_still_damaged(shelf: &Shelf<'_>, key: &Key, at: Timestamp) -> bool {
    match StoredHead::read(&shelf.layout.head(key)) {
        Ok(Some(stored)) => stored.stored_at() <= at,
        Ok(None) => foreign::is_damaged(&shelf.layout, key),
        Err(error) => error.kind() == ErrorKind::Corrupt,
    }
}

fn tell_stats(
    shelf: &mut Shelf<'_>,
    scope: &Scope,
    sums: &Sums<'_>,
    counts: &Counts,
) -> Result<()> {
    let these = sums.counts.iter().filter(|((of, ..), _)| *of == scope);
    let added = Stats::of(these.map(|((.., what), count)| (*what, *count)));

    shelf.index_mut()?.add_stats(added, stats_of(counts, scope));
    Ok(())
}
