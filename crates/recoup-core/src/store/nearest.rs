//! Which records are most like one that is not there, for those who explain.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::{Filter, Flow, Store};
use crate::base::digest::Digest;
use crate::entry::Head;
use crate::error::Result;
use crate::key::{Id, Kind, Part, Scope};

/// What a record should be like.
#[derive(Debug, Clone, Copy)]
pub struct Probe<'a> {
    /// In which scope.
    pub scope: &'a Scope,
    /// Of which kind.
    pub kind: Kind,
    /// The named inputs of its key.
    pub parts: &'a [Part],
    /// How many at most.
    pub most: usize,
}

/// The beginnings of digests of a key's parts: enough to count how many two have in
/// common, and small enough to be looked through by the hundred thousand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sketch(Vec<u8>);

/// The length of each beginning.
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

    /// How many parts are the same in a stored one.
    pub(super) fn in_common(&self, stored: &[u8]) -> usize {
        let holds = |mark: &&[u8]| stored.chunks_exact(MARK).any(|other| other == *mark);
        self.0.chunks_exact(MARK).filter(holds).count()
    }
}

/// The best of many; of those that are equally good, the ones that come last in order.
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

    /// What has nothing in common is not one of them.
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

/// By looking at each head, for stores that have nothing better.
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
