//! The statistics block of the index: hits, misses, invalidations.

use serde::Deserialize;

use super::fields::{JsonFields, to_raw_json};
use crate::entry::EntryEventKind;

/// Counted as in `cache/stats.rs`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct IndexStats {
    hits: u64,
    misses: u64,
    invalidations: u64,
}

impl IndexStats {
    pub(super) fn of(counts: impl Iterator<Item = (EntryEventKind, u64)>) -> Self {
        counts.fold(Self::default(), |sum, (what, count)| sum.plus(Self::of_one(what, count)))
    }

    /// A look-up whose sources had changed is a miss and an invalidation; a removal by hand is no
    /// look-up.
    fn of_one(what: EntryEventKind, count: u64) -> Self {
        let (hits, misses, invalidations) = match what {
            EntryEventKind::Hit => (count, 0, 0),
            EntryEventKind::Invalidated => (0, count, count),
            EntryEventKind::Removed => (0, 0, count),
            EntryEventKind::Absent
            | EntryEventKind::Expired
            | EntryEventKind::Corrupt
            | EntryEventKind::Unavailable => (0, count, 0),
            EntryEventKind::Stored
            | EntryEventKind::Refused
            | EntryEventKind::Evicted
            | EntryEventKind::Purged
            | EntryEventKind::Deleted => (0, 0, 0),
        };
        Self { hits, misses, invalidations }
    }

    pub(super) fn read(fields: &JsonFields) -> Self {
        let count = |name| fields.get(name).unwrap_or(0);
        Self { hits: count("hits"), misses: count("misses"), invalidations: count("invalidations") }
    }

    pub(super) fn write(self, fields: &mut JsonFields) {
        let Self { hits, misses, invalidations } = self;
        for (name, count) in [("hits", hits), ("misses", misses), ("invalidations", invalidations)]
        {
            fields.set(name, to_raw_json(&count));
        }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.with(other, u64::saturating_add)
    }

    pub(super) fn max_of_each(self, other: Self) -> Self {
        self.with(other, u64::max)
    }

    fn with(self, other: Self, join: fn(u64, u64) -> u64) -> Self {
        Self {
            hits: join(self.hits, other.hits),
            misses: join(self.misses, other.misses),
            invalidations: join(self.invalidations, other.invalidations),
        }
    }
}
