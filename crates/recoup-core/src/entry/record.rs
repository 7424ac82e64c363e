//! What stores move around: a head, and the payload in its stored form; and
//! what callers get: the same with the body opened.

use std::sync::Arc;

use bytes::Bytes;

use super::body::{Body, Chunks};
use super::codec::{self, Damage};
use super::frame::Unframed;
use super::header::{BodyInfo, Header};
use crate::base::clock::Timestamp;
use crate::error::Result;

/// A header with what has happened to the entry since.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(C)]
pub struct Head {
    /// As it was sealed.
    pub header: Header,
    /// When this store received it; a tier in front ages by this.
    pub stored_at: Timestamp,
    /// How often it was served, as far as the ledger has been folded in.
    pub hits: u64,
    /// When it was last served, or stored.
    pub last_used: Timestamp,
}

impl Head {
    /// The head of an entry that arrives now.
    pub fn new(header: Header, now: Timestamp) -> Self {
        Self { header, stored_at: now, hits: 0, last_used: now }
    }
}

/// The body in its stored form.
#[derive(Debug, Clone)]
pub enum Payload {
    /// In one piece, as the header's encoding says; not yet verified.
    Inline(Bytes),
    /// In frames; each is verified as it is read.
    Framed(Arc<dyn Chunks>),
    /// Already opened and verified by this process: what the memory tier keeps.
    Opened(Body),
}

impl Payload {
    /// The plain body, decoded as `info` says and verified.
    pub fn open(&self, info: &BodyInfo) -> Result<Body, Damage> {
        match self {
            Self::Opened(body) => Ok(body.clone()),
            Self::Inline(stored) => codec::decode(info, stored).map(Body::Whole),
            Self::Framed(frames) => {
                let (frames, raw_len, sha256) = (Arc::clone(frames), info.raw_len, info.sha256);
                Ok(Body::Large(Arc::new(Unframed { frames, raw_len, sha256 })))
            }
        }
    }
}

/// An entry on its way into or out of a store.
///
/// Laid out in this order: a hit in memory looks at the payload and at the
/// first fields of the header, and finds them side by side.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct Record {
    /// Its body.
    pub payload: Payload,
    /// What is known about it.
    pub head: Head,
    /// The full result on its way into a store, which keeps it apart: it is read
    /// by itself, with [`Payload::open`].
    pub full: Option<Payload>,
}

/// A record whose body is verified, or is verified chunk by chunk while it is
/// read. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Entry {
    record: Arc<Record>,
    /// The plain body, where the record does not have it already.
    decoded: Option<Body>,
}

impl Entry {
    /// What is known about it.
    pub fn head(&self) -> &Head {
        &self.record.head
    }

    /// The same with its body in memory, all of it verified.
    pub fn whole(mut self) -> Result<Self> {
        if let Body::Large(_) = self.body() {
            self.decoded = Some(Body::Whole(self.body().to_bytes()?));
        }
        Ok(self)
    }

    /// Its plain body.
    pub fn body(&self) -> &Body {
        match (&self.decoded, &self.record.payload) {
            (Some(body), _) | (None, Payload::Opened(body)) => body,
            (None, _) => unreachable!("`open` decodes what is not opened"),
        }
    }
}

impl Record {
    /// Decodes and verifies the body.
    pub fn open(self: Arc<Self>) -> Result<Entry, Damage> {
        let decoded = match &self.payload {
            Payload::Opened(_) => None,
            stored => Some(stored.open(&self.head.header.body)?),
        };
        Ok(Entry { record: self, decoded })
    }

    /// The same record with everything in stored form.
    pub fn sealed(&self) -> Result<Self> {
        let mut sealed = self.clone();
        if let Payload::Opened(body) = &self.payload {
            (sealed.head.header.body, sealed.payload) = codec::encode(body.clone())?;
        }
        if let Some(Payload::Opened(full)) = &self.full {
            let (info, payload) = codec::encode(full.clone())?;
            (sealed.head.header.full, sealed.full) = (Some(info), Some(payload));
        }
        Ok(sealed)
    }
}
