//! What a batch amounts to, so that a store writes each thing once.

use std::collections::HashMap;

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::entry::{Batch, Event, Happening, Saved, day_of};
use crate::key::{Id, Kind, Scope};

/// Counts older than this many days go.
pub(super) const DAYS: i64 = 400;
/// So many names are counted apart for each scope, kind, day and happening; the
/// rest is [`OTHERS`].
pub(super) const NAMES: usize = 100;
pub(super) const OTHERS: &str = "(others)";

/// The counts of a batch, and what it says about single records.
#[derive(Debug, Default)]
pub(super) struct Sums<'a> {
    pub(super) counts: HashMap<Counted<'a>, Amount>,
    /// How often each was served, and when last.
    pub(super) served: HashMap<&'a Id, (u64, Timestamp)>,
    /// When each was found damaged: what was stored anew since is another record.
    pub(super) damaged: HashMap<&'a Id, Timestamp>,
    /// The last day of it.
    pub(super) newest: i64,
}

/// What is counted apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Counted<'a> {
    pub(super) scope: &'a Scope,
    pub(super) kind: Kind,
    pub(super) day: i64,
    pub(super) what: Happening,
    /// Whose it was; empty where nobody said.
    pub(super) by: &'a str,
}

/// How often, and what that saved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) count: u64,
    pub(super) saved: Saved,
}

impl Amount {
    pub(super) fn add(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        self.saved = self.saved.plus(other.saved);
    }
}

impl<'a> Sums<'a> {
    pub(super) fn of(batch: &'a Batch) -> Self {
        let mut sums = Self::default();
        for Event { at, id, kind, what, count, detail } in &batch.events {
            let (day, by) = (day_of(*at), detail.by.as_deref().unwrap_or_default());
            let counted = Counted { scope: &id.scope, kind: *kind, day, what: *what, by };
            let saved = match what {
                Happening::Hit => Saved::by_hits(&detail.cost, *count),
                _ => Saved::default(),
            };
            sums.counts.entry(counted).or_default().add(Amount { count: *count, saved });
            sums.newest = sums.newest.max(day);
            match what {
                Happening::Hit => {
                    let (hits, last) = sums.served.entry(id).or_insert((0, *at));
                    (*hits, *last) = (hits.saturating_add(*count), (*last).max(*at));
                }
                Happening::Corrupt => {
                    sums.damaged.insert(id, *at);
                }
                _ => {}
            }
        }
        sums
    }

    /// The first day whose counts stay.
    pub(super) fn first_day(&self) -> i64 {
        // A clock that was wrong once must not make everything old.
        let today = day_of(SystemClock.now());
        self.newest.min(today).saturating_sub(DAYS)
    }
}
