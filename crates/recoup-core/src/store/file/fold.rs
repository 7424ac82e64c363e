//! Folding of event batches: counts are saved first, then applied to the entries. After a crash in
//! between, all counts are right and some hits are missing from the entries' heads.

use std::path::{Path, PathBuf};

use super::format::{self, Parsed, Whose};
use super::tail::{self, CLOSING};
use super::{list, look};
use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::entry::{Batch, Payload};
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

fn add_hits(folder: &Folder, id: &Id, hits: u64, last: Timestamp) -> Result<()> {
    let path = path_of(folder, id)?;
    fsx::change_end(&path, CLOSING, |closing| tail::with_hits(closing, hits, last))
}

/// Checks again, because the damage was found some time ago: an entry that was restored or stored
/// again stays, whatever the clocks say.
fn drop_damaged(folder: &Folder, id: &Id) -> Result<()> {
    let path = path_of(folder, id)?;
    fsx::remove_if(&path, || is_damaged(&path)).map(drop)
}

/// True if there is an entry of ours that cannot be served.
fn is_damaged(path: &Path) -> Result<bool> {
    let Some(file) = look::regular(path)? else { return Ok(false) };
    let Some(json) = look::contents(&file, path)? else { return Ok(false) };
    Ok(match format::parse(&json, file.modified()) {
        Ok(Some(Parsed { head, value, whose: Whose::Ours })) => {
            Payload::Plain(value).open(&head.header.body).is_err()
        }
        Ok(_) => false,
        Err(error) => error.kind() == ErrorKind::Corrupt,
    })
}

fn path_of(folder: &Folder, id: &Id) -> Result<PathBuf> {
    let dir = folder.of(&id.scope);
    folder.refuse_links(&dir)?;
    Ok(list::path_in(dir, &id.key))
}
