//! Components of the stats report.

use recoup_core::entry::{CostSavings, EntryEventKind, EventTally};
use serde::Serialize;

/// Hits, misses and savings of some look-ups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct LookupTotals {
    pub(super) hits: u64,
    pub(super) misses: u64,
    pub(super) saved: CostSavings,
}

impl LookupTotals {
    pub(super) fn add(&mut self, tally: &EventTally) {
        if tally.what == EntryEventKind::Hit {
            self.hits = self.hits.saturating_add(tally.count);
            self.saved = self.saved.plus(tally.saved);
        } else if tally.what.is_miss() {
            self.misses = self.misses.saturating_add(tally.count);
        }
    }

    pub(super) fn look_ups(&self) -> u64 {
        self.hits.saturating_add(self.misses)
    }

    /// Hits per thousand look-ups; none without look-ups.
    pub(super) fn hit_rate_per_mille(&self) -> Option<u64> {
        let hits = u128::from(self.hits) * 1_000;
        let all = u128::from(self.look_ups());
        (hits + all / 2).checked_div(all).and_then(|rate| u64::try_from(rate).ok())
    }
}

/// Totals of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct DailyTotals {
    pub(super) date: String,
    #[serde(flatten)]
    pub(super) sum: LookupTotals,
}

/// Totals of one kind, project or identity.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NamedTotals {
    pub(super) name: String,
    /// Set if the name stands for a scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root: Option<String>,
    #[serde(flatten)]
    pub(super) sum: LookupTotals,
}

/// An entry and what its hits saved since it was stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct ValuedEntry {
    pub(super) key: String,
    pub(super) scope: String,
    pub(super) kind: &'static str,
    pub(super) identity: Option<String>,
    pub(super) about: String,
    pub(super) hits: u64,
    pub(super) saved: CostSavings,
}
