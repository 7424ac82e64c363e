//! Classification of a file: an entry of ours, another program's, a broken one, or an unrelated
//! file.

use std::path::Path;

use bytes::Bytes;

use super::format::{self, Parsed, Whose};
use super::tail::{self, CLOSING, Longer};
use crate::base::clock::Timestamp;
use crate::base::fsx::{self, Found, Regular, Stamp};
use crate::entry::Head;
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
pub(super) struct Seen {
    pub(super) nature: Nature,
    len: u64,
}

pub(super) enum Nature {
    /// Has our head.
    Ours(Head),
    /// Another program's, with a synthesized head.
    Guest(Head),
    /// One of ours that cannot be read.
    Broken(Error),
}

/// An intact entry of ours.
pub(super) struct Ours {
    pub(super) head: Head,
    pub(super) stamp: Stamp,
    pub(super) bytes: u64,
}

impl Seen {
    /// Size that counts towards the limits.
    pub(super) fn bytes(&self) -> u64 {
        match self.nature {
            Nature::Ours(_) => counted(self.len),
            _ => self.len,
        }
    }
}

/// Opens the regular file at `path` that could be an entry; `None` if there is nothing or something
/// else.
pub(super) fn regular(path: &Path) -> Result<Option<Regular>> {
    match fsx::look_at(path)? {
        Found::Regular(file) if file.size() <= MAX_LEN => Ok(Some(file)),
        Found::Denied => Err(denied(path)),
        Found::Regular(_) | Found::Other | Found::Nothing => Ok(None),
    }
}

/// Like [`regular`], but skips files that we may not read.
fn open(path: &Path) -> Result<Option<Regular>> {
    Ok(match fsx::look_at(path)? {
        Found::Regular(file) if file.size() <= MAX_LEN => Some(file),
        _ => None,
    })
}

/// Reads the whole file, unless its ends show that it is not an entry.
pub(super) fn contents(file: &Regular, path: &Path) -> Result<Option<Bytes>> {
    let read = || {
        if file.size() > SHORT
            && !format::may_be(&file.read_start(USUAL_END)?, &file.read_end(USUAL_END)?)
        {
            return Ok(None);
        }
        file.read().map(Bytes::from).map(Some)
    };
    read().doing(|| format!("reading {}", path.display()))
}

/// Classifies the file at `path`; `None` if it is not an entry.
pub(super) fn at(path: &Path) -> Result<Option<Seen>> {
    open(path)?.map_or(Ok(None), |file| seen(&file, path))
}

/// True if there is an entry at `path`; an error if there is an unrelated file, which must not be
/// replaced or removed. An empty file, as a power failure may leave, may be replaced and is
/// otherwise left alone.
pub(super) fn is_entry(path: &Path) -> Result<bool> {
    let found = match fsx::look_at(path)? {
        Found::Nothing => return Ok(false),
        Found::Regular(file) if file.size() == 0 => return Ok(false),
        Found::Regular(file) if file.size() <= MAX_LEN => seen(&file, path)?.is_some(),
        Found::Regular(_) | Found::Other => false,
        Found::Denied => return Err(denied(path)),
    };
    if found { Ok(true) } else { Err(stranger(path)) }
}

fn seen(file: &Regular, path: &Path) -> Result<Option<Seen>> {
    let nature = match head_at_end(file, path)? {
        Some(head) => Some(Nature::Ours(head)),
        None => contents(file, path)?.and_then(|json| nature_of(&json, file.modified(), path)),
    };
    Ok(nature.map(|nature| Seen { nature, len: file.size() }))
}

/// `None` if it is not an entry.
fn nature_of(json: &Bytes, modified: Timestamp, path: &Path) -> Option<Nature> {
    match format::parse(json, modified) {
        Ok(Some(Parsed { head, whose: Whose::Ours, .. })) => Some(Nature::Ours(head)),
        Ok(Some(Parsed { head, whose: Whose::Guest, .. })) => Some(Nature::Guest(head)),
        Ok(None) => None,
        Err(error) => Some(Nature::Broken(error.context(path.display().to_string()))),
    }
}

/// The entry of ours at `path`, if it is intact. Reads only the end of the file.
pub(super) fn ours_at(path: &Path) -> Result<Option<Ours>> {
    let Some(file) = open(path)? else { return Ok(None) };
    let head = head_at_end(&file, path)?;
    Ok(head.map(|head| Ours { head, stamp: file.stamp(), bytes: counted(file.size()) }))
}

/// Size that counts towards the limits: without our counters.
fn counted(len: u64) -> u64 {
    len.saturating_sub(CLOSING as u64)
}

fn head_at_end(file: &Regular, path: &Path) -> Result<Option<Head>> {
    for most in [USUAL_END, LONG_END, usize::MAX] {
        let end = file.read_end(most).doing(|| format!("reading {}", path.display()))?;
        match tail::head_in(&end) {
            Ok(head) => return Ok(head),
            Err(Longer) if end.len() as u64 == file.size() => return Ok(None),
            Err(Longer) => {}
        }
    }
    Ok(None)
}

fn stranger(path: &Path) -> Error {
    Error::new(
        ErrorKind::Invalid,
        format!("{} is not a cache entry, so it is left alone", path.display()),
    )
}

fn denied(path: &Path) -> Error {
    Error::new(ErrorKind::Io, format!("no permission to open {}", path.display()))
}
