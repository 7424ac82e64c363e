//! Event counts. A batch is summed up first, so that a store writes each count and record once; a
//! table in memory counts each batch once, for the in-memory store and for stores that keep the
//! counts in one small file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::base::clock::{Clock as _, SystemClock, Timestamp};
use crate::entry::{CostSavings, EntryEvent, EntryEventKind, EventBatch, EventTally, day_number};
use crate::key::{EntryId, Kind, Scope};

/// Counts are kept for this many days.
const RETAINED_DAYS: i64 = 400;
/// Maximum number of names counted separately per scope, kind, day and event; the rest is counted
/// as [`OTHER_NAMES`].
pub(super) const MAX_NAMES: usize = 100;
pub(super) const OTHER_NAMES: &str = "(others)";
/// How many batch names are remembered. Only a crash repeats a batch, so the newest suffice.
pub(super) const REMEMBERED_BATCHES: usize = 1_000;

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

/// Counts per scope, kind, day, event and name. As text, so that kinds and events of a later
/// version are preserved.
#[derive(Debug, Default)]
pub(super) struct TallyTable {
    folded: BTreeSet<String>,
    counts: BTreeMap<TallyRow, TallyAmount>,
}

type TallyRow = (String, String, i64, String, String);

/// On-disk form, because JSON maps cannot have tuple keys.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredTallies {
    folded: BTreeSet<String>,
    /// The form of earlier versions, without names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<((String, String, i64, String), u64)>,
    #[serde(default)]
    tallies: Vec<(TallyRow, u64, [u64; 4])>,
}

impl TallyTable {
    pub(super) fn from_stored(StoredTallies { folded, counts, tallies }: StoredTallies) -> Self {
        let mut all = Self { folded, counts: BTreeMap::new() };
        for ((scope, kind, day, what), count) in counts {
            let amount = TallyAmount { count, saved: CostSavings::default() };
            all.counts.entry((scope, kind, day, what, String::new())).or_default().add(amount);
        }
        for (row, count, saved) in tallies {
            let amount = TallyAmount { count, saved: CostSavings::from_array(saved) };
            all.counts.entry(row).or_default().add(amount);
        }
        all
    }

    pub(super) fn to_stored(&self) -> StoredTallies {
        let rows = self.counts.iter();
        let tallies =
            rows.map(|(row, TallyAmount { count, saved })| (row.clone(), *count, saved.to_array()));
        let folded = self.folded.clone();
        StoredTallies { folded, counts: Vec::new(), tallies: tallies.collect() }
    }

    /// Counts a batch; returns `false` if it was counted before.
    pub(super) fn add(&mut self, batch: &EventBatch, sums: &BatchSums<'_>) -> bool {
        let is_new = self.folded.insert(batch.name.to_string());
        // Names sort by time.
        while self.folded.len() > REMEMBERED_BATCHES {
            self.folded.pop_first();
        }
        if !is_new {
            return false;
        }
        for (counted, amount) in &sums.counts {
            let TallyKey { scope, kind, day, what, by } = counted;
            let row = |by: &str| {
                let (kind, what) = (kind.as_str().to_owned(), what.as_str().to_owned());
                (scope.to_string(), kind, *day, what, by.to_owned())
            };
            let (wanted, first) = (row(by), row(""));
            let alike = |other: &TallyRow| {
                (&other.0, &other.1, other.2, &other.3) == (&first.0, &first.1, first.2, &first.3)
            };
            let names =
                || self.counts.range(first.clone()..).take_while(|(row, _)| alike(row)).count();
            let fits = by.is_empty() || self.counts.contains_key(&wanted) || names() < MAX_NAMES;
            // Beyond the limit, names are counted together.
            let row = if fits { wanted } else { row(OTHER_NAMES) };
            self.counts.entry(row).or_default().add(*amount);
        }
        let first = sums.first_day();
        self.counts.retain(|(_, _, day, ..), _| *day >= first);
        true
    }

    /// The tallies of one scope, or of all.
    pub(super) fn for_scope(&self, wanted: Option<&Scope>) -> Vec<EventTally> {
        let is_wanted = |scope: &str| wanted.is_none_or(|wanted| wanted.as_str() == scope);
        let counts = self.counts.iter().filter(|((scope, ..), _)| is_wanted(scope));
        counts
            .filter_map(|((scope, kind, day, what, by), TallyAmount { count, saved })| {
                let (scope, by) = (Scope::parse(scope).ok()?, by.clone());
                let (kind, what) = (Kind::from_name(kind)?, EntryEventKind::from_name(what)?);
                Some(EventTally { scope, kind, day: *day, what, by, count: *count, saved: *saved })
            })
            .collect()
    }
}
