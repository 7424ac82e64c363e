//! Folding of event batches, and execution of eviction plans.
//!
//! A batch goes into the heads, then the counts, then the index, which is only an export. A head
//! records the last batch that it took in, so a batch that is repeated after a crash between these
//! steps adds nothing twice. Finding that nothing is to be evicted reads one catalogue and the expiry
//! index, and opens no head.

use std::collections::BTreeSet;
use std::fs;
use std::time::UNIX_EPOCH;

use super::catalogue::{CatalogueEntries, ExpiryIndex, ScopeCatalogue, UsageSum};
use super::layout::{HeadFile, ScopeLayout, path_exists};
use super::listed_entry::IndexStats;
use super::open_scope::{OpenScope, stats_of};
use super::{DirectoryStore, read};
use crate::base::clock::Timestamp;
use crate::base::name::SafeName;
use crate::entry::EventBatch;
use crate::error::{ErrorKind, Result};
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::tallies::BatchSums;
use crate::store::{EvictionCause, EvictionPlan, EvictionReport};

pub(super) fn fold(dir: &DirectoryStore, batch: &EventBatch) -> Result<()> {
    if batch.events.is_empty() {
        return Ok(());
    }
    let sums = BatchSums::of(batch);
    let folder = &dir.folder;
    let _lock = folder.lock()?;
    let mut counts = folder.load_counts()?;
    if !counts.add(batch, &sums) {
        return Ok(());
    }
    let scopes: BTreeSet<&Scope> = sums.counts.keys().map(|counted| counted.scope).collect();
    let mut opened_scopes = Vec::new();
    for scope in scopes {
        let opened = dir.layout(scope).and_then(|layout| {
            if layout.is_used()? { OpenScope::open(dir, scope).map(Some) } else { Ok(None) }
        });
        let mut opened = match opened {
            Ok(Some(opened)) => opened,
            Ok(None) => continue,
            // Skipped, so that it does not block the others: its readers and writers get the error.
            Err(error) if error.kind() == ErrorKind::Invalid => continue,
            Err(error) => return Err(error),
        };
        update_entries(&mut opened, scope, &sums, &batch.name)?;
        opened_scopes.push((scope, opened));
    }
    folder.save_counts(&counts)?;
    for (scope, mut opened) in opened_scopes {
        let these = sums.counts.iter().filter(|(counted, _)| counted.scope == scope);
        let added = IndexStats::of(these.map(|(counted, amount)| (counted.what, amount.count)));
        opened.index_mut()?.add_stats(added, stats_of(&counts, scope));
        opened.save()?;
    }
    Ok(())
}

fn update_entries(
    opened: &mut OpenScope<'_>,
    scope: &Scope,
    sums: &BatchSums<'_>,
    batch: &SafeName,
) -> Result<()> {
    for (id, (hits, last)) in sums.served.iter().filter(|(id, _)| id.scope == *scope) {
        let key = &id.key;
        // Entries of other tools have their hits in the index only.
        let mut in_all = 0;
        match HeadFile::read(&opened.layout.head(key)) {
            Ok(Some(mut stored)) => {
                stored.add_hits(batch, *hits, *last);
                if let Ok(head) = stored.parse_head() {
                    opened.update_head(key, &stored, &head)?;
                    in_all = head.hits;
                }
            }
            Ok(None) => {}
            // An unreadable head was not served, or broke since.
            Err(_) => continue,
        }
        if opened.index.contains(key.as_str()) {
            opened.index_mut()?.add_hits(key.as_str(), *hits, in_all, *last);
        }
    }
    for (id, at) in sums.damaged.iter().filter(|(id, _)| id.scope == *scope) {
        if is_still_damaged(&opened.layout, &id.key, *at)
            && opened.blocking_directory(&id.key).is_none()
        {
            opened.remove(&id.key)?;
        }
    }
    Ok(())
}

/// Checks again: the entry may have been stored anew or restored. Other tools take no lock, so a
/// body newer than the damage may be one that is not in the index yet.
fn is_still_damaged(layout: &ScopeLayout, key: &Key, at: Timestamp) -> bool {
    let modified_at = || {
        let modified = fs::symlink_metadata(layout.body(key)).ok()?.modified().ok()?;
        let since = modified.duration_since(UNIX_EPOCH).ok()?;
        Some(Timestamp::from_millis(i64::try_from(since.as_millis()).ok()?))
    };
    let is_damaged = || match read::get(layout, key) {
        Ok(None) => false,
        Ok(Some(record)) if record.head.stored_at > at => false,
        Ok(Some(record)) => {
            let info = || read::get(layout, key).ok()??.head.header.full;
            let is_full_result_damaged = || match (read::full(layout, key), info()) {
                (Ok(Some(full)), Some(info)) => full.to_plain(&info).is_err(),
                (Err(error), _) => error.kind() == ErrorKind::Corrupt,
                _ => false,
            };
            record.open().is_err() || is_full_result_damaged()
        }
        // Anything but a file is not ours to remove, unless there is a head of ours.
        Err(error) => {
            let is_ours = path_exists(&layout.head(key)).unwrap_or(false);
            is_ours && error.kind() == ErrorKind::Corrupt
        }
    };
    modified_at().is_none_or(|modified| modified <= at) && is_damaged()
}

pub(super) fn evict(dir: &DirectoryStore, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    let due = due_scopes(dir, plan)?;
    if due.is_empty() {
        return Ok(evicted);
    }
    let _lock = dir.folder.lock()?;
    for scope in &due {
        let mut opened = OpenScope::open(dir, scope)?;
        let before = UsageSum::of(opened.facts.values()).usage.bytes;
        let dead = opened.facts.iter().filter(|(_, fact)| fact.is_dead(plan.now));
        let dead = dead.filter(|(key, _)| opened.blocking_directory(key).is_none());
        let dead: Vec<(Key, Kind)> = dead.map(|(key, fact)| (key.clone(), fact.kind)).collect();
        for (key, kind) in dead {
            opened.remove(&key)?;
            evicted.count_entry(EvictionCause::Dead);
            evicted.list_entry(EntryId::new(scope.clone(), key), kind, EvictionCause::Dead);
        }
        if *scope == plan.scope {
            remove_least_used(&mut opened, plan, &mut evicted)?;
        }
        // By difference, because full results are removed with their last entry.
        let left = UsageSum::of(opened.facts.values()).usage.bytes;
        evicted.bytes = evicted.bytes.saturating_add(before.saturating_sub(left));
        opened.save()?;
    }
    Ok(evicted)
}

fn due_scopes(dir: &DirectoryStore, plan: &EvictionPlan) -> Result<Vec<Scope>> {
    let expiries = ExpiryIndex::read(&dir.folder);
    let mut due = Vec::new();
    for scope in dir.folder.scopes()? {
        let is_due = if scope == plan.scope {
            let layout = dir.layout(&scope)?;
            // Without a current catalogue, the scope has to be opened.
            layout.heads().is_dir()
                && ScopeCatalogue::read_current(&layout).is_none_or(
                    |ScopeCatalogue { facts, .. }| {
                        let sum = sum_of_kind(&facts, plan).usage;
                        !plan.allows(sum.entries, sum.bytes)
                            || facts.values().any(|fact| fact.is_dead(plan.now))
                    },
                )
        } else {
            // A refused scope does not stop the eviction in others.
            expiries.may_have_expired(&scope, plan.now)
                && dir.layout(&scope).is_ok_and(|layout| layout.heads().is_dir())
        };
        if is_due {
            due.push(scope);
        }
    }
    Ok(due)
}

fn sum_of_kind(facts: &CatalogueEntries, plan: &EvictionPlan) -> UsageSum {
    UsageSum::of(facts.values().filter(|fact| fact.kind == plan.kind))
}

fn remove_least_used(
    opened: &mut OpenScope<'_>,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<()> {
    let mut sum = sum_of_kind(&opened.facts, plan);
    let candidates = opened
        .facts
        .iter()
        .filter(|(key, fact)| fact.kind == plan.kind && plan.keep.as_ref() != Some(key));
    let mut candidates: Vec<_> =
        candidates.map(|(key, fact)| (key.clone(), fact.clone())).collect();
    candidates.sort_by_key(|(_, fact)| fact.used);
    for (key, fact) in candidates {
        let Some(limit) = plan.exceeded_limit(sum.usage.entries, sum.usage.bytes) else { break };
        if opened.blocking_directory(&key).is_some() {
            continue;
        }
        opened.remove(&key)?;
        sum.subtract(&fact);
        evicted.count_entry(EvictionCause::Over(limit));
        evicted.list_entry(
            EntryId::new(plan.scope.clone(), key),
            plan.kind,
            EvictionCause::Over(limit),
        );
    }
    Ok(())
}
