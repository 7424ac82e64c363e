//! Looks for objects in a repository by their ids, without reading them: loose ones by
//! their path, packed ones in the packs' indexes.
//!
//! Borrowed objects (`objects/info/alternates`) do not count: any repository can name
//! another's directory there.

use std::fs;
use std::path::Path;

use crate::base::fsx::{self, FileLookup, RegularFile};

/// Limit on packs: more exist only if git never gets to collect them.
const MOST_PACKS: usize = 256;

/// `\377tOc`, and version 2.
const MAGIC: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];

/// Offset of the sorted ids, behind 256 counts of four bytes each.
const IDS: u64 = 8 + 256 * 4;

/// True if the repository at `common` itself has the object with this id.
pub(super) fn has_object(common: &Path, id: &str) -> bool {
    let Some(bytes) = id_bytes(id) else { return false };
    let objects = common.join("objects");
    if objects.join(&id[..2]).join(&id[2..]).is_file() {
        return true;
    }
    let packs = fs::read_dir(objects.join("pack")).into_iter().flatten().flatten();
    let indexes =
        packs.map(|entry| entry.path()).filter(|path| path.extension() == Some("idx".as_ref()));
    indexes.take(MOST_PACKS).any(|path| match fsx::open_regular(&path) {
        Ok(FileLookup::Regular(index)) => index_contains(&index, &bytes).unwrap_or(false),
        _ => false,
    })
}

fn id_bytes(id: &str) -> Option<Vec<u8>> {
    if !matches!(id.len(), 40 | 64) || !id.is_ascii() {
        return None;
    }
    (0..id.len()).step_by(2).map(|at| u8::from_str_radix(&id[at..at + 2], 16).ok()).collect()
}

/// Searches a pack's index: the counts say between which places an id with that first byte is.
fn index_contains(index: &RegularFile, id: &[u8]) -> Option<bool> {
    let mut magic = [0; MAGIC.len()];
    read_exact(index, &mut magic, 0)?;
    if magic != MAGIC {
        return None;
    }
    let count = |at: u8| {
        let mut count = [0; 4];
        read_exact(index, &mut count, 8 + u64::from(at) * 4)?;
        Some(u64::from(u32::from_be_bytes(count)))
    };
    let mut low = if id[0] == 0 { 0 } else { count(id[0] - 1)? };
    let mut high = count(id[0])?;
    let mut found = vec![0; id.len()];
    while low < high {
        let middle = low + (high - low) / 2;
        read_exact(index, &mut found, IDS + middle * id.len() as u64)?;
        match found.as_slice().cmp(id) {
            std::cmp::Ordering::Equal => return Some(true),
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
        }
    }
    Some(false)
}

fn read_exact(index: &RegularFile, room: &mut [u8], at: u64) -> Option<()> {
    (index.read_at(room, at).ok()? == room.len()).then_some(())
}
