//! The parts of the index: one entry (times are whole seconds here), the statistics block, and a
//! JSON object of which we know some fields.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap as _, Serializer};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::layout::{ScopeLayout, file_name};
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::entry::{EntryEventKind, EntryHead, Header, RecordedSources, TimedSources};
use crate::key::Kind;

/// TTL of entries of other tools: the semantic-cache protocol's default.
const FOREIGN_TTL: u64 = 30 * 24 * 60 * 60 * 1_000;

/// The fields of an entry in that protocol, in its order, and one of ours. Optional ones may be
/// missing or of another type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListedEntry {
    #[serde(deserialize_with = "seconds")]
    pub(super) created_at: i64,
    #[serde(deserialize_with = "seconds")]
    cached_mtime: i64,
    #[serde(default, deserialize_with = "or_none")]
    source_paths: Vec<String>,
    pub(super) integrity_hash: Sha256Digest,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) full_result_path: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) hit_count: u64,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) last_hit: Option<i64>,
    #[serde(default, deserialize_with = "lenient", skip_serializing_if = "Option::is_none")]
    recoup: Option<RecoupMark>,
}

/// Data that must survive the loss of our head, and marks the index entry as ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct RecoupMark {
    kind: Kind,
    created: Timestamp,
    expires_at: Option<Timestamp>,
}

impl ListedEntry {
    /// The index entry of an entry of ours.
    pub(super) fn of(head: &EntryHead, layout: &ScopeLayout) -> Self {
        let header = &head.header;
        let created = header.created.as_seconds();
        Self {
            created_at: created,
            cached_mtime: created,
            source_paths: paths_of(&header.sources),
            integrity_hash: header.body.sha256,
            // Relative to the directory as it was given to us, as in that protocol.
            full_result_path: header
                .full
                .map(|full| layout.full(&file_name(&full.sha256.to_hex())).display().to_string()),
            hit_count: head.hits,
            last_hit: (head.hits > 0).then(|| head.last_used.as_seconds()),
            recoup: Some(RecoupMark {
                kind: header.kind,
                created: header.created,
                expires_at: header.ttl.map(|ttl| header.created.plus_millis(ttl)),
            }),
        }
    }

    /// True if we wrote the index entry. Another tool that stores the entry writes it anew; one
    /// that only counts a hit preserves our field.
    pub(super) fn is_own(&self) -> bool {
        let created = self.recoup.as_ref().map(|own| own.created.as_seconds());
        created == Some(self.created_at) && self.cached_mtime == self.created_at
    }

    /// True if it describes another entry than the head: another tool has stored it since, maybe
    /// with the same body.
    pub(super) fn differs_from(&self, head: &EntryHead) -> bool {
        let created = head.header.created.as_seconds();
        let same = self.created_at == created
            && self.cached_mtime == created
            && self.source_paths == paths_of(&head.header.sources);
        !self.is_own() && !same
    }

    /// The best possible head for an entry of another tool, or for one of ours whose head is lost.
    pub(super) fn into_head(self, raw_len: u64) -> EntryHead {
        let is_marked = self.is_own();
        let own = self.recoup.filter(|_| is_marked);
        let created =
            own.as_ref().map_or(Timestamp::from_seconds(self.created_at), |own| own.created);
        let ttl = own.as_ref().map_or(Some(FOREIGN_TTL), |own| {
            let lives = own.expires_at?.as_millis().saturating_sub(created.as_millis());
            Some(u64::try_from(lives).unwrap_or(0))
        });
        let kind = own.map_or(Kind::Result, |own| own.kind);
        let mut header = Header::of_plain_body(kind, created, ttl, raw_len, self.integrity_hash);
        let paths = self.source_paths;
        header.sources.older =
            (!paths.is_empty()).then_some(TimedSources { than: self.cached_mtime, paths });
        let last_used = self.last_hit.map_or(created, Timestamp::from_seconds).max(created);
        EntryHead { header, stored_at: created, hits: self.hit_count, last_used }
    }

    /// The part of the stored bytes that matches the hash. Tools differ in whether they end a body
    /// with a newline, and whether they hash that.
    pub(super) fn hashed_part<'a>(&self, stored: &'a [u8]) -> Option<&'a [u8]> {
        let bare = stored.strip_suffix(b"\n").unwrap_or(stored);
        let hashed_as = |parts: &[&[u8]]| {
            let mut hasher = Sha256Hasher::new();
            for part in parts {
                hasher.update(part);
            }
            hasher.finish() == self.integrity_hash
        };
        match stored {
            _ if hashed_as(&[stored]) => Some(stored),
            _ if hashed_as(&[bare]) => Some(bare),
            _ if hashed_as(&[stored, b"\n"]) => Some(stored),
            _ => None,
        }
    }
}

/// The paths of all sources.
fn paths_of(sources: &RecordedSources) -> Vec<String> {
    let files = sources.files.iter().map(|file| &file.path);
    let patterns = sources.patterns.iter().map(|pattern| &pattern.path);
    let undated = sources.older.iter().flat_map(|older| &older.paths);
    files.chain(patterns).chain(undated).cloned().collect()
}

/// Seconds, with a fraction cut off: earlier is safer.
#[expect(clippy::cast_possible_truncation, reason = "`as` stops at the ends of the range")]
fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum WholeOrFraction {
        Whole(i64),
        Broken(f64),
    }
    Ok(match WholeOrFraction::deserialize(deserializer)? {
        WholeOrFraction::Whole(seconds) => seconds,
        WholeOrFraction::Broken(seconds) => seconds.floor() as i64,
    })
}

/// The default for `null`; another type is still an error.
fn or_none<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

/// The default for anything that cannot be read.
fn lenient<'de, D: Deserializer<'de>, T: for<'a> Deserialize<'a> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    let value = Box::<RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(value.get()).unwrap_or_default())
}

/// Counted as in `CacheStats`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub(super) struct IndexStats {
    hits: u64,
    misses: u64,
    invalidations: u64,
}

impl IndexStats {
    pub(super) fn of(counts: impl Iterator<Item = (EntryEventKind, u64)>) -> Self {
        counts.fold(Self::default(), |sum, (what, count)| {
            // A look-up whose sources had changed is a miss and an invalidation; a removal by hand
            // is no look-up.
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
            sum.plus(Self { hits, misses, invalidations })
        })
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

#[derive(Debug, Clone, Default)]
pub(super) struct JsonFields(Vec<(String, Box<RawValue>)>);

impl JsonFields {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }

    /// A field, if it is present and has that type.
    pub(super) fn get<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let (_, value) = self.0.iter().find(|(found, _)| found == name)?;
        serde_json::from_str(value.get()).ok()
    }

    pub(super) fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(found, _)| found == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    /// Sets all fields of another object.
    pub(super) fn set_all(&mut self, others: Self) {
        for (name, value) in others.0 {
            self.set(&name, value);
        }
    }
}

/// Serializes a value that cannot fail to.
pub(super) fn to_raw_json(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("text, numbers and lists always serialize")
}

impl Serialize for JsonFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for JsonFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonFieldsVisitor;
        impl<'de> Visitor<'de> for JsonFieldsVisitor {
            type Value = JsonFields;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<JsonFields, M::Error> {
                let mut fields = JsonFields::default();
                while let Some((name, value)) = map.next_entry::<String, _>()? {
                    fields.set(&name, value);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(JsonFieldsVisitor)
    }
}
