//! Time of the next expiry: one line in `.recoup/next-death`, so that finding nothing to expire
//! opens no entry.
//!
//! A sweep removes the note first, and writes another after it has seen everything. A writer reads
//! the note after storing an entry: if the note is there, the sweep that wrote it saw the entry, or
//! the next one will; if not, a sweep may be running, and the writer waits for its end.

use std::path::PathBuf;

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, FileLookup};
use crate::store::folder::StoreFolder;

/// Longer than any note.
const MAX_LEN: u64 = 64;
/// Age at which a temporary file is stale, and interval of the search for those, in milliseconds.
pub(super) const HOUR: u64 = 60 * 60 * 1000;

/// The next expiry, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextExpiry {
    /// Unknown: all entries have to be checked.
    Unknown,
    /// No entry expires.
    Never,
    /// No entry expires before that time.
    At(Timestamp),
}

impl NextExpiry {
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

fn note_path(folder: &StoreFolder) -> PathBuf {
    folder.private_dir().join("next-death")
}

/// Unknown if the note cannot be read.
pub(super) fn read(folder: &StoreFolder) -> NextExpiry {
    let text = fsx::read_regular(&note_path(folder), MAX_LEN).ok().flatten();
    match text.as_deref().and_then(|text| str::from_utf8(text).ok()).map(str::trim_end) {
        Some("never") => NextExpiry::Never,
        Some(millis) => millis
            .parse()
            .map_or(NextExpiry::Unknown, |at| NextExpiry::At(Timestamp::from_millis(at))),
        None => NextExpiry::Unknown,
    }
}

/// True if no sweep has run for so long that stale temporary files are likely. By the system clock,
/// like file times.
pub(super) fn is_sweep_overdue(folder: &StoreFolder) -> bool {
    match fsx::open_regular(&note_path(folder)) {
        Ok(FileLookup::Regular(note)) => SystemClock.now().millis_since(note.modified()) > HOUR,
        // Without a note a sweep is due anyway.
        _ => false,
    }
}

/// Removes the note. The caller must hold the lock. A directory in its place stays.
pub(super) fn remove_note(folder: &StoreFolder) {
    fsx::remove(&note_path(folder)).ok();
}

/// Writes the note. The caller must hold the lock since it called [`remove_note`], or since it read what
/// it writes. After a failure the expiry is unknown.
pub(super) fn write(folder: &StoreFolder, next: NextExpiry) {
    let text = match next {
        NextExpiry::Unknown => return remove_note(folder),
        NextExpiry::Never => "never\n".to_owned(),
        NextExpiry::At(at) => format!("{}\n", at.as_millis()),
    };
    if fsx::write_unsynced(&note_path(folder), text.as_bytes()).is_err() {
        remove_note(folder);
    }
}

/// Notes that an entry which expires at `death` was stored. If the lock cannot be had, the note is
/// removed; the entry is stored in any case.
pub(super) fn lower_to(folder: &StoreFolder, death: Timestamp) {
    if read(folder).covers(death) {
        return;
    }
    let Ok(_turn) = folder.lock() else { return remove_note(folder) };
    match read(folder) {
        // The next sweep finds the entry.
        NextExpiry::Unknown => {}
        next if next.covers(death) => {}
        NextExpiry::Never | NextExpiry::At(_) => write(folder, NextExpiry::At(death)),
    }
}
