//! Execution of an eviction plan. Finding that nothing is due reads one catalogue and the expiry
//! index, and opens no head.

use super::DirectoryStore;
use super::catalogue::{CatalogueEntries, ScopeCatalogue, UsageSum};
use super::expiry_index::ExpiryIndex;
use super::layout::ScopeLayout;
use super::open_scope::OpenScope;
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{EntryId, Key, Kind, Scope};
use crate::store::{EvictionCause, EvictionPlan, EvictionReport};

pub(super) fn carry_out(dir: &DirectoryStore, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    let due = due_scopes(dir, plan)?;
    if due.is_empty() {
        return Ok(evicted);
    }
    let _lock = dir.folder.lock()?;
    for scope in &due {
        let mut shelf = OpenScope::open(dir, scope)?;
        let before = UsageSum::of(shelf.facts.values()).usage.bytes;
        remove_dead(&mut shelf, scope, plan.now, &mut evicted)?;
        if *scope == plan.scope {
            remove_least_used(&mut shelf, plan, &mut evicted)?;
        }
        // By difference, because full results are removed with their last entry.
        let left = UsageSum::of(shelf.facts.values()).usage.bytes;
        evicted.bytes = evicted.bytes.saturating_add(before.saturating_sub(left));
        shelf.save()?;
    }
    Ok(evicted)
}

fn due_scopes(dir: &DirectoryStore, plan: &EvictionPlan) -> Result<Vec<Scope>> {
    let deaths = ExpiryIndex::read(&dir.folder);
    let mut due = Vec::new();
    for scope in dir.folder.scopes()? {
        let is_due = if scope == plan.scope {
            is_due(&dir.layout(&scope)?, plan)
        } else {
            // A refused scope does not stop the eviction in others.
            deaths.may_have_expired(&scope, plan.now)
                && dir.layout(&scope).is_ok_and(|layout| layout.heads().is_dir())
        };
        if is_due {
            due.push(scope);
        }
    }
    Ok(due)
}

/// Without a current catalogue, the scope has to be opened.
fn is_due(layout: &ScopeLayout, plan: &EvictionPlan) -> bool {
    if !layout.heads().is_dir() {
        return false;
    }
    let Some(ScopeCatalogue { facts, .. }) = ScopeCatalogue::read_current(layout) else {
        return true;
    };
    let sum = sum_of_kind(&facts, plan).usage;
    let any_dead = facts.values().any(|fact| fact.is_dead(plan.now));
    any_dead || !plan.allows(sum.entries, sum.bytes)
}

fn sum_of_kind(facts: &CatalogueEntries, plan: &EvictionPlan) -> UsageSum {
    UsageSum::of(facts.values().filter(|fact| fact.kind == plan.kind))
}

fn remove_dead(
    shelf: &mut OpenScope<'_>,
    scope: &Scope,
    now: Timestamp,
    evicted: &mut EvictionReport,
) -> Result<()> {
    let dead = shelf.facts.iter().filter(|(_, fact)| fact.is_dead(now));
    let dead = dead.filter(|(key, _)| shelf.blocking_directory(key).is_none());
    let dead: Vec<(Key, Kind)> = dead.map(|(key, fact)| (key.clone(), fact.kind)).collect();
    for (key, kind) in dead {
        shelf.remove(&key)?;
        evicted.count_entry(EvictionCause::Dead);
        evicted.list_entry(EntryId::new(scope.clone(), key), kind, EvictionCause::Dead);
    }
    Ok(())
}

fn remove_least_used(
    shelf: &mut OpenScope<'_>,
    plan: &EvictionPlan,
    evicted: &mut EvictionReport,
) -> Result<()> {
    let mut sum = sum_of_kind(&shelf.facts, plan);
    let candidates = shelf
        .facts
        .iter()
        .filter(|(key, fact)| fact.kind == plan.kind && plan.keep.as_ref() != Some(key));
    let mut candidates: Vec<_> =
        candidates.map(|(key, fact)| (key.clone(), fact.clone())).collect();
    candidates.sort_by_key(|(_, fact)| fact.used);
    for (key, fact) in candidates {
        let Some(limit) = plan.exceeded_limit(sum.usage.entries, sum.usage.bytes) else { break };
        if shelf.blocking_directory(&key).is_some() {
            continue;
        }
        shelf.remove(&key)?;
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
