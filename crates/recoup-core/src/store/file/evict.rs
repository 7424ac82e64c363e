//! Execution of an eviction plan. Only entries with our head are counted or removed, not those of
//! other programs.
//!
//! Finding that nothing is due opens no entry: a note (`.recoup/next-death`) holds the next expiry,
//! and the total size of all files is an upper bound. A sweep removes the note first, and writes
//! another after it has seen everything. A writer reads the note after storing an entry: if the note
//! is there, the sweep that wrote it saw the entry, or the next one will; if not, a sweep may be
//! running, and the writer waits for its end.

use std::path::{Path, PathBuf};

use super::classify::{self, OwnEntry};
use super::{EntryPath, entries_in, is_temporary, paths_named, survey};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, FileLookup};
use crate::error::Result;
use crate::key::EntryId;
use crate::store::folder::StoreFolder;
use crate::store::{EvictionCause, EvictionPlan, EvictionReport};

/// Longer than any note.
const MAX_NOTE_LEN: u64 = 64;
/// Age at which a temporary file is stale, and interval of the search for those, in milliseconds.
const HOUR: u64 = 60 * 60 * 1000;

pub(super) fn carry_out(folder: &StoreFolder, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    // Without a directory there is nothing to evict, and none is created.
    if !folder.exists()? {
        return Ok(evicted);
    }
    // Without a sweep for so long, stale temporary files are likely. By the system clock, like file
    // times; without a note a sweep is due anyway.
    if let Ok(FileLookup::Regular(note)) = fsx::open_regular(&note_path(folder))
        && SystemClock.now().millis_since(note.modified()) > HOUR
    {
        // Best effort: the next eviction tries again. The note is rewritten unchanged, which updates
        // its age.
        let turn = folder.lock();
        if turn.is_ok() && remove_stale_temporaries(folder).is_ok() {
            write_next_expiry(folder, read_next_expiry(folder));
        }
    }
    if !read_next_expiry(folder).is_due(plan.now) && is_within_limits(folder, plan)? {
        return Ok(evicted);
    }
    let _turn = folder.lock()?;
    if read_next_expiry(folder).is_due(plan.now) {
        sweep(folder, plan.now, &mut evicted)?;
    }
    if !is_within_limits(folder, plan)? {
        folder.refuse_links(&folder.scope_dir(&plan.scope))?;
        remove_least_used(folder, plan, &mut evicted)?;
    }
    Ok(evicted)
}

/// True if all files together, of any kind and owner, are within the limits.
fn is_within_limits(folder: &StoreFolder, plan: &EvictionPlan) -> Result<bool> {
    if plan.max_entries.is_none() && plan.max_bytes.is_none() {
        return Ok(true);
    }
    let seen = survey(&folder.scope_dir(&plan.scope))?;
    remove_abandoned(&seen.temporaries);
    Ok(plan.allows(seen.entries, seen.bytes))
}

/// Removes expired entries of every scope and stale temporary files, and notes the next expiry.
fn sweep(folder: &StoreFolder, now: Timestamp, evicted: &mut EvictionReport) -> Result<()> {
    remove_note(folder);
    let mut next: Option<Timestamp> = None;
    for scope in folder.scopes()? {
        let dir = folder.scope_dir(&scope);
        for EntryPath { key, path } in entries_in(&dir)? {
            let Some(ours) = classify::own_entry_at(&path)? else { continue };
            let Some(expiry) = ours.head.header.deletable_at() else { continue };
            let id = EntryId::new(scope.clone(), key);
            if expiry > now || !evict_one(&path, id, &ours, EvictionCause::Dead, evicted)? {
                next = Some(next.map_or(expiry, |next| next.min(expiry)));
            }
        }
    }
    remove_stale_temporaries(folder)?;
    write_next_expiry(folder, next.map_or(NextExpiry::Never, NextExpiry::At));
    Ok(())
}

fn evict_one(
    path: &Path,
    id: EntryId,
    ours: &OwnEntry,
    cause: EvictionCause,
    evicted: &mut EvictionReport,
) -> Result<bool> {
    let dropped = fsx::remove_if_unchanged(path, ours.stamp)?;
    if dropped {
        evicted.bytes = evicted.bytes.saturating_add(ours.bytes);
        evicted.count_entry(cause);
        evicted.list_entry(id, ours.head.header.kind, cause);
    }
    Ok(dropped)
}

fn remove_stale_temporaries(folder: &StoreFolder) -> Result<()> {
    let mut found = paths_named(&folder.private_dir(), &fsx::is_hidden_temporary)?;
    for scope in folder.scopes()? {
        found.extend(paths_named(&folder.scope_dir(&scope), &is_temporary)?);
    }
    remove_abandoned(&found);
    Ok(())
}

/// Removes temporary files of dead writers; where locks cannot tell, those older than an hour. Best
/// effort: the next eviction tries again.
fn remove_abandoned(temporaries: &[PathBuf]) {
    for path in temporaries {
        let Ok(FileLookup::Regular(file)) = fsx::open_regular(path) else { continue };
        let is_old = SystemClock.now().millis_since(file.modified()) > HOUR;
        if is_old || fsx::is_abandoned(path) {
            let _ = fsx::try_remove_if_unchanged(path, file.stamp());
        }
    }
}

fn remove_least_used(
    folder: &StoreFolder,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<()> {
    let mut ours: Vec<(EntryPath, OwnEntry)> = Vec::new();
    for named in entries_in(&folder.scope_dir(&plan.scope))? {
        let entry = classify::own_entry_at(&named.path)?;
        let entry = entry.filter(|entry| entry.head.header.kind == plan.kind);
        ours.extend(entry.map(|entry| (named, entry)));
    }
    ours.sort_unstable_by_key(|(_, ours)| ours.head.last_used);
    let (mut entries, mut bytes) = (ours.len() as u64, 0u64);
    for (_, ours) in &ours {
        bytes = bytes.saturating_add(ours.bytes);
    }
    let spared = |named: &EntryPath| plan.keep.as_ref() == Some(&named.key);
    for (named, ours) in ours.iter().filter(|(named, _)| !spared(named)) {
        let Some(limit) = plan.exceeded_limit(entries, bytes) else { break };
        let id = EntryId::new(plan.scope.clone(), named.key.clone());
        if evict_one(&named.path, id, ours, EvictionCause::Over(limit), evicted)? {
            entries -= 1;
            bytes = bytes.saturating_sub(ours.bytes);
        }
    }
    Ok(())
}

/// The next expiry, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NextExpiry {
    /// Unknown: all entries have to be checked.
    Unknown,
    /// No entry expires.
    Never,
    /// No entry expires before that time.
    At(Timestamp),
}

impl NextExpiry {
    fn is_due(self, now: Timestamp) -> bool {
        match self {
            Self::Unknown => true,
            Self::Never => false,
            Self::At(at) => at <= now,
        }
    }

    /// True if an entry that expires at `expiry` is covered.
    fn covers(self, expiry: Timestamp) -> bool {
        matches!(self, Self::At(at) if at <= expiry)
    }
}

fn note_path(folder: &StoreFolder) -> PathBuf {
    folder.private_dir().join("next-death")
}

/// Unknown if the note cannot be read.
fn read_next_expiry(folder: &StoreFolder) -> NextExpiry {
    let text = fsx::read_regular(&note_path(folder), MAX_NOTE_LEN).ok().flatten();
    match text.as_deref().and_then(|text| str::from_utf8(text).ok()).map(str::trim_end) {
        Some("never") => NextExpiry::Never,
        Some(millis) => millis
            .parse()
            .map_or(NextExpiry::Unknown, |at| NextExpiry::At(Timestamp::from_millis(at))),
        None => NextExpiry::Unknown,
    }
}

/// Removes the note. The caller must hold the lock. A directory in its place stays.
fn remove_note(folder: &StoreFolder) {
    fsx::remove(&note_path(folder)).ok();
}

/// Writes the note. The caller must hold the lock since it called [`remove_note`], or since it read what
/// it writes. After a failure the expiry is unknown.
fn write_next_expiry(folder: &StoreFolder, next: NextExpiry) {
    let text = match next {
        NextExpiry::Unknown => return remove_note(folder),
        NextExpiry::Never => "never\n".to_owned(),
        NextExpiry::At(at) => format!("{}\n", at.as_millis()),
    };
    if fsx::write_unsynced(&note_path(folder), text.as_bytes()).is_err() {
        remove_note(folder);
    }
}

/// Notes that an entry which expires at `expiry` was stored. If the lock cannot be had, the note is
/// removed; the entry is stored in any case.
pub(super) fn lower_next_expiry(folder: &StoreFolder, expiry: Timestamp) {
    if read_next_expiry(folder).covers(expiry) {
        return;
    }
    let Ok(_turn) = folder.lock() else { return remove_note(folder) };
    match read_next_expiry(folder) {
        // The next sweep finds the entry.
        NextExpiry::Unknown => {}
        next if next.covers(expiry) => {}
        NextExpiry::Never | NextExpiry::At(_) => write_next_expiry(folder, NextExpiry::At(expiry)),
    }
}
