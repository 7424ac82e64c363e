//! Search for the records most similar to one that does not exist.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{Filter, Flow, Store};
use crate::base::digest::Digest;
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Id, Kind, Part, Scope};

/// Criteria of a similarity search.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// Scope to search.
    pub scope: &'a Scope,
    /// Kind of the records.
    pub kind: Kind,
    /// The named parts of the missing key.
    pub parts: &'a [Part],
    /// Maximum number of results.
    pub most: usize,
}

/// Truncated digests of a key's parts: enough to count common parts, and small enough to compare
/// hundreds of thousands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sketch(Vec<u8>);

/// Bytes kept of each digest.
const MARK: usize = 4;

impl Sketch {
    pub(super) fn of(parts: &[Part]) -> Self {
        let mark = |part: &Part| {
            let digest = Digest::of(format!("{}\0{}", part.name, part.digest).as_bytes());
            digest.as_bytes()[..MARK].to_vec()
        };
        Self(parts.iter().flat_map(mark).collect())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Number of parts in common with a stored sketch.
    pub(super) fn in_common(&self, stored: &[u8]) -> usize {
        let holds = |mark: &&[u8]| stored.chunks_exact(MARK).any(|other| other == *mark);
        self.0.chunks_exact(MARK).filter(holds).count()
    }
}

/// The best of many candidates; of equally good ones those that are last in order.
#[derive(Debug)]
pub(super) struct Best<K, V> {
    most: usize,
    found: BinaryHeap<Reverse<Ranked<K, V>>>,
}

#[derive(Debug)]
struct Ranked<K, V> {
    rank: (usize, K),
    value: V,
}

impl<K: Ord, V> Best<K, V> {
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
        self.found.push(Reverse(Ranked { rank, value: value() }));
    }

    pub(super) fn into_found(self) -> impl Iterator<Item = V> {
        self.found.into_iter().map(|Reverse(ranked)| ranked.value)
    }
}

impl<K: Ord, V> Ord for Ranked<K, V> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank.cmp(&other.rank)
    }
}

impl<K: Ord, V> PartialOrd for Ranked<K, V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K: Ord, V> PartialEq for Ranked<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K: Ord, V> Eq for Ranked<K, V> {}

/// Searches by scanning all heads, for stores without an index.
pub(super) fn by_scan(store: &dyn Store, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
    let sketch = Sketch::of(probe.parts);
    let mut best = Best::new(probe.most);
    let filter =
        Filter { scope: Some(probe.scope.clone()), kind: Some(probe.kind), ..Filter::default() };
    store.scan(&filter, &mut |id, head| {
        if let Ok(head) = head {
            let in_common = sketch.in_common(Sketch::of(&head.header.parts).as_bytes());
            let order = (head.header.created, id.clone());
            best.offer(in_common, order, || (id.clone(), head.clone()));
        }
        Flow::Continue(())
    })?;
    Ok(best.into_found().collect())
}
