//! Execution of an eviction plan. Only entries with our head are counted or removed, not those of
//! other programs.
//!
//! Finding that nothing is due opens no entry: a note holds the next expiry, and the total size of
//! all files is an upper bound.

use std::path::{Path, PathBuf};

use super::classify::{self, OwnEntry};
use super::list::{self, EntryPath};
use super::next_expiry::{self, NextExpiry};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, FileLookup};
use crate::error::Result;
use crate::key::EntryId;
use crate::store::folder::StoreFolder;
use crate::store::{EvictionCause, EvictionPlan, EvictionReport};

pub(super) fn carry_out(folder: &StoreFolder, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    // Without a directory there is nothing to evict, and none is created.
    if !folder.exists()? {
        return Ok(evicted);
    }
    if next_expiry::is_sweep_overdue(folder) {
        // Best effort: the next eviction tries again.
        sweep_temporaries(folder).ok();
    }
    if !is_due(folder, plan)? {
        return Ok(evicted);
    }
    let _turn = folder.lock()?;
    if next_expiry::read(folder).is_due(plan.now) {
        sweep(folder, plan.now, &mut evicted)?;
    }
    if !is_within_limits(folder, plan)? {
        folder.refuse_links(&folder.scope_dir(&plan.scope))?;
        remove_least_used(folder, plan, &mut evicted)?;
    }
    Ok(evicted)
}

fn is_due(folder: &StoreFolder, plan: &EvictionPlan) -> Result<bool> {
    Ok(next_expiry::read(folder).is_due(plan.now) || !is_within_limits(folder, plan)?)
}

/// True if all files together, of any kind and owner, are within the limits.
fn is_within_limits(folder: &StoreFolder, plan: &EvictionPlan) -> Result<bool> {
    if plan.max_entries.is_none() && plan.max_bytes.is_none() {
        return Ok(true);
    }
    let seen = list::survey(&folder.scope_dir(&plan.scope))?;
    remove_abandoned(&seen.temporaries);
    Ok(plan.allows(seen.entries, seen.bytes))
}

/// Removes expired entries of every scope and stale temporary files, and notes the next expiry.
fn sweep(folder: &StoreFolder, now: Timestamp, evicted: &mut EvictionReport) -> Result<()> {
    next_expiry::remove_note(folder);
    let mut next: Option<Timestamp> = None;
    for scope in folder.scopes()? {
        let dir = folder.scope_dir(&scope);
        for EntryPath { key, path } in list::entries_in(&dir)? {
            let Some(ours) = classify::own_entry_at(&path)? else { continue };
            let Some(death) = ours.head.header.deletable_at() else { continue };
            let id = EntryId::new(scope.clone(), key);
            if death > now || !evict_one(&path, id, &ours, EvictionCause::Dead, evicted)? {
                next = Some(next.map_or(death, |next| next.min(death)));
            }
        }
    }
    remove_stale_temporaries(folder)?;
    next_expiry::write(folder, next.map_or(NextExpiry::Never, NextExpiry::At));
    Ok(())
}

/// Removes stale temporary files only. The note is rewritten unchanged, which updates its age.
fn sweep_temporaries(folder: &StoreFolder) -> Result<()> {
    let _turn = folder.lock()?;
    remove_stale_temporaries(folder)?;
    next_expiry::write(folder, next_expiry::read(folder));
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
    let mut found = list::own_temporaries_in(&folder.private_dir())?;
    for scope in folder.scopes()? {
        found.extend(list::temporaries_in(&folder.scope_dir(&scope))?);
    }
    remove_abandoned(&found);
    Ok(())
}

/// Removes temporary files of dead writers; where locks cannot tell, those older than an hour. Best
/// effort: the next eviction tries again.
fn remove_abandoned(temporaries: &[PathBuf]) {
    for path in temporaries {
        let Ok(FileLookup::Regular(file)) = fsx::open_regular(path) else { continue };
        let is_old = SystemClock.now().millis_since(file.modified()) > next_expiry::HOUR;
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
    let mut ours = own_entries_of_kind(folder, plan)?;
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

/// The entries of the plan's scope and kind.
fn own_entries_of_kind(
    folder: &StoreFolder,
    plan: &EvictionPlan,
) -> Result<Vec<(EntryPath, OwnEntry)>> {
    let mut found = Vec::new();
    for named in list::entries_in(&folder.scope_dir(&plan.scope))? {
        let ours = classify::own_entry_at(&named.path)?;
        let ours = ours.filter(|ours| ours.head.header.kind == plan.kind);
        found.extend(ours.map(|ours| (named, ours)));
    }
    Ok(found)
}
