//! Taking in what happened: counted first and remembered, then done to the
//! entries. Whoever dies in between has counted everything once, and some hits
//! are missing from the heads of entries.

use super::list;
use super::look::{self, Nature, Seen};
use super::tail::{self, CLOSING};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::entry::Batch;
use crate::error::{ErrorKind, Result};
use crate::key::Id;
use crate::store::folder::Folder;
use crate::store::sums::Sums;

pub(super) fn fold(folder: &Folder, batch: &Batch) -> Result<()> {
    let sums = Sums::of(batch);
    let _turn = folder.lock()?;
    let mut counts = folder.counts()?;
    if !counts.add(batch, &sums) {
        return Ok(());
    }
    folder.save_counts(&counts)?;
    // It will not be told again: one that fails keeps no other from its turn.
    let mut done = Ok(());
    for (id, at) in &sums.damaged {
        done = done.and(drop_damaged(folder, id, *at));
    }
    for (id, (hits, last)) in &sums.served {
        done = done.and(add_hits(folder, id, *hits, *last));
    }
    done
}

fn add_hits(folder: &Folder, id: &Id, hits: u64, last: Timestamp) -> Result<()> {
    let path = list::path_in(folder.of(&id.scope), &id.key);
    fsx::change_end(&path, CLOSING, |closing| tail::with_hits(closing, hits, last))
}

/// Looked at again: only what is ours goes, and what was stored anew since it
/// was found damaged is another.
fn drop_damaged(folder: &Folder, id: &Id, at: Timestamp) -> Result<()> {
    let path = list::path_in(folder.of(&id.scope), &id.key);
    match look::at(&path)? {
        Some(seen) if is_older(&seen, at) => fsx::remove_same(&path, seen.stamp).map(drop),
        _ => Ok(()),
    }
}

fn is_older(seen: &Seen, at: Timestamp) -> bool {
    match &seen.nature {
        Nature::Ours(head) => head.stored_at <= at,
        Nature::Broken(error) => error.kind() == ErrorKind::Corrupt && seen.modified <= at,
        Nature::Guest(_) => false,
    }
}
