//! Event counts in memory, counting each batch once: for the in-memory store, and for stores that
//! keep the counts in one small file.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::sums::{Amount, Counted, NAMES, OTHERS, Sums};
use crate::base::name::Name;
use crate::entry::{Batch, Happening, Saved, Tally};
use crate::key::{Kind, Scope};

/// How many batch names are remembered. Only a crash repeats a batch, so the newest suffice; names
/// sort by time.
const REMEMBERED: usize = 1_000;

/// Counts per scope, kind, day, event and name. As text, so that kinds and events of a later
/// version are preserved.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    folded: BTreeSet<String>,
    counts: BTreeMap<Row, Amount>,
}

type Row = (String, String, i64, String, String);

/// On-disk form, because JSON maps cannot have tuple keys.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Stored {
    folded: BTreeSet<String>,
    /// The form of earlier versions, without names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<((String, String, i64, String), u64)>,
    #[serde(default)]
    tallies: Vec<(Row, u64, [u64; 4])>,
}

impl Tallies {
    pub(super) fn load(Stored { folded, counts, tallies }: Stored) -> Self {
        let mut all = Self { folded, counts: BTreeMap::new() };
        for ((scope, kind, day, what), count) in counts {
            let amount = Amount { count, saved: Saved::default() };
            all.counts.entry((scope, kind, day, what, String::new())).or_default().add(amount);
        }
        for (row, count, saved) in tallies {
            let amount = Amount { count, saved: Saved::from_array(saved) };
            all.counts.entry(row).or_default().add(amount);
        }
        all
    }

    pub(super) fn stored(&self) -> Stored {
        let rows = self.counts.iter();
        let tallies =
            rows.map(|(row, Amount { count, saved })| (row.clone(), *count, saved.to_array()));
        let folded = self.folded.clone();
        Stored { folded, counts: Vec::new(), tallies: tallies.collect() }
    }

    /// Counts a batch; returns `false` if it was counted before.
    pub(super) fn add(&mut self, batch: &Batch, sums: &Sums<'_>) -> bool {
        if !self.remember(&batch.name) {
            return false;
        }
        for (counted, amount) in &sums.counts {
            let row = self.row_for(counted);
            self.counts.entry(row).or_default().add(*amount);
        }
        let first = sums.first_day();
        self.counts.retain(|(_, _, day, ..), _| *day >= first);
        true
    }

    fn remember(&mut self, name: &Name) -> bool {
        let news = self.folded.insert(name.to_string());
        while self.folded.len() > REMEMBERED {
            self.folded.pop_first();
        }
        news
    }

    /// The row to count in; beyond [`NAMES`] names, the row of the others.
    fn row_for(&self, counted: &Counted<'_>) -> Row {
        let Counted { scope, kind, day, what, by } = counted;
        let row = |by: &str| {
            let (kind, what) = (kind.as_str().to_owned(), what.as_str().to_owned());
            (scope.to_string(), kind, *day, what, by.to_owned())
        };
        let (wanted, first) = (row(by), row(""));
        let alike = |other: &Row| {
            (&other.0, &other.1, other.2, &other.3) == (&first.0, &first.1, first.2, &first.3)
        };
        let names = || self.counts.range(first.clone()..).take_while(|(row, _)| alike(row)).count();
        let fits = by.is_empty() || self.counts.contains_key(&wanted) || names() < NAMES;
        if fits { wanted } else { row(OTHERS) }
    }

    /// The tallies of one scope, or of all.
    pub(super) fn of(&self, wanted: Option<&Scope>) -> Vec<Tally> {
        let is_wanted = |scope: &str| wanted.is_none_or(|wanted| wanted.as_str() == scope);
        let counts = self.counts.iter().filter(|((scope, ..), _)| is_wanted(scope));
        counts
            .filter_map(|((scope, kind, day, what, by), Amount { count, saved })| {
                let (scope, by) = (Scope::parse(scope).ok()?, by.clone());
                let (kind, what) = (Kind::from_name(kind)?, Happening::from_name(what)?);
                Some(Tally { scope, kind, day: *day, what, by, count: *count, saved: *saved })
            })
            .collect()
    }
}
