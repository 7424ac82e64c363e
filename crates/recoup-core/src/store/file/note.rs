//! Time of the next expiry: one line in `.recoup/next-death`, so that finding nothing to expire
//! opens no entry.
//!
//! A sweep removes the note first, and writes another after it has seen everything. A writer reads
//! the note after storing an entry: if the note is there, the sweep that wrote it saw the entry, or
//! the next one will; if not, a sweep may be running, and the writer waits for its end.

use std::path::PathBuf;

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, Found};
use crate::store::folder::Folder;

/// Longer than any note.
const MAX_LEN: u64 = 64;
/// Age at which a temporary file is stale, and interval of the search for those, in milliseconds.
pub(super) const HOUR: u64 = 60 * 60 * 1000;

/// The next expiry, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Unknown: all entries have to be checked.
    Unknown,
    /// No entry expires.
    Never,
    /// No entry expires before that time.
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

    /// True if an entry that expires at `death` is covered.
    fn covers(self, death: Timestamp) -> bool {
        matches!(self, Self::At(at) if at <= death)
    }
}

fn place(folder: &Folder) -> PathBuf {
    folder.own().join("next-death")
}

/// Unknown if the note cannot be read.
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

/// True if no sweep has run for so long that stale temporary files are likely. By the system clock,
/// like file times.
pub(super) fn is_old(folder: &Folder) -> bool {
    match fsx::look_at(&place(folder)) {
        Ok(Found::Regular(note)) => SystemClock.now().millis_since(note.modified()) > HOUR,
        // Without a note a sweep is due anyway.
        _ => false,
    }
}

/// Removes the note. The caller must hold the lock. A directory in its place stays.
pub(super) fn forget(folder: &Folder) {
    fsx::remove(&place(folder)).ok();
}

/// Writes the note. The caller must hold the lock since it called [`forget`], or since it read what
/// it writes. After a failure the expiry is unknown.
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

/// Notes that an entry which expires at `death` was stored. If the lock cannot be had, the note is
/// removed; the entry is stored in any case.
pub(super) fn lower(folder: &Folder, death: Timestamp) {
    if read(folder).covers(death) {
        return;
    }
    let Ok(_turn) = folder.lock() else { return forget(folder) };
    match read(folder) {
        // The next sweep finds the entry.
        Next::Unknown => {}
        next if next.covers(death) => {}
        Next::Never | Next::At(_) => write(folder, Next::At(death)),
    }
}
