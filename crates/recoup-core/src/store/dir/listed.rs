//! What the index says of one entry, and how it is said of ours. Times are whole
//! seconds here.

use serde::{Deserialize, Serialize};

use super::layout::{Layout, file_name};
use crate::base::clock::Timestamp;
use crate::base::digest::{Digest, Hasher};
use crate::entry::{BodyInfo, Cost, Encoding, FORMAT, Head, Header, Identity, Older, Sources};
use crate::key::Kind;

/// How long the entries of other tools are good for: contract 1's default.
const FOREIGN_TTL: u64 = 30 * 24 * 60 * 60 * 1_000;

/// The fields that contract 1 gives an entry, in its order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) created_at: i64,
    pub(super) cached_mtime: i64,
    pub(super) source_paths: Vec<String>,
    pub(super) integrity_hash: Digest,
    #[serde(default)]
    pub(super) full_result_path: Option<String>,
    #[serde(default)]
    pub(super) hit_count: u64,
    #[serde(default)]
    pub(super) last_hit: Option<i64>,
}

impl Listed {
    /// How an entry of ours is listed.
    pub(super) fn of(head: &Head, layout: &Layout) -> Self {
        let header = &head.header;
        let created = header.created.as_seconds();
        Self {
            created_at: created,
            cached_mtime: created,
            source_paths: paths_of(&header.sources),
            integrity_hash: header.body.sha256,
            full_result_path: header.full.map(|full| path_of_full(full.sha256, layout)),
            hit_count: head.hits,
            last_hit: (head.hits > 0).then(|| head.last_used.as_seconds()),
        }
    }

    /// The head of an entry that another tool listed: all that can be said of it.
    pub(super) fn into_head(self, raw_len: u64) -> Head {
        let created = Timestamp::from_seconds(self.created_at);
        let sha256 = self.integrity_hash;
        let paths = self.source_paths;
        let older = (!paths.is_empty()).then_some(Older { than: self.cached_mtime, paths });
        let header = Header {
            created,
            ttl: Some(FOREIGN_TTL),
            grace: 0,
            sources: Sources { older, ..Sources::default() },
            format: FORMAT,
            kind: Kind::Result,
            body: BodyInfo { encoding: Encoding::Plain, raw_len, stored_len: raw_len, sha256 },
            full: None,
            identity: Identity::default(),
            parts: Vec::new(),
            tags: Vec::new(),
            cost: Cost::default(),
        };
        let last_used = self.last_hit.map_or(created, Timestamp::from_seconds).max(created);
        Head { header, stored_at: created, hits: self.hit_count, last_used }
    }

    /// The body, if what is stored is the one that was hashed. Tools differ in
    /// whether they write a newline at its end, and whether they hash it.
    pub(super) fn hashed_part<'a>(&self, stored: &'a [u8]) -> Option<&'a [u8]> {
        let bare = stored.strip_suffix(b"\n").unwrap_or(stored);
        let hashed_as = |parts: &[&[u8]]| {
            let mut hasher = Hasher::new();
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

/// Everything that an entry depends on, as far as paths can say it.
fn paths_of(sources: &Sources) -> Vec<String> {
    let files = sources.files.iter().map(|file| &file.path);
    let patterns = sources.patterns.iter().map(|pattern| &pattern.path);
    let undated = sources.older.iter().flat_map(|older| &older.paths);
    files.chain(patterns).chain(undated).cloned().collect()
}

/// As the directory was named to us, which is how contract 1 has it.
fn path_of_full(sha256: Digest, layout: &Layout) -> String {
    layout.full(&file_name(&sha256.to_hex())).display().to_string()
}
