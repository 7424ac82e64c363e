//! Statistics: number of look-ups, hits and misses.

use std::collections::BTreeMap;

use super::Cache;
use crate::entry::{EntryEventKind, EventTally};
use crate::error::Result;
use crate::key::Scope;
use crate::store::ScopeUsage;

/// Contents and use of a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Number and size of the entries.
    pub usage: ScopeUsage,
    /// Number of events of each kind.
    pub counts: BTreeMap<EntryEventKind, u64>,
    /// Why the latest events are not counted yet, if so.
    pub behind: Option<String>,
}

impl CacheStats {
    /// Number of look-ups that were served.
    pub fn hits(&self) -> u64 {
        self.count(EntryEventKind::Hit)
    }

    /// Number of look-ups that were not served, for any reason.
    pub fn misses(&self) -> u64 {
        self.counts.iter().filter(|(what, _)| what.is_miss()).map(|(_, count)| count).sum()
    }

    /// Number of entries that were found or declared to be out of date.
    pub fn invalidations(&self) -> u64 {
        self.count(EntryEventKind::Invalidated) + self.count(EntryEventKind::Removed)
    }

    fn count(&self, what: EntryEventKind) -> u64 {
        self.counts.get(&what).copied().unwrap_or(0)
    }
}

impl Cache {
    /// Statistics of a scope, up to now.
    pub fn stats(&self, scope: &Scope) -> Result<CacheStats> {
        // A read-only store still has statistics.
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        let usage = self.store().usage(scope)?;
        let mut stats = CacheStats { usage, counts: BTreeMap::new(), behind };
        for tally in self.store().tallies(Some(scope))? {
            *stats.counts.entry(tally.what).or_default() += tally.count;
        }
        Ok(stats)
    }

    /// Event counts up to now, for one scope or for all, and why the latest events are not counted
    /// yet, if so.
    pub fn tallies(&self, scope: Option<&Scope>) -> Result<(Vec<EventTally>, Option<String>)> {
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        Ok((self.store().tallies(scope)?, behind))
    }

    /// Hands all recorded events to the store.
    pub(super) fn fold_ledger(&self) -> Result<()> {
        match &self.inner.ledger {
            Some(ledger) => ledger.fold(|batch| self.store().fold_batch(batch)).map(drop),
            None => Ok(()),
        }
    }

    /// Hands some recorded events to the store after a write, if enough have accumulated. Bounded
    /// in time; the rest, and events that cannot be folded now, stay for the next time.
    pub(super) fn fold_ledger_if_due(&self) {
        if let Some(ledger) = self.inner.ledger.as_ref().filter(|ledger| ledger.is_due()) {
            let _ = ledger.fold_slice(|batch| self.store().fold_batch(batch));
        }
    }
}
