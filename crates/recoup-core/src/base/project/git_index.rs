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

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::git::{MAX_CONFIG, config_value, git_dirs, read_small};
use super::git_object::ObjectId;
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher, encode_hex};
use crate::base::fsx::{self, FileLookup};

/// Enough for a million files.
const MAX_INDEX: u64 = 256 << 20;

/// The mode, after times, device and inode.
const MODE_AT: usize = 24;
const OBJECT_AT: usize = 40;
/// Flag of entries that have more flags.
const EXTENDED: u16 = 0x4000;
/// Flags of files that git does not compare, of unresolved conflicts; and of files that are not
/// checked out, or of which only the name was added. What such entries hold need not be in the file.
const UNTRUSTED: u16 = 0x8000 | 0x3000;
const UNTRUSTED_EXTENDED: u16 = 0x4000 | 0x2000;

/// State of the index in the nearest repository at or above `start`: a digest of what is staged,
/// without the times of files, which `git status` refreshes. `None` if there is no repository, or its
/// index cannot be read.
pub(crate) fn index_state(start: &Path) -> Option<Vec<u8>> {
    let (own, common) = git_dirs(start)?;
    let Some(index) = fsx::read_regular(&own.join("index"), MAX_INDEX).ok()? else {
        return Some(b"no index".to_vec());
    };
    let mut hasher = Sha256Hasher::new();
    let parsed = index_entries(&index, object_len(&common)).filter(|it| it.shared.is_none());
    let digest = parsed.map(|IndexEntries { entries, .. }| {
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
    let IndexEntries { entries, shared: None } = index_entries(&index, object_len(&common))? else {
        return None;
    };
    let mut names: Vec<Vec<u8>> = Vec::new();
    for entry in entries {
        let before = names.last().map_or(&[][..], Vec::as_slice);
        names.push([entry.kept_of(before)?, entry.name].concat());
    }
    Some(names)
}

/// The files that a worktree tracks, with what git knew of each when it last compared them.
#[derive(Debug)]
pub(crate) struct WorktreeIndex {
    /// In order of their names.
    files: Vec<TrackedFile>,
    names: Vec<u8>,
    /// When the index was written.
    pub(crate) modified: Timestamp,
    /// The length of an object's id.
    pub(crate) object_len: usize,
    /// The repository's own file of attributes.
    pub(crate) attributes: PathBuf,
}

/// No files, and ids by SHA-1.
impl Default for WorktreeIndex {
    fn default() -> Self {
        let modified = Timestamp::from_millis(0);
        let (files, names, attributes) = (Vec::new(), Vec::new(), PathBuf::new());
        Self { files, names, modified, object_len: 20, attributes }
    }
}

/// A file of an index.
#[derive(Debug)]
pub(crate) struct TrackedFile {
    name: Range<usize>,
    pub(crate) mode: u32,
    pub(crate) stat: TrackedStat,
    /// Id of its contents.
    pub(crate) object: ObjectId,
    /// True if the object is what a file with this `stat` holds, after git's own conversions.
    pub(crate) is_trusted: bool,
}

/// Times and size of a file as an index has them, each shortened to 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TrackedStat {
    /// Seconds and nanoseconds.
    pub(crate) mtime: [u32; 2],
    /// Seconds and nanoseconds.
    pub(crate) ctime: [u32; 2],
    pub(crate) inode: u32,
    pub(crate) size: u32,
}

impl WorktreeIndex {
    /// The index of the worktree at `root`; empty if there is none yet. `None` if it is not
    /// understood.
    pub(crate) fn read(root: &Path) -> Option<Self> {
        let (own, common) = git_dirs(root)?;
        let object_len = object_len(&common);
        let attributes = common.join("info/attributes");
        let mut index = Self { object_len, attributes, ..Self::default() };
        let file = match fsx::open_regular(&own.join("index")).ok()? {
            FileLookup::Regular(file) if file.size() <= MAX_INDEX => file,
            FileLookup::Nothing => return Some(index),
            _ => return None,
        };
        index.modified = file.modified();
        let bytes = file.read().ok()?;
        let parsed = index_entries(&bytes, object_len)?;
        let is_split = parsed.shared.is_some();
        // The halves of a split index are of different ages, so only their names count. Names that
        // the newer half has deleted do no harm.
        if let Some(shared) = parsed.shared.filter(|name| name.iter().any(|byte| *byte != 0)) {
            let path = own.join(format!("sharedindex.{}", encode_hex(shared)));
            let bytes = fsx::read_regular(&path, MAX_INDEX).ok()??;
            index.add(&index_entries(&bytes, object_len)?.entries)?;
        }
        index.add(&parsed.entries)?;
        let Self { files, names, .. } = &mut index;
        files.sort_by(|a, b| names[a.name.clone()].cmp(&names[b.name.clone()]));
        if is_split {
            for file in files {
                file.is_trusted = false;
            }
        }
        Some(index)
    }

    fn add(&mut self, entries: &[StagedEntry<'_>]) -> Option<()> {
        self.files.reserve(entries.len());
        self.names.reserve(entries.len() * 48);
        let mut before = 0..0;
        for entry in entries {
            let name_at = self.names.len();
            let kept = entry.kept_of(&self.names[before.clone()])?.len();
            self.names.extend_from_within(before.start..before.start + kept);
            self.names.extend_from_slice(entry.name);
            before = name_at..self.names.len();
            // In a split index, these replace others by their place.
            if before.is_empty() {
                continue;
            }
            let number = |at: usize| {
                let bytes = entry.stat.get(at..at + 4).and_then(|it| it.try_into().ok());
                bytes.map_or(0, u32::from_be_bytes)
            };
            let mut object = [0; 32];
            object[..self.object_len].copy_from_slice(&entry.object_to_name[..self.object_len]);
            let stat = TrackedStat {
                ctime: [number(0), number(4)],
                mtime: [number(8), number(12)],
                inode: number(20),
                size: number(36),
            };
            let is_trusted =
                entry.flags.0 & UNTRUSTED == 0 && entry.flags.1 & UNTRUSTED_EXTENDED == 0;
            let mode = number(MODE_AT);
            self.files.push(TrackedFile { name: before.clone(), mode, stat, object, is_trusted });
        }
        Some(())
    }

    /// The files whose names begin with `prefix`, among those in `range`.
    pub(crate) fn below(&self, prefix: &[u8], range: Range<usize>) -> Range<usize> {
        let files = &self.files[range.clone()];
        let start = files.partition_point(|file| &self.names[file.name.clone()] < prefix);
        let is_below = |file: &TrackedFile| self.names[file.name.clone()].starts_with(prefix);
        let len = files[start..].partition_point(is_below);
        range.start + start..range.start + start + len
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// The name of a file, relative to the root of the worktree.
    pub(crate) fn name(&self, at: usize) -> &[u8] {
        &self.names[self.files[at].name.clone()]
    }

    pub(crate) fn file(&self, at: usize) -> &TrackedFile {
        &self.files[at]
    }
}

/// Entries of an index, and what belongs to them.
struct IndexEntries<'i> {
    entries: Vec<StagedEntry<'i>>,
    /// The checksum that names the other half of a split index.
    shared: Option<&'i [u8]>,
}

/// One entry of an index.
struct StagedEntry<'i> {
    stat: &'i [u8],
    mode: &'i [u8],
    flags: (u16, u16),
    /// Object, flags and name, as they are written.
    object_to_name: &'i [u8],
    /// Bytes of the previous name that this one does not begin with; none if it is written whole.
    dropped: Option<usize>,
    name: &'i [u8],
}

impl StagedEntry<'_> {
    /// The beginning of the name `before` that this one shares.
    fn kept_of<'b>(&self, before: &'b [u8]) -> Option<&'b [u8]> {
        match self.dropped {
            Some(dropped) => before.get(..before.len().checked_sub(dropped)?),
            None => Some(&[]),
        }
    }
}

/// The length of an object's name.
fn object_len(common: &Path) -> usize {
    let config = read_small(&common.join("config"), MAX_CONFIG).unwrap_or_default();
    let is_long =
        config_value(&config, b"extensions.objectformat").is_some_and(|it| it == b"sha256");
    if is_long { 32 } else { 20 }
}

/// The entries of an index; `None` if it is not understood to its end.
fn index_entries(index: &[u8], object_len: usize) -> Option<IndexEntries<'_>> {
    let short = |at: usize| Some(u16::from_be_bytes(index.get(at..at + 2)?.try_into().ok()?));
    let number = |at: usize| Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?));
    let version = number(4)?;
    if !index.starts_with(b"DIRC") || !(2..=4).contains(&version) {
        return None;
    }
    let (mut entries, mut at) = (Vec::new(), 12);
    for _ in 0..number(8)? {
        let (object, flags_at) = (at + OBJECT_AT, at + OBJECT_AT + object_len);
        let mut flags = (short(flags_at)?, 0);
        let mut text = flags_at + 2;
        if flags.0 & EXTENDED != 0 {
            flags.1 = short(text)?;
            text += 2;
        }
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
        let end = text + memchr::memchr(0, index.get(text..)?)?;
        entries.push(StagedEntry {
            stat: &index[at..object],
            flags,
            mode: &index[at + MODE_AT..at + MODE_AT + 4],
            object_to_name: &index[object..=end],
            dropped,
            name: &index[text..end],
        });
        at = if version == 4 { end + 1 } else { at + ((end - at) / 8 + 1) * 8 };
    }
    // Extensions, up to the checksum.
    let mut shared = None;
    while index.len().checked_sub(at)? > object_len {
        match index.get(at..at + 4)? {
            b"link" => shared = Some(index.get(at + 8..at + 8 + object_len)?),
            // Directories among the entries, of a sparse index.
            b"sdir" => {}
            // The others in lower case change what the entries mean.
            name if name[0].is_ascii_lowercase() => return None,
            _ => {}
        }
        at = at.checked_add(8)?.checked_add(usize::try_from(number(at + 4)?).ok()?)?;
    }
    (index.len() - at == object_len).then_some(IndexEntries { entries, shared })
}
