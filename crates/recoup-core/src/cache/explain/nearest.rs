//! The entry most similar to one that does not exist.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::difference::{self, Difference};
use crate::base::clock::Timestamp;
use crate::cache::Cache;
use crate::cache::lookup::Request;
use crate::entry::Head;
use crate::key::{Id, Part};
use crate::store::Probe;

/// How many candidates are compared.
const CANDIDATES: usize = 64;

/// The entry most similar to the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Identity of the entry.
    pub id: Id,
    /// Creation time.
    pub created: Timestamp,
    /// Differences from the request.
    pub differences: Vec<Difference>,
}

impl Cache {
    /// The nearest entry; `None` if the request has no parts or no entry is similar. A store error
    /// counts as none, because it has been reported before.
    pub(super) fn nearest(&self, request: &Request<'_>) -> Option<Nearest> {
        let Request { kind, id, parts, .. } = *request;
        if parts.is_empty() {
            return None;
        }
        let probe = Probe { scope: &id.scope, kind, parts, most: CANDIDATES };
        let found = self.store().nearest(&probe).ok()?;
        let others = found.into_iter().filter(|(other, _)| other != id);
        let (id, head) = others.max_by_key(|(_, head)| likeness(parts, head))?;
        if !is_like(parts, &head.header.parts) {
            return None;
        }
        let mut differences = difference::between(kind, &head.header.parts, parts);
        if differences.is_empty() {
            differences.extend(difference::unseen(kind, parts));
        }
        Some(Nearest { id, created: head.header.created, differences })
    }
}

/// True if at least half of the parts are equal: less is chance.
fn is_like(asked: &[Part], stored: &[Part]) -> bool {
    2 * equal(asked, stored) >= asked.len().max(stored.len())
}

/// Sort key: more equal parts first, then more common words in the others, then the younger entry.
fn likeness(asked: &[Part], head: &Head) -> (usize, Reverse<usize>, usize, Timestamp) {
    let stored = &head.header.parts;
    let unequal = stored.len().saturating_sub(equal(asked, stored));
    (equal(asked, stored), Reverse(unequal), shared_words(asked, stored), head.header.created)
}

fn equal(asked: &[Part], stored: &[Part]) -> usize {
    let same = |a: &Part, b: &Part| a.name == b.name && a.digest == b.digest;
    asked.iter().filter(|part| stored.iter().any(|other| same(part, other))).count()
}

/// Sum over the parts of the share of common words, in thousandths, so that long texts do not win
/// by length.
fn shared_words(asked: &[Part], stored: &[Part]) -> usize {
    let pairs = asked.iter().filter_map(|part| {
        let other = stored.iter().find(|other| other.name == part.name)?;
        Some((part.preview.as_deref()?, other.preview.as_deref()?))
    });
    let words = |text: &'_ str| -> BTreeSet<String> {
        let parts = text.split(|c: char| !c.is_alphanumeric());
        parts.filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
    };
    let shares = pairs.map(|(a, b)| {
        let (a, b) = (words(a), words(b));
        a.intersection(&b).count() * 1_000 / a.union(&b).count().max(1)
    });
    shares.sum()
}
