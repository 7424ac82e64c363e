//! Search for the records most similar to one that does not exist.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{ScanFilter, ScanFlow, Store};
use crate::base::digest::Sha256Digest;
use crate::entry::EntryHead;
use crate::error::Result;
use crate::key::{EntryId, KeyPart, Kind, Scope};

/// Bytes kept of each digest.
const MARK: usize = 4;

/// Criteria of a similarity search.
#[derive(Debug, Clone, Copy)]
pub struct SimilarityProbe<'a> {
    /// Scope to search.
    pub scope: &'a Scope,
    /// Kind of the records.
    pub kind: Kind,
    /// The named parts of the missing key.
    pub parts: &'a [KeyPart],
    /// Maximum number of results.
    pub most: usize,
}

/// Truncated digests of a key's parts: enough to count common parts, and small enough to compare
/// hundreds of thousands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PartSketch(Vec<u8>);

impl PartSketch {
    pub(super) fn of(parts: &[KeyPart]) -> Self {
        let mark = |part: &KeyPart| {
            let digest = Sha256Digest::of(format!("{}\0{}", part.name, part.digest).as_bytes());
            digest.as_bytes()[..MARK].to_vec()
        };
        Self(parts.iter().flat_map(mark).collect())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Number of parts in common with a stored sketch.
    pub(super) fn count_common(&self, stored: &[u8]) -> usize {
        let holds = |mark: &&[u8]| stored.chunks_exact(MARK).any(|other| other == *mark);
        self.0.chunks_exact(MARK).filter(holds).count()
    }
}

/// The best of many candidates; of equally good ones those that are last in order.
#[derive(Debug)]
pub(super) struct TopMatches<K, V> {
    most: usize,
    found: BinaryHeap<Reverse<RankedMatch<K, V>>>,
}

#[derive(Debug)]
struct RankedMatch<K, V> {
    rank: (usize, K),
    value: V,
}

impl<K: Ord, V> TopMatches<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Self { most, found: BinaryHeap::with_capacity(most) }
    }

    /// Offers a candidate. One with nothing in common is ignored.
    pub(super) fn offer(&mut self, in_common: usize, order: K, value: impl FnOnce() -> V) {
        let rank = (in_common, order);
        let is_full = self.found.len() >= self.most;
        let worst = self.found.peek().map(|Reverse(worst)| &worst.rank);
        if in_common == 0 || is_full && worst.is_none_or(|worst| rank <= *worst) {
            return;
        }
        if is_full {
            self.found.pop();
        }
        self.found.push(Reverse(RankedMatch { rank, value: value() }));
    }

    pub(super) fn into_found(self) -> impl Iterator<Item = V> {
        self.found.into_iter().map(|Reverse(ranked)| ranked.value)
    }
}

impl<K: Ord, V> Ord for RankedMatch<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<K: Ord, V> PartialOrd for RankedMatch<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, V> PartialEq for RankedMatch<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, V> Eq for RankedMatch<K, V> {}

/// Searches by scanning all heads, for stores without an index.
pub(super) fn nearest_by_scan(
    store: &dyn Store,
    probe: &SimilarityProbe<'_>,
) -> Result<Vec<(EntryId, EntryHead)>> {
    let sketch = PartSketch::of(probe.parts);
    let mut best = TopMatches::new(probe.most);
    let filter = ScanFilter {
        scope: Some(probe.scope.clone()),
        kind: Some(probe.kind),
        ..ScanFilter::default()
    };
    store.scan(&filter, &mut |id, head| {
        if let Ok(head) = head {
            let in_common = sketch.count_common(PartSketch::of(&head.header.parts).as_bytes());
            let order = (head.header.created, id.clone());
            best.offer(in_common, order, || (id.clone(), head.clone()));
        }
        ScanFlow::Continue(())
    })?;
    Ok(best.into_found().collect())
}
