//! Folding of event batches: counts are saved first, then applied to the entries. After a crash in
//! between, all counts are right and some hits are missing from the entries' heads.

use std::path::{Path, PathBuf};

use super::format::{self, EntryOwner, ParsedEntry};
use super::tail::{self, CLOSING};
use super::{classify, list};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::entry::{EventBatch, StoredBody};
use crate::error::{ErrorKind, Result};
use crate::key::EntryId;
use crate::store::folder::StoreFolder;
use crate::store::sums::BatchSums;

pub(super) fn fold(folder: &StoreFolder, batch: &EventBatch) -> Result<()> {
    let sums = BatchSums::of(batch);
    let _turn = folder.lock()?;
    let mut counts = folder.load_counts()?;
    if !counts.add(batch, &sums) {
        return Ok(());
    }
    folder.save_counts(&counts)?;
    // The batch is not repeated, so one failure must not stop the others.
    let mut done = Ok(());
    for id in sums.damaged.keys() {
        done = done.and(drop_damaged(folder, id));
    }
    for (id, (hits, last)) in &sums.served {
        done = done.and(add_hits(folder, id, *hits, *last));
    }
    done
}

fn add_hits(folder: &StoreFolder, id: &EntryId, hits: u64, last: Timestamp) -> Result<()> {
    let path = path_of(folder, id)?;
    fsx::rewrite_tail(&path, CLOSING, |closing| tail::with_hits(closing, hits, last))
}

/// Checks again, because the damage was found some time ago: an entry that was restored or stored
/// again stays, whatever the clocks say.
fn drop_damaged(folder: &StoreFolder, id: &EntryId) -> Result<()> {
    let path = path_of(folder, id)?;
    fsx::remove_if(&path, || is_damaged(&path)).map(drop)
}

/// True if there is an entry of ours that cannot be served.
fn is_damaged(path: &Path) -> Result<bool> {
    let Some(file) = classify::open_entry_file(path)? else { return Ok(false) };
    let Some(json) = classify::read_contents(&file, path)? else { return Ok(false) };
    Ok(match format::parse(&json, file.modified()) {
        Ok(Some(ParsedEntry { head, value, whose: EntryOwner::Ours })) => {
            StoredBody::Plain(value).open(&head.header.body).is_err()
        }
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::Corrupt,
    })
}

fn path_of(folder: &StoreFolder, id: &EntryId) -> Result<PathBuf> {
    let dir = folder.scope_dir(&id.scope);
    folder.refuse_links(&dir)?;
    Ok(list::path_in(dir, &id.key))
}
