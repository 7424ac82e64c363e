//! Execution of an eviction plan. Finding that nothing is due reads one catalogue and the expiry
//! index, and opens no head.

use super::Directory;
use super::catalogue::{Catalogue, Facts, Sum};
use super::deaths::Deaths;
use super::layout::Layout;
use super::shelf::Shelf;
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{Id, Key, Kind, Scope};
use crate::store::{Cause, Evicted, EvictionPlan};

pub(super) fn carry_out(dir: &Directory, plan: &EvictionPlan) -> Result<Evicted> {
    let mut evicted = Evicted::default();
    let due = due_scopes(dir, plan)?;
    if due.is_empty() {
        return Ok(evicted);
    }
    let _lock = dir.folder.lock()?;
    for scope in &due {
        let mut shelf = Shelf::open(dir, scope)?;
        let before = Sum::of(shelf.facts.values()).usage.bytes;
        remove_dead(&mut shelf, scope, plan.now, &mut evicted)?;
        if *scope == plan.scope {
            remove_least_used(&mut shelf, plan, &mut evicted)?;
        }
        // By difference, because full results are removed with their last entry.
        let left = Sum::of(shelf.facts.values()).usage.bytes;
        evicted.bytes = evicted.bytes.saturating_add(before.saturating_sub(left));
        shelf.save()?;
    }
    Ok(evicted)
}

fn due_scopes(dir: &Directory, plan: &EvictionPlan) -> Result<Vec<Scope>> {
    let deaths = Deaths::read(&dir.folder);
    let mut due = Vec::new();
    for scope in dir.folder.scopes()? {
        let is_due = if scope == plan.scope {
            is_due(&dir.layout(&scope)?, plan)
        } else {
            // A refused scope does not stop the eviction in others.
            deaths.may_be_in(&scope, plan.now)
                && dir.layout(&scope).is_ok_and(|layout| layout.heads().is_dir())
        };
        if is_due {
            due.push(scope);
        }
    }
    Ok(due)
}

/// Without a current catalogue, the scope has to be opened.
fn is_due(layout: &Layout, plan: &EvictionPlan) -> bool {
    if !layout.heads().is_dir() {
        return false;
    }
    let Some(Catalogue { facts, .. }) = Catalogue::read_current(layout) else { return true };
    let sum = sum_of_kind(&facts, plan).usage;
    let any_dead = facts.values().any(|fact| fact.is_dead(plan.now));
    any_dead || !plan.allows(sum.entries, sum.bytes)
}

fn sum_of_kind(facts: &Facts, plan: &EvictionPlan) -> Sum {
    Sum::of(facts.values().filter(|fact| fact.kind == plan.kind))
}

fn remove_dead(
    shelf: &mut Shelf<'_>,
    scope: &Scope,
    now: Timestamp,
    evicted: &mut Evicted,
) -> Result<()> {
    let dead = shelf.facts.iter().filter(|(_, fact)| fact.is_dead(now));
    let dead = dead.filter(|(key, _)| shelf.obstacle(key).is_none());
    let dead: Vec<(Key, Kind)> = dead.map(|(key, fact)| (key.clone(), fact.kind)).collect();
    for (key, kind) in dead {
        shelf.remove(&key)?;
        evicted.add(Cause::Dead);
        evicted.name(Id::new(scope.clone(), key), kind, Cause::Dead);
    }
    Ok(())
}

fn remove_least_used(
    shelf: &mut Shelf<'_>,
    plan: &EvictionPlan,
    evicted: &mut Evicted,
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
        let Some(limit) = plan.excess(sum.usage.entries, sum.usage.bytes) else { break };
        if shelf.obstacle(&key).is_some() {
            continue;
        }
        shelf.remove(&key)?;
        sum.subtract(&fact);
        evicted.add(Cause::Over(limit));
        evicted.name(Id::new(plan.scope.clone(), key), plan.kind, Cause::Over(limit));
    }
    Ok(())
}
