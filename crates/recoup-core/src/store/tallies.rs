//! Counting in memory what happened, each batch once.

use std::collections::{BTreeMap, HashSet};

use crate::base::name::Name;
use crate::entry::{Batch, Event, Happening, Tally, day_of};
use crate::key::{Kind, Scope};

/// Counts for each scope, kind, day and happening.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    seen: HashSet<Name>,
    counts: BTreeMap<(Scope, Kind, i64, Happening), u64>,
}

impl Tallies {
    /// Counts a batch; `false` when it has been counted before.
    pub(super) fn add(&mut self, batch: &Batch) -> bool {
        if !self.seen.insert(batch.name.clone()) {
            return false;
        }
        for Event { at, id, kind, what, count, detail: _ } in &batch.events {
            *self.counts.entry((id.scope.clone(), *kind, day_of(*at), *what)).or_default() += count;
        }
        true
    }

    pub(super) fn of(&self, wanted: &Scope) -> Vec<Tally> {
        let counts = self.counts.iter().filter(|((scope, ..), _)| scope == wanted);
        counts
            .map(|((scope, kind, day, what), count)| Tally {
                scope: scope.clone(),
                kind: *kind,
                day: *day,
                what: *what,
                count: *count,
            })
            .collect()
    }
}
