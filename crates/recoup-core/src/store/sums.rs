//! Aggregation of an event batch, so that a store writes each count and record once.

use std::collections::HashMap;

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::entry::{CostSavings, EntryEvent, EntryEventKind, EventBatch, day_number};
use crate::key::{EntryId, Kind, Scope};

/// Counts are kept for this many days.
pub(super) const RETAINED_DAYS: i64 = 400;
/// Maximum number of names counted separately per scope, kind, day and event; the rest is counted
/// as [`OTHER_NAMES`].
pub(super) const MAX_NAMES: usize = 100;
pub(super) const OTHER_NAMES: &str = "(others)";

/// The counts of a batch, and its effects on single records.
#[derive(Debug, Default)]
pub(super) struct BatchSums<'a> {
    pub(super) counts: HashMap<TallyKey<'a>, TallyAmount>,
    /// Number of hits of each record, and the time of the last.
    pub(super) served: HashMap<&'a EntryId, (u64, Timestamp)>,
    /// When each record was found damaged. A record that was stored later is not the damaged one.
    pub(super) damaged: HashMap<&'a EntryId, Timestamp>,
    /// The latest day in the batch.
    pub(super) newest: i64,
}

/// Dimensions of an event count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct TallyKey<'a> {
    pub(super) scope: &'a Scope,
    pub(super) kind: Kind,
    pub(super) day: i64,
    pub(super) what: EntryEventKind,
    /// Name of the caller; empty if unknown.
    pub(super) by: &'a str,
}

/// Number of events, and what they saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TallyAmount {
    pub(super) count: u64,
    pub(super) saved: CostSavings,
}

impl TallyAmount {
    pub(super) fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.saved = self.saved.plus(other.saved);
    }
}

impl<'a> BatchSums<'a> {
    pub(super) fn of(batch: &'a EventBatch) -> Self {
        let mut sums = Self::default();
        for EntryEvent { at, id, kind, what, count, detail } in &batch.events {
            let (day, by) = (day_number(*at), detail.by.as_deref().unwrap_or_default());
            let counted = TallyKey { scope: &id.scope, kind: *kind, day, what: *what, by };
            let saved = match what {
                EntryEventKind::Hit => CostSavings::by_hits(&detail.cost, *count),
                _ => CostSavings::default(),
            };
            sums.counts.entry(counted).or_default().add(TallyAmount { count: *count, saved });
            sums.newest = sums.newest.max(day);
            match what {
                EntryEventKind::Hit => {
                    let (hits, last) = sums.served.entry(id).or_insert((0, *at));
                    (*hits, *last) = (hits.saturating_add(*count), (*last).max(*at));
                }
                EntryEventKind::Corrupt => {
                    sums.damaged.insert(id, *at);
                }
                _ => {}
            }
        }
        sums
    }

    /// The first day whose counts are kept.
    pub(super) fn first_day(&self) -> i64 {
        // A clock that was wrong once must not expire all counts.
        let today = day_number(SystemClock.now());
        self.newest.min(today).saturating_sub(RETAINED_DAYS)
    }
}
