//! Classification of a file: an entry of ours, another program's, a broken one, or an unrelated
//! file.

use std::path::Path;

use bytes::Bytes;

use super::format::{self, CLOSING, EntryOwner, HeadBeforeTail, ParsedEntry};
use crate::base::fsx::{self, FileLookup, FileVersionStamp, RegularFile};
use crate::entry::EntryHead;
use crate::error::{Error, ErrorKind, IoContext as _, Result};

/// Maximum file size: an entry has to fit into memory.
pub(super) const MAX_LEN: u64 = 1 << 30;
/// How much of the end is read first: most heads are in it.
const USUAL_END: usize = 4 << 10;
/// Longer files are checked at both ends before they are read.
const SHORT: u64 = 64 << 10;
/// The second try, for headers with many sources.
const LONG_END: usize = 256 << 10;

/// A classified entry file.
pub(super) struct ClassifiedFile {
    pub(super) nature: EntryFileKind,
    len: u64,
}

pub(super) enum EntryFileKind {
    /// Has our head.
    Ours(EntryHead),
    /// Another program's, with a synthesized head.
    Guest(EntryHead),
    /// One of ours that cannot be read.
    Broken(Error),
}

/// An intact entry of ours.
pub(super) struct OwnEntry {
    pub(super) head: EntryHead,
    pub(super) stamp: FileVersionStamp,
    pub(super) bytes: u64,
}

impl ClassifiedFile {
    /// Size that counts towards the limits.
    pub(super) fn bytes(&self) -> u64 {
        match self.nature {
            EntryFileKind::Ours(_) => counted_bytes(self.len),
            _ => self.len,
        }
    }
}

/// Opens the regular file at `path` that could be an entry; `None` if there is nothing or something
/// else.
pub(super) fn open_entry_file(path: &Path) -> Result<Option<RegularFile>> {
    match fsx::open_regular(path)? {
        FileLookup::Regular(file) if file.size() <= MAX_LEN => Ok(Some(file)),
        FileLookup::Denied => Err(permission_error(path)),
        FileLookup::Regular(_) | FileLookup::Other | FileLookup::Nothing => Ok(None),
    }
}

/// Like [`open_entry_file`], but skips files that we may not read.
fn open_if_readable(path: &Path) -> Result<Option<RegularFile>> {
    Ok(match fsx::open_regular(path)? {
        FileLookup::Regular(file) if file.size() <= MAX_LEN => Some(file),
        _ => None,
    })
}

/// Reads the whole file, unless its ends show that it is not an entry.
pub(super) fn read_contents(file: &RegularFile, path: &Path) -> Result<Option<Bytes>> {
    let read = || {
        if file.size() > SHORT
            && !format::may_be_entry(&file.read_start(USUAL_END)?, &file.read_end(USUAL_END)?)
        {
            return Ok(None);
        }
        file.read().map(Bytes::from).map(Some)
    };
    read().with_context(|| format!("cannot read {}", path.display()))
}

/// Classifies the file at `path`; `None` if it is not an entry.
pub(super) fn inspect(path: &Path) -> Result<Option<ClassifiedFile>> {
    open_if_readable(path)?.map_or(Ok(None), |file| inspect_file(&file, path))
}

/// True if there is an entry at `path`; an error if there is an unrelated file, which must not be
/// replaced or removed. An empty file, as a power failure may leave, may be replaced and is
/// otherwise left alone.
pub(super) fn is_entry(path: &Path) -> Result<bool> {
    let found = match fsx::open_regular(path)? {
        FileLookup::Nothing => return Ok(false),
        FileLookup::Regular(file) if file.size() == 0 => return Ok(false),
        FileLookup::Regular(file) if file.size() <= MAX_LEN => inspect_file(&file, path)?.is_some(),
        FileLookup::Regular(_) | FileLookup::Other => false,
        FileLookup::Denied => return Err(permission_error(path)),
    };
    if found {
        return Ok(true);
    }
    let message = format!("{} is not a cache entry, so it is left alone", path.display());
    Err(Error::new(ErrorKind::Invalid, message))
}

fn inspect_file(file: &RegularFile, path: &Path) -> Result<Option<ClassifiedFile>> {
    let nature = match head_at_end(file, path)? {
        Some(head) => Some(EntryFileKind::Ours(head)),
        None => {
            match read_contents(file, path)?.map(|json| format::parse(&json, file.modified())) {
                None | Some(Ok(None)) => None,
                Some(Ok(Some(ParsedEntry { head, whose: EntryOwner::Ours, .. }))) => {
                    Some(EntryFileKind::Ours(head))
                }
                Some(Ok(Some(ParsedEntry { head, whose: EntryOwner::Guest, .. }))) => {
                    Some(EntryFileKind::Guest(head))
                }
                Some(Err(error)) => {
                    Some(EntryFileKind::Broken(error.context(path.display().to_string())))
                }
            }
        }
    };
    Ok(nature.map(|nature| ClassifiedFile { nature, len: file.size() }))
}

/// The entry of ours at `path`, if it is intact. Reads only the end of the file.
pub(super) fn own_entry_at(path: &Path) -> Result<Option<OwnEntry>> {
    let Some(file) = open_if_readable(path)? else { return Ok(None) };
    let head = head_at_end(&file, path)?;
    Ok(head.map(|head| OwnEntry { head, stamp: file.stamp(), bytes: counted_bytes(file.size()) }))
}

/// Size that counts towards the limits: without our counters.
fn counted_bytes(len: u64) -> u64 {
    len.saturating_sub(CLOSING as u64)
}

fn head_at_end(file: &RegularFile, path: &Path) -> Result<Option<EntryHead>> {
    for most in [USUAL_END, LONG_END, usize::MAX] {
        let end = file.read_end(most).with_context(|| format!("cannot read {}", path.display()))?;
        match format::head_in(&end) {
            Ok(head) => return Ok(head),
            Err(HeadBeforeTail) if end.len() as u64 == file.size() => return Ok(None),
            Err(HeadBeforeTail) => {}
        }
    }
    Ok(None)
}

fn permission_error(path: &Path) -> Error {
    Error::new(ErrorKind::Io, format!("no permission to open {}", path.display()))
}
