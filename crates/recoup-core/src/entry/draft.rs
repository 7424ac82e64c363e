//! Drafts of entries.

use super::header::{FORMAT, Header, ProducerIdentity, ProductionCost, RecordedSources};
use super::record::{self, Body, EntryHead, EntryRecord};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{KeyPart, Kind};
use crate::secrets::SecretValues;

/// An entry before it is sealed: everything that its producer knows.
#[derive(Debug, Clone)]
pub struct Draft {
    /// Kind of work.
    pub kind: Kind,
    /// The result itself.
    pub body: Body,
    /// The full result, where the body is only its short form.
    pub full: Option<Body>,
    /// TTL in milliseconds; `None` is for ever.
    pub ttl: Option<u64>,
    /// Time beyond the TTL in which it may be served while it is refreshed, in milliseconds.
    pub grace: u64,
    /// The producer.
    pub identity: ProducerIdentity,
    /// The named inputs of its key.
    pub parts: Vec<KeyPart>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Cost of producing it.
    pub cost: ProductionCost,
    /// True for a failure, which is served only to callers that accept failures.
    pub failure: bool,
    /// True if the two streams of a command were recorded as one.
    pub streams_merged: bool,
    /// Start of the work, if that was before now.
    pub began: Option<Timestamp>,
    /// Time at which another store received it, if it comes from there: its TTL counts from then.
    pub made: Option<Timestamp>,
    /// Values that must not be kept with it, whatever they look like.
    pub withheld: SecretValues,
}

impl Draft {
    /// A draft of `kind` with that body, without an expiry or any other information.
    pub fn new(kind: Kind, body: impl Into<Body>) -> Self {
        Self {
            kind,
            body: body.into(),
            full: None,
            ttl: None,
            grace: 0,
            identity: ProducerIdentity::default(),
            parts: Vec::new(),
            tags: Vec::new(),
            cost: ProductionCost::default(),
            failure: false,
            streams_merged: false,
            began: None,
            made: None,
            withheld: SecretValues::default(),
        }
    }

    /// Adds words to find it by.
    #[must_use]
    pub fn with_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags.extend(tags.into_iter().map(Into::into));
        self
    }

    /// Sets the cost of producing it: a later hit has saved that.
    #[must_use]
    pub fn with_cost(self, cost: ProductionCost) -> Self {
        Self { cost, ..self }
    }

    /// Encodes the body and writes the header.
    pub fn seal(self, sources: RecordedSources, now: Timestamp) -> Result<EntryRecord> {
        let Self {
            kind,
            body,
            full,
            ttl,
            grace,
            identity,
            parts,
            tags,
            cost,
            failure,
            streams_merged,
            began,
            made,
            withheld: _,
        } = self;
        let created = made.filter(|made| *made < now).unwrap_or(now);
        let (body, payload) = record::encode_body(body)?;
        let (full, full_payload) = full.map(record::encode_body).transpose()?.unzip();
        let header = Header {
            created,
            ttl,
            grace,
            sources,
            format: FORMAT,
            kind,
            body,
            full,
            identity,
            parts,
            tags,
            cost,
            failure,
            streams_merged,
            began: began.filter(|began| *began < created),
        };
        Ok(EntryRecord { payload, head: EntryHead::new(header, now), full: full_payload })
    }
}
