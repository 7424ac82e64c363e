//! Description of an entry, for `--json` and for tables.

use recoup_core::base::clock::Timestamp;
use recoup_core::entry::{
    BodyEncoding, BodyInfo, EntryHead, ProducerIdentity, ProductionCost, RecordedSources,
};
use recoup_core::key::{EntryId, KeyPart};
use serde::Serialize;

use crate::cli::human;

/// One entry without its body.
#[derive(Debug, Serialize)]
pub(in crate::cli) struct EntryReport {
    pub(super) key: String,
    pub(super) scope: String,
    pub(super) kind: String,
    pub(super) created_at: String,
    pub(super) expires_at: Option<String>,
    pub(super) last_used_at: String,
    pub(super) hits: u64,
    pub(super) size: u64,
    pub(super) stored_size: u64,
    pub(super) encoding: BodyEncoding,
    pub(super) sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) full: Option<BodyInfo>,
    pub(super) tags: Vec<String>,
    pub(super) identity: ProducerIdentity,
    pub(super) parts: Vec<KeyPart>,
    pub(super) sources: RecordedSources,
    pub(super) cost: ProductionCost,
    #[serde(skip)]
    pub(super) age: u64,
    #[serde(skip)]
    pub(super) left: Option<u64>,
}

impl EntryReport {
    pub(in crate::cli) fn new(id: &EntryId, head: &EntryHead, now: Timestamp) -> Self {
        let header = &head.header;
        let expires = header.ttl.map(|_| header.fresh_until());
        Self {
            key: id.key.to_string(),
            scope: id.scope.to_string(),
            kind: header.kind.to_string(),
            created_at: header.created.to_string(),
            expires_at: expires.map(|at| at.to_string()),
            last_used_at: head.last_used.to_string(),
            hits: head.hits,
            size: header.body.raw_len,
            stored_size: header.body.stored_len,
            encoding: header.body.encoding,
            sha256: header.body.sha256.to_string(),
            full: header.full,
            tags: header.tags.clone(),
            identity: header.identity.clone(),
            parts: header.parts.clone(),
            sources: header.sources.clone(),
            cost: header.cost,
            age: now.millis_since(header.created),
            left: expires.map(|at| at.millis_since(now)),
        }
    }

    /// `3h ago`
    pub(super) fn age(&self) -> String {
        format!("{} ago", human::short_duration(self.age))
    }

    /// `in 29d`, `expired` or `never`.
    pub(super) fn expiry(&self) -> String {
        match self.left {
            None => "never".to_owned(),
            Some(0) => "expired".to_owned(),
            Some(left) => format!("in {}", human::short_duration(left)),
        }
    }

    /// Previews of the key's parts and the tags, by which people recognize the entry.
    pub(in crate::cli) fn about(&self) -> String {
        let previews = self.parts.iter().rev().filter_map(KeyPart::identifying_preview);
        previews.chain(self.tags.iter().map(String::as_str)).collect::<Vec<_>>().join(" · ")
    }
}
