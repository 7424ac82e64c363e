//! What stores are asked for when many records are concerned.

use std::cmp::Reverse;

use super::{Flow, Selection, Store, Visit};
use crate::base::clock::Timestamp;
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Id, Key, Kind, Scope};

/// Which records a scan shows, and in which order. Empty shows all.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this kind.
    pub kind: Option<Kind>,
    /// Only keys that begin so.
    pub key_prefix: Option<String>,
    /// Only records that were served at least once.
    pub served: bool,
    /// Only records with these tags, sources or operation.
    pub selection: Option<Selection>,
    /// The most recently stored first, and at most so many.
    pub newest: Option<usize>,
}

impl Filter {
    /// Everything in one scope.
    pub fn of_scope(scope: &Scope) -> Self {
        Self { scope: Some(scope.clone()), ..Self::default() }
    }

    /// True if a scan may stream in the store's own order and needs no test beyond scope and kind.
    pub(crate) fn is_plain(&self) -> bool {
        let Self { scope: _, kind: _, key_prefix, served, selection, newest } = self;
        key_prefix.is_none() && !served && selection.is_none() && newest.is_none()
    }

    /// True if a record passes everything but scope and kind. A head that can't be read passes
    /// only where nothing is asked of it.
    pub(crate) fn admits(&self, id: &Id, head: Option<&Head>) -> bool {
        let has_prefix =
            self.key_prefix.as_ref().is_none_or(|prefix| id.key.as_str().starts_with(prefix));
        let is_served = !self.served || head.is_some_and(|head| head.hits > 0);
        let is_selected = self
            .selection
            .as_ref()
            .is_none_or(|selection| head.is_some_and(|head| selection.selects(&head.header)));
        has_prefix && is_served && is_selected
    }
}

/// Applies what a store does not know by itself: `scan` is asked for the scope and kind alone,
/// the rest is tested record by record, and sorted in memory.
pub(super) fn scan_refined(
    filter: &Filter,
    visit: &mut Visit<'_>,
    scan: impl FnOnce(&Filter, &mut Visit<'_>) -> Result<()>,
) -> Result<()> {
    let plain = Filter { scope: filter.scope.clone(), kind: filter.kind, ..Filter::default() };
    let Some(most) = filter.newest else {
        return scan(&plain, &mut |id, head| {
            if filter.admits(id, head.as_ref().ok().copied()) {
                visit(id, head)
            } else {
                Flow::Continue(())
            }
        });
    };
    let mut found: Vec<(Id, Result<Head>)> = Vec::new();
    scan(&plain, &mut |id, head| {
        if filter.admits(id, head.as_ref().ok().copied()) {
            found.push((id.clone(), head.cloned()));
        }
        Flow::Continue(())
    })?;
    // What can't be read comes first: a short list must not hide it.
    let stored = |head: &Result<Head>| head.as_ref().ok().map(|head| Reverse(head.stored_at));
    found.sort_by(|a, b| stored(&a.1).cmp(&stored(&b.1)).then_with(|| a.0.cmp(&b.0)));
    for (id, head) in found.into_iter().take(most) {
        let flow = match head {
            Ok(head) => visit(&id, Ok(&head)),
            Err(error) => visit(&id, Err(error)),
        };
        if flow.is_break() {
            break;
        }
    }
    Ok(())
}

/// The ids that one call of `remove` is given when a whole scope is removed.
const REMOVED_AT_ONCE: usize = 1_000;

/// Removes a scope by listing it, for stores that have nothing better.
pub(super) fn clear_by_scan(
    store: &dyn Store,
    scope: &Scope,
    gone: &mut dyn FnMut(Id, Kind),
) -> Result<usize> {
    let mut all: Vec<(Id, Option<Kind>)> = Vec::new();
    store.scan(&Filter::of_scope(scope), &mut |id, head| {
        all.push((id.clone(), head.ok().map(|head| head.header.kind)));
        Flow::Continue(())
    })?;
    let mut removed = 0;
    for some in all.chunks(REMOVED_AT_ONCE) {
        let ids: Vec<Id> = some.iter().map(|(id, _)| id.clone()).collect();
        removed += store.remove(&ids)?;
        for (id, kind) in some {
            if let Some(kind) = kind {
                gone(id.clone(), *kind);
            }
        }
    }
    Ok(removed)
}

/// What must go. Made by policy, carried out by stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionPlan {
    /// What was dead by then goes first, in every scope: nobody may come back to
    /// that scope. A store may leave some of it for the next time.
    pub now: Timestamp,
    /// The scope whose limits these are.
    pub scope: Scope,
    /// The kind of records whose limits these are.
    pub kind: Kind,
    /// The record that was just written, and whose turn it is not.
    pub keep: Option<Key>,
    /// The most records that may stay.
    pub max_entries: Option<u64>,
    /// The most bytes that may stay, as [`Usage::bytes`] counts them.
    pub max_bytes: Option<u64>,
    /// True where the caller has time: unused space is given back to the file system, and an
    /// older file gets what this version keeps in it. Else a store does only a little of that.
    pub thorough: bool,
}

impl EvictionPlan {
    /// Whether that much may stay.
    pub(crate) fn allows(&self, entries: u64, bytes: u64) -> bool {
        self.excess(entries, bytes).is_none()
    }

    /// The limit that so much is over, if any.
    pub(crate) fn excess(&self, entries: u64, bytes: u64) -> Option<Limit> {
        if self.max_bytes.is_some_and(|max| bytes > max) {
            return Some(Limit::Bytes);
        }
        self.max_entries.is_some_and(|max| entries > max).then_some(Limit::Entries)
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Records.
    pub entries: u64,
    /// Their bytes: bodies and headers as stored, and in a large SQLite file its overhead too
    /// (indexes, unfilled pages).
    pub bytes: u64,
}

/// One of a plan's two limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// The most records.
    Entries,
    /// The most bytes.
    Bytes,
}

/// Why a record went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// It was dead.
    Dead,
    /// It was used least recently, and there was more than this allows.
    Over(Limit),
}

/// One record that went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone {
    /// Which one.
    pub id: Id,
    /// Of which kind it was.
    pub kind: Kind,
    /// Why.
    pub cause: Cause,
}

/// What went.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Dead ones.
    pub expired: u64,
    /// Those used least recently.
    pub least_used: u64,
    /// The bytes of both.
    pub bytes: u64,
    /// Which ones, as far as they are known: the first [`Evicted::NAMED`] of them.
    pub gone: Vec<Gone>,
    /// The store was damaged and begun anew: what was stored before is gone with all the rest.
    pub lost_all: bool,
}

impl Evicted {
    /// How many are named at most.
    pub const NAMED: usize = 1_000;

    /// Counts one that went.
    pub(crate) fn add(&mut self, cause: Cause) {
        match cause {
            Cause::Dead => self.expired += 1,
            Cause::Over(_) => self.least_used += 1,
        }
    }

    /// Names one that went.
    pub(crate) fn name(&mut self, id: Id, kind: Kind, cause: Cause) {
        if self.gone.len() < Self::NAMED {
            self.gone.push(Gone { id, kind, cause });
        }
    }
}
