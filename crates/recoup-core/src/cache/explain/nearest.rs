//! The entry most similar to one that does not exist.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::difference::{self, PartDifference};
use crate::base::clock::Timestamp;
use crate::cache::Cache;
use crate::cache::lookup::LookupRequest;
use crate::entry::EntryHead;
use crate::key::{EntryId, KeyPart};
use crate::store::SimilarityProbe;

/// How many candidates are compared.
const CANDIDATES: usize = 64;

/// The entry most similar to the requested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NearestEntry {
    /// Identity of the entry.
    pub id: EntryId,
    /// Creation time.
    pub created: Timestamp,
    /// Differences from the request.
    pub differences: Vec<PartDifference>,
}

impl Cache {
    /// The nearest entry; `None` if the request has no parts or no entry is similar. A store error
    /// counts as none, because it has been reported before.
    pub(super) fn find_nearest(&self, request: &LookupRequest<'_>) -> Option<NearestEntry> {
        let LookupRequest { kind, id, parts, .. } = *request;
        if parts.is_empty() {
            return None;
        }
        let probe = SimilarityProbe { scope: &id.scope, kind, parts, most: CANDIDATES };
        let found = self.store().nearest(&probe).ok()?;
        let others = found.into_iter().filter(|(other, _)| other != id);
        let (id, head) = others.max_by_key(|(_, head)| similarity(parts, head))?;
        if !is_similar(parts, &head.header.parts) {
            return None;
        }
        let mut differences = difference::compare_parts(kind, &head.header.parts, parts);
        if differences.is_empty() {
            differences.extend(difference::hidden_value_difference(kind, parts));
        }
        Some(NearestEntry { id, created: head.header.created, differences })
    }
}

/// True if at least half of the parts are equal: less is chance.
fn is_similar(asked: &[KeyPart], stored: &[KeyPart]) -> bool {
    2 * count_equal_parts(asked, stored) >= asked.len().max(stored.len())
}

/// Sort key: more equal parts first, then more common words in the others, then the younger entry.
fn similarity(asked: &[KeyPart], head: &EntryHead) -> (usize, Reverse<usize>, usize, Timestamp) {
    let stored = &head.header.parts;
    let unequal = stored.len().saturating_sub(count_equal_parts(asked, stored));
    (
        count_equal_parts(asked, stored),
        Reverse(unequal),
        shared_words(asked, stored),
        head.header.created,
    )
}

fn count_equal_parts(asked: &[KeyPart], stored: &[KeyPart]) -> usize {
    let same = |a: &KeyPart, b: &KeyPart| a.name == b.name && a.digest == b.digest;
    asked.iter().filter(|part| stored.iter().any(|other| same(part, other))).count()
}

/// Sum over the parts of the share of common words, in thousandths, so that long texts do not win
/// by length.
fn shared_words(asked: &[KeyPart], stored: &[KeyPart]) -> usize {
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
