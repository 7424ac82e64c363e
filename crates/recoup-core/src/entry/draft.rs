//! An entry before it is sealed: everything that its producer knows.

use super::body::Body;
use super::codec;
use super::header::{Cost, FORMAT, Header, Identity};
use super::record::{Head, Record};
use super::sources::Sources;
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{Kind, Part};
use crate::secrets::Values;

/// An entry before it is sealed: everything that its producer knows.
#[derive(Debug, Clone)]
pub struct Draft {
    /// What sort of work it was.
    pub kind: Kind,
    /// The result itself.
    pub body: Body,
    /// The full result, where the body is only its short form.
    pub full: Option<Body>,
    /// How long it is fresh, in milliseconds; none is for ever.
    pub ttl: Option<u64>,
    /// How much longer it may be served while somebody refreshes it.
    pub grace: u64,
    /// Who or what produced it.
    pub identity: Identity,
    /// The named inputs of its key.
    pub parts: Vec<Part>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// What producing it cost.
    pub cost: Cost,
    /// Whether it is a failure, which only those get who want failures.
    pub failure: bool,
    /// True if the two streams of a command were recorded as one.
    pub streams_merged: bool,
    /// When the work began, where that was earlier than now.
    pub began: Option<Timestamp>,
    /// What must not be kept with it, however it looks.
    pub withheld: Values,
}

impl Draft {
    /// A draft of `kind` with that body, kept for ever, about which nothing
    /// else is known.
    pub fn new(kind: Kind, body: impl Into<Body>) -> Self {
        Self {
            kind,
            body: body.into(),
            full: None,
            ttl: None,
            grace: 0,
            identity: Identity::default(),
            parts: Vec::new(),
            tags: Vec::new(),
            cost: Cost::default(),
            failure: false,
            streams_merged: false,
            began: None,
            withheld: Values::default(),
        }
    }

    /// Encodes the body and writes the header.
    pub fn seal(self, sources: Sources, now: Timestamp) -> Result<Record> {
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
            withheld: _,
        } = self;
        let (body, payload) = codec::encode(body)?;
        let (full, full_payload) = full.map(codec::encode).transpose()?.unzip();
        let header = Header {
            created: now,
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
            began: began.filter(|began| *began < now),
        };
        Ok(Record { payload, head: Head::new(header, now), full: full_payload })
    }
}
