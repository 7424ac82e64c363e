//! Execution of an eviction plan. Only entries with our head are counted or removed, not those of
//! other programs.
//!
//! Finding that nothing is due opens no entry: a note holds the next expiry, and the total size of
//! all files is an upper bound.

use std::path::{Path, PathBuf};

use super::list::{self, Named};
use super::look::{self, Ours};
use super::note::{self, Next};
use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::base::fsx::{self, Found};
use crate::error::Result;
use crate::key::Id;
use crate::store::folder::Folder;
use crate::store::{Cause, Evicted, EvictionPlan};

pub(super) fn carry_out(folder: &Folder, plan: &EvictionPlan) -> Result<Evicted> {
    let mut evicted = Evicted::default();
    // Without a directory there is nothing to evict, and none is created.
    if !folder.is_there()? {
        return Ok(evicted);
    }
    if note::is_old(folder) {
        // Best effort: the next eviction tries again.
        tidy(folder).ok();
    }
    if !is_due(folder, plan)? {
        return Ok(evicted);
    }
    let _turn = folder.lock()?;
    if note::read(folder).is_due(plan.now) {
        sweep(folder, plan.now, &mut evicted)?;
    }
    if !may_all_stay(folder, plan)? {
        folder.refuse_links(&folder.of(&plan.scope))?;
        remove_least_used(folder, plan, &mut evicted)?;
    }
    Ok(evicted)
}

fn is_due(folder: &Folder, plan: &EvictionPlan) -> Result<bool> {
    Ok(note::read(folder).is_due(plan.now) || !may_all_stay(folder, plan)?)
}

/// True if all files together, of any kind and owner, are within the limits.
fn may_all_stay(folder: &Folder, plan: &EvictionPlan) -> Result<bool> {
    if plan.max_entries.is_none() && plan.max_bytes.is_none() {
        return Ok(true);
    }
    let seen = list::survey(&folder.of(&plan.scope))?;
    remove_abandoned(&seen.temporaries);
    Ok(plan.allows(seen.entries, seen.bytes))
}

/// Removes expired entries of every scope and stale temporary files, and notes the next expiry.
fn sweep(folder: &Folder, now: Timestamp, evicted: &mut Evicted) -> Result<()> {
    note::forget(folder);
    let mut next: Option<Timestamp> = None;
    for scope in folder.scopes()? {
        let dir = folder.of(&scope);
        for Named { key, path } in list::entries_in(&dir)? {
            let Some(ours) = look::ours_at(&path)? else { continue };
            let Some(death) = ours.head.header.dead_at() else { continue };
            let id = Id::new(scope.clone(), key);
            if death > now || !drop_one(&path, id, &ours, Cause::Dead, evicted)? {
                next = Some(next.map_or(death, |next| next.min(death)));
            }
        }
    }
    remove_left_behind(folder)?;
    note::write(folder, next.map_or(Next::Never, Next::At));
    Ok(())
}

/// Removes stale temporary files only. The note is rewritten unchanged, which updates its age.
fn tidy(folder: &Folder) -> Result<()> {
    let _turn = folder.lock()?;
    remove_left_behind(folder)?;
    note::write(folder, note::read(folder));
    Ok(())
}

fn drop_one(path: &Path, id: Id, ours: &Ours, cause: Cause, evicted: &mut Evicted) -> Result<bool> {
    let dropped = fsx::remove_same(path, ours.stamp)?;
    if dropped {
        evicted.bytes = evicted.bytes.saturating_add(ours.bytes);
        evicted.add(cause);
        evicted.name(id, ours.head.header.kind, cause);
    }
    Ok(dropped)
}

fn remove_left_behind(folder: &Folder) -> Result<()> {
    let mut found = list::hidden_in(&folder.own())?;
    for scope in folder.scopes()? {
        found.extend(list::temporary_in(&folder.of(&scope))?);
    }
    remove_abandoned(&found);
    Ok(())
}

/// Removes temporary files of dead writers; where locks cannot tell, those older than an hour. Best
/// effort: the next eviction tries again.
fn remove_abandoned(temporaries: &[PathBuf]) {
    for path in temporaries {
        let Ok(Found::Regular(file)) = fsx::look_at(path) else { continue };
        let is_old = SystemClock.now().millis_since(file.modified()) > note::HOUR;
        if is_old || fsx::is_abandoned(path) {
            let _ = fsx::try_remove_same(path, file.stamp());
        }
    }
}

fn remove_least_used(folder: &Folder, plan: &EvictionPlan, evicted: &mut Evicted) -> Result<()> {
    let mut ours = concerned(folder, plan)?;
    ours.sort_unstable_by_key(|(_, ours)| ours.head.last_used);
    let (mut entries, mut bytes) = (ours.len() as u64, 0u64);
    for (_, ours) in &ours {
        bytes = bytes.saturating_add(ours.bytes);
    }
    let spared = |named: &Named| plan.keep.as_ref() == Some(&named.key);
    for (named, ours) in ours.iter().filter(|(named, _)| !spared(named)) {
        let Some(limit) = plan.excess(entries, bytes) else { break };
        let id = Id::new(plan.scope.clone(), named.key.clone());
        if drop_one(&named.path, id, ours, Cause::Over(limit), evicted)? {
            entries -= 1;
            bytes = bytes.saturating_sub(ours.bytes);
        }
    }
    Ok(())
}

/// The entries of the plan's scope and kind.
fn concerned(folder: &Folder, plan: &EvictionPlan) -> Result<Vec<(Named, Ours)>> {
    let mut found = Vec::new();
    for named in list::entries_in(&folder.of(&plan.scope))? {
        let ours = look::ours_at(&named.path)?;
        let ours = ours.filter(|ours| ours.head.header.kind == plan.kind);
        found.extend(ours.map(|ours| (named, ours)));
    }
    Ok(found)
}
