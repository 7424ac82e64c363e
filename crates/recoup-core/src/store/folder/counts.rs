//! What happened to the records of a directory, each batch counted once, in one
//! small file. One that can't be read begins anew: it holds nothing but counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::base::fsx;
use crate::base::name::Name;
use crate::entry::{Batch, Happening, Tally};
use crate::error::Result;
use crate::key::{Kind, Scope};
use crate::store::sums::Sums;

/// How many names of batches are remembered. A batch is told again only right
/// after a crash, so the newest suffice; names sort by time.
const REMEMBERED: usize = 1_000;
/// Far beyond what years of use amount to.
const MAX_LEN: u64 = 64 << 20;

/// As text, so that the kinds and words of a later version outlive us.
type Counted = (String, String, i64, String);

#[derive(Debug, Default)]
pub(in crate::store) struct Counts {
    folded: BTreeSet<String>,
    counts: BTreeMap<Counted, u64>,
}

/// JSON has no maps with such keys.
#[derive(Default, Serialize, Deserialize)]
struct Stored {
    folded: BTreeSet<String>,
    counts: Vec<(Counted, u64)>,
}

impl Counts {
    pub(super) fn load(path: &Path) -> Self {
        let json = fsx::read_regular(path, MAX_LEN).ok().flatten();
        let stored = json.and_then(|json| serde_json::from_slice(&json).ok());
        let Stored { folded, counts } = stored.unwrap_or_default();
        Self { folded, counts: counts.into_iter().collect() }
    }

    pub(super) fn save(&self, path: &Path) -> Result<()> {
        let counts = self.counts.iter().map(|(counted, count)| (counted.clone(), *count));
        let stored = Stored { folded: self.folded.clone(), counts: counts.collect() };
        let json = serde_json::to_vec(&stored).expect("text and numbers always serialize");
        fsx::write_whole(path, &json)
    }

    /// Counts a batch; `false` when it has been counted before.
    pub(in crate::store) fn add(&mut self, batch: &Batch, sums: &Sums<'_>) -> bool {
        if !self.remember(&batch.name) {
            return false;
        }
        for ((scope, kind, day, what), count) in &sums.counts {
            let counted =
                (scope.to_string(), kind.as_str().to_owned(), *day, what.as_str().to_owned());
            let so_far = self.counts.entry(counted).or_default();
            *so_far = so_far.saturating_add(*count);
        }
        true
    }

    fn remember(&mut self, name: &Name) -> bool {
        let news = self.folded.insert(name.to_string());
        while self.folded.len() > REMEMBERED {
            self.folded.pop_first();
        }
        news
    }

    pub(in crate::store) fn of(&self, wanted: &Scope) -> Vec<Tally> {
        let counts = self.counts.iter().filter(|((scope, ..), _)| scope == wanted.as_str());
        counts
            .filter_map(|((_, kind, day, what), count)| {
                let (kind, what) = (Kind::from_name(kind)?, Happening::from_name(what)?);
                Some(Tally { scope: wanted.clone(), kind, day: *day, what, count: *count })
            })
            .collect()
    }
}
