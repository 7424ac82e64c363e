//! What a batch amounts to, so that a store writes each thing once.

use std::collections::HashMap;

use crate::base::clock::Timestamp;
use crate::entry::{Batch, Event, Happening, day_of};
use crate::key::{Id, Kind, Scope};

/// The counts of a batch, and what it says about single records.
#[derive(Debug, Default)]
pub(super) struct Sums<'a> {
    pub(super) counts: HashMap<Counted<'a>, u64>,
    /// How often each was served, and when last.
    pub(super) served: HashMap<&'a Id, (u64, Timestamp)>,
    /// When each was found damaged: what was stored anew since is another record.
    pub(super) damaged: HashMap<&'a Id, Timestamp>,
}

/// What is counted apart: a scope, a kind, a day, and what happened.
pub(super) type Counted<'a> = (&'a Scope, Kind, i64, Happening);

impl<'a> Sums<'a> {
    pub(super) fn of(batch: &'a Batch) -> Self {
        let mut sums = Self::default();
        for Event { at, id, kind, what, count, detail: _ } in &batch.events {
            let counted = sums.counts.entry((&id.scope, *kind, day_of(*at), *what)).or_default();
            *counted = counted.saturating_add(*count);
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
}
