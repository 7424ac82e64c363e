//! Entries in stores, with the payload in its stored form, and as callers get them, with the body
//! opened.

use std::sync::Arc;

use bytes::Bytes;

use super::body::{Body, ChunkSource};
use super::codec::{self, BodyDamage};
use super::frame::UnframedChunks;
use super::header::{BodyInfo, Header};
use crate::base::clock::Timestamp;
use crate::error::{Error, ErrorKind, Result};

/// A header, with the usage of the entry since it was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[repr(C)]
pub struct EntryHead {
    /// The header as it was sealed.
    pub header: Header,
    /// Time at which this store received it; a tier in front ages by this.
    pub stored_at: Timestamp,
    /// Number of hits, as far as the ledger has been folded in.
    pub hits: u64,
    /// Time of the last hit, or of storing.
    pub last_used: Timestamp,
}

impl EntryHead {
    /// The head of an entry that arrives now.
    pub fn new(header: Header, now: Timestamp) -> Self {
        Self { header, stored_at: now, hits: 0, last_used: now }
    }
}

/// The body in its stored form.
#[derive(Debug, Clone)]
pub enum StoredBody {
    /// In one piece, as the header's encoding says; not yet verified.
    Inline(Bytes),
    /// In frames; each is verified as it is read.
    Framed(Arc<dyn ChunkSource>),
    /// In one piece and plain, from a store that keeps text as it is; not yet verified.
    Plain(Bytes),
    /// Already opened and verified by this process: what the memory tier keeps.
    Opened(Body),
}

impl StoredBody {
    /// The plain body, decoded as `info` says and verified.
    pub fn open(&self, info: &BodyInfo) -> Result<Body, BodyDamage> {
        match self {
            Self::Opened(body) => Ok(body.clone()),
            Self::Inline(stored) => codec::decode_body(info, stored).map(Body::Whole),
            Self::Plain(plain) => codec::verify_body(info, plain.clone()).map(Body::Whole),
            Self::Framed(frames) => {
                let (frames, raw_len, sha256) = (Arc::clone(frames), info.raw_len, info.sha256);
                Ok(Body::Large(Arc::new(UnframedChunks { frames, raw_len, sha256 })))
            }
        }
    }

    /// The plain bytes in one piece, verified, whatever their number.
    pub fn to_plain(&self, info: &BodyInfo) -> Result<Bytes> {
        let body = self.open(info).map_err(|damage| {
            Error::new(ErrorKind::Corrupt, format!("the stored body is damaged: {damage}"))
        })?;
        body.to_bytes()
    }

    /// True if it has the form that the header's encoding says.
    fn is_sealed(&self) -> bool {
        matches!(self, Self::Inline(_) | Self::Framed(_))
    }
}

/// An entry on its way into or out of a store.
///
/// Laid out in this order: a hit in memory looks at the payload and at the
/// first fields of the header, and finds them side by side.
#[derive(Debug, Clone)]
#[repr(C)]
pub struct EntryRecord {
    /// Its body.
    pub payload: StoredBody,
    /// Header and usage.
    pub head: EntryHead,
    /// The full result on its way into a store, which keeps it apart: it is read
    /// by itself, with [`StoredBody::open`].
    pub full: Option<StoredBody>,
}

/// A record whose body is verified, or is verified chunk by chunk while it is
/// read. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Entry {
    record: Arc<EntryRecord>,
    /// The plain body, where the record does not have it already.
    decoded: Option<Body>,
}

impl Entry {
    /// Header and usage.
    pub fn head(&self) -> &EntryHead {
        &self.record.head
    }

    /// Loads the whole body into memory and verifies it.
    pub fn load_body(mut self) -> Result<Self> {
        if let Body::Large(_) = self.body() {
            self.decoded = Some(Body::Whole(self.body().to_bytes()?));
        }
        Ok(self)
    }

    /// Its plain body.
    pub fn body(&self) -> &Body {
        match (&self.decoded, &self.record.payload) {
            (Some(body), _) | (None, StoredBody::Opened(body)) => body,
            (None, _) => unreachable!("`open` decodes what is not opened"),
        }
    }
}

impl EntryRecord {
    /// Decodes and verifies the body.
    pub fn open(self: Arc<Self>) -> Result<Entry, BodyDamage> {
        let decoded = match &self.payload {
            StoredBody::Opened(_) => None,
            stored => Some(stored.open(&self.head.header.body)?),
        };
        Ok(Entry { record: self, decoded })
    }

    /// True if everything has the form that the header says.
    pub fn is_sealed(&self) -> bool {
        self.payload.is_sealed() && self.full.as_ref().is_none_or(StoredBody::is_sealed)
    }

    /// Returns the record with everything in the form that the header says.
    pub fn to_sealed(&self) -> Result<Self> {
        let mut sealed = self.clone();
        let header = &self.head.header;
        if !self.payload.is_sealed() {
            (sealed.head.header.body, sealed.payload) = reseal(&self.payload, &header.body)?;
        }
        if let (Some(full), Some(info)) = (&self.full, &header.full)
            && !full.is_sealed()
        {
            let (info, payload) = reseal(full, info)?;
            (sealed.head.header.full, sealed.full) = (Some(info), Some(payload));
        }
        Ok(sealed)
    }
}

/// Opens the payload first, so that a damaged one is not sealed anew.
fn reseal(payload: &StoredBody, info: &BodyInfo) -> Result<(BodyInfo, StoredBody)> {
    match payload {
        StoredBody::Opened(body) => codec::encode_body(body.clone()),
        other => codec::encode_body(Body::Whole(other.to_plain(info)?)),
    }
}
