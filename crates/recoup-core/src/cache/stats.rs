//! Counting: what was asked for, and how often it was there.

use std::collections::BTreeMap;

use super::Cache;
use crate::entry::{Happening, Tally};
use crate::error::Result;
use crate::key::Scope;
use crate::store::Usage;

/// What a scope holds, and what it was good for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Entries and bytes.
    pub usage: Usage,
    /// How often each thing happened.
    pub counts: BTreeMap<Happening, u64>,
    /// Why the latest of it is not counted yet, if so.
    pub behind: Option<String>,
}

impl Stats {
    /// Look-ups that were served.
    pub fn hits(&self) -> u64 {
        self.count(Happening::Hit)
    }

    /// Look-ups that were not, for whatever reason.
    pub fn misses(&self) -> u64 {
        self.counts.iter().filter(|(what, _)| what.is_miss()).map(|(_, count)| count).sum()
    }

    /// Entries that were no longer true: found so, or said to be so.
    pub fn invalidations(&self) -> u64 {
        self.count(Happening::Invalidated) + self.count(Happening::Removed)
    }

    fn count(&self, what: Happening) -> u64 {
        self.counts.get(&what).copied().unwrap_or(0)
    }
}

impl Cache {
    /// Everything that has been counted for a scope, up to now.
    pub fn stats(&self, scope: &Scope) -> Result<Stats> {
        // A store that can only be read has something to tell all the same.
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        let usage = self.store().usage(scope)?;
        let mut stats = Stats { usage, counts: BTreeMap::new(), behind };
        for tally in self.store().tallies(Some(scope))? {
            *stats.counts.entry(tally.what).or_default() += tally.count;
        }
        Ok(stats)
    }

    /// Everything that has been counted, up to now, for one scope or for all; and why
    /// the latest of it is not counted yet, if so.
    pub fn tallies(&self, scope: Option<&Scope>) -> Result<(Vec<Tally>, Option<String>)> {
        let behind = self.fold_ledger().err().map(|error| error.to_string());
        Ok((self.store().tallies(scope)?, behind))
    }

    /// Hands everything that was noted to the store.
    pub(super) fn fold_ledger(&self) -> Result<()> {
        match &self.inner.ledger {
            Some(ledger) => ledger.fold(|batch| self.store().fold(batch)).map(drop),
            None => Ok(()),
        }
    }

    /// The same after a write, where it must cost nothing when there is nothing, and little
    /// when there is much: the rest, and what can't be folded now, stays noted for the next time.
    pub(super) fn fold_ledger_if_due(&self) {
        if let Some(ledger) = self.inner.ledger.as_ref().filter(|ledger| ledger.is_due()) {
            let _ = ledger.fold_slice(|batch| self.store().fold(batch));
        }
    }
}
