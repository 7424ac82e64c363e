//! When the next entry of ours dies: one line in `.recoup/next-death`, so that
//! finding out that none is due opens no entry.
//!
//! A sweep takes the note away before it looks, and writes another when it has
//! seen everything. Whoever stores an entry reads the note afterwards: if it is
//! there, either the sweep that wrote it saw that entry, or the next one will;
//! if it is not, a sweep may be under way, and its end is waited for.

use std::path::PathBuf;

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, Found};
use crate::store::folder::Folder;

/// Longer than any note.
const MAX_LEN: u64 = 64;
/// How old a temporary file is whose writer is gone, and how often one looks for
/// those, in milliseconds.
pub(super) const HOUR: u64 = 60 * 60 * 1000;

/// What is known about the next death.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Nothing: all entries have to be looked at.
    Unknown,
    /// All that there are live for ever.
    Never,
    /// None before that moment.
    At(Timestamp),
}

impl Next {
    pub(super) fn is_due(self, now: Timestamp) -> bool {
        match self {
            Self::Unknown => true,
            Self::Never => false,
            Self::At(at) => at <= now,
        }
    }

    /// Whether an entry that dies then is covered.
    fn covers(self, death: Timestamp) -> bool {
        matches!(self, Self::At(at) if at <= death)
    }
}

fn place(folder: &Folder) -> PathBuf {
    folder.own().join("next-death")
}

/// What can't be read is unknown.
pub(super) fn read(folder: &Folder) -> Next {
    let text = fsx::read_regular(&place(folder), MAX_LEN).ok().flatten();
    match text.as_deref().and_then(|text| str::from_utf8(text).ok()).map(str::trim_end) {
        Some("never") => Next::Never,
        Some(millis) => {
            millis.parse().map_or(Next::Unknown, |at| Next::At(Timestamp::from_millis(at)))
        }
        None => Next::Unknown,
    }
}

/// Whether nobody has swept for so long that writers may have left something
/// behind. By the machine's own clock, as files are.
pub(super) fn is_old(folder: &Folder) -> bool {
    match fsx::look_at(&place(folder)) {
        Ok(Found::Regular(note)) => SystemClock.now().millis_since(note.modified()) > HOUR,
        // Then somebody sweeps anyway.
        _ => false,
    }
}

/// The caller holds the lock. A directory in its place says nothing, and stays.
pub(super) fn forget(folder: &Folder) {
    fsx::remove(&place(folder)).ok();
}

/// The caller holds the lock since it called [`forget`], or read what it writes.
/// One that can't be written is unknown, and everything is looked at again.
pub(super) fn write(folder: &Folder, next: Next) {
    let text = match next {
        Next::Unknown => return forget(folder),
        Next::Never => "never\n".to_owned(),
        Next::At(at) => format!("{}\n", at.as_millis()),
    };
    if fsx::write_whole(&place(folder), text.as_bytes()).is_err() {
        forget(folder);
    }
}

/// An entry was stored that dies at `death`. It is stored whatever becomes of the
/// note: whoever does not get its turn to change it takes it away.
pub(super) fn lower(folder: &Folder, death: Timestamp) {
    if read(folder).covers(death) {
        return;
    }
    let Ok(_turn) = folder.lock() else { return forget(folder) };
    match read(folder) {
        // The next sweep finds it.
        Next::Unknown => {}
        next if next.covers(death) => {}
        Next::Never | Next::At(_) => write(folder, Next::At(death)),
    }
}
