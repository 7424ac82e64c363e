//! When the next entry of ours dies: one line in `.recoup/next-death`, so that
//! finding out that none is due opens no entry.
//!
//! A sweep takes the note away before it looks, and writes another when it has
//! seen everything. Whoever stores an entry reads the note afterwards: if it is
//! there, either the sweep that wrote it saw that entry, or the next one will;
//! if it is not, a sweep may be under way, and its end is waited for.

use std::path::PathBuf;

use crate::base::clock::Timestamp;
use crate::base::fsx;
use crate::error::Result;
use crate::store::folder::Folder;

/// Longer than any note.
const MAX_LEN: u64 = 64;

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

/// The caller holds the lock.
pub(super) fn forget(folder: &Folder) -> Result<()> {
    fsx::remove(&place(folder)).map(drop)
}

/// The caller holds the lock since it called [`forget`].
pub(super) fn write(folder: &Folder, next: Option<Timestamp>) -> Result<()> {
    let text = next.map_or_else(|| "never\n".to_owned(), |at| format!("{}\n", at.as_millis()));
    fsx::write_whole(&place(folder), text.as_bytes())
}

/// An entry was stored that dies at `death`.
pub(super) fn lower(folder: &Folder, death: Timestamp) -> Result<()> {
    if read(folder).covers(death) {
        return Ok(());
    }
    let _turn = folder.lock()?;
    match read(folder) {
        // The next sweep finds it.
        Next::Unknown => Ok(()),
        next if next.covers(death) => Ok(()),
        Next::Never | Next::At(_) => write(folder, Some(death)),
    }
}
