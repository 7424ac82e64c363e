//! Git's index: the files that a worktree tracks, and what is staged of them.
//!
//! ```text
//! "DIRC" version:u32 entries:u32
//! stat:[u8; 40] object:[u8; 20 or 32] flags:u16 (extended:u16) name NUL (padding to 8)
//! ```
//! In version 4 a name begins with the number of bytes to drop from the previous one, and has no
//! padding. Extensions follow the entries, each as a name of four letters, its length as u32 and its
//! data; then a checksum as long as an object's name. A split index has the extension `link`, and
//! most of its entries are in another file.

use std::path::Path;

use super::git::{MAX_CONFIG, config_value, git_dirs, read_small};
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::base::fsx;

/// Enough for a million files.
const MAX_INDEX: u64 = 256 << 20;

/// The mode, after times, device and inode.
const MODE_AT: usize = 24;
const OBJECT_AT: usize = 40;
/// Flag of entries that have more flags.
const EXTENDED: u16 = 0x4000;

/// State of the index in the nearest repository at or above `start`: a digest of what is staged,
/// without the times of files, which `git status` refreshes. `None` if there is no repository, or its
/// index cannot be read.
pub(crate) fn index_state(start: &Path) -> Option<Vec<u8>> {
    let (own, common) = git_dirs(start)?;
    let Some(index) = fsx::read_regular(&own.join("index"), MAX_INDEX).ok()? else {
        return Some(b"no index".to_vec());
    };
    let mut hasher = Sha256Hasher::new();
    let digest = index_entries(&index, object_len(&common)).map(|entries| {
        for entry in entries {
            hasher.update(entry.mode);
            hasher.update(entry.object_to_name);
        }
        hasher.finish()
    });
    // What is not understood counts whole: any change of it is one.
    Some(digest.unwrap_or_else(|| Sha256Digest::of(&index)).as_bytes().to_vec())
}

/// Names that the index of the nearest repository has; `None` if there is no repository, or it
/// cannot be read whole.
pub(super) fn tracked_names(start: &Path) -> Option<Vec<Vec<u8>>> {
    let (own, common) = git_dirs(start)?;
    // Without an index, nothing was ever added.
    let index = fsx::read_regular(&own.join("index"), MAX_INDEX).ok()?;
    let Some(index) = index else { return Some(Vec::new()) };
    let mut names: Vec<Vec<u8>> = Vec::new();
    for entry in index_entries(&index, object_len(&common))? {
        let before = names.last().map_or(&[][..], Vec::as_slice);
        let kept = match entry.dropped {
            Some(dropped) => before.get(..before.len().checked_sub(dropped)?)?,
            None => &[],
        };
        names.push([kept, entry.name].concat());
    }
    Some(names)
}

/// One entry of an index.
struct StagedEntry<'i> {
    mode: &'i [u8],
    /// Object, flags and name, as they are written.
    object_to_name: &'i [u8],
    /// Bytes of the previous name that this one does not begin with; none if it is written whole.
    dropped: Option<usize>,
    name: &'i [u8],
}

/// The length of an object's name.
fn object_len(common: &Path) -> usize {
    let config = read_small(&common.join("config"), MAX_CONFIG).unwrap_or_default();
    let is_long =
        config_value(&config, b"extensions.objectformat").is_some_and(|it| it == b"sha256");
    if is_long { 32 } else { 20 }
}

/// The entries of an index; `None` if it is not understood to its end, or is split over two files.
fn index_entries(index: &[u8], object_len: usize) -> Option<Vec<StagedEntry<'_>>> {
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut entries, mut at) = (Vec::new(), 12);
    for _ in 0..number(8)? {
        let (object, flags) = (at + OBJECT_AT, at + OBJECT_AT + object_len);
        let is_extended =
            u16::from_be_bytes(index.get(flags..flags + 2)?.try_into().ok()?) & EXTENDED != 0;
        let mut text = flags + if is_extended { 4 } else { 2 };
        let mut dropped = None;
        if version == 4 {
            // A number as in git's pack files: seven bits a byte, highest first.
            let mut byte = *index.get(text)?;
            let mut value = usize::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                text += 1;
                byte = *index.get(text)?;
                value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
            }
            text += 1;
            dropped = Some(value);
        }
        let end = text + index.get(text..)?.iter().position(|byte| *byte == 0)?;
        entries.push(StagedEntry {
            mode: &index[at + MODE_AT..at + MODE_AT + 4],
            object_to_name: &index[object..=end],
            dropped,
            name: &index[text..end],
        });
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    // Extensions, up to the checksum.
    while index.len().checked_sub(at)? > object_len {
        if index.get(at..at + 4)? == b"link" {
            return None;
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    (index.len() - at == object_len).then_some(entries)
}
