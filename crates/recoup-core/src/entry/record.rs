//! Entries in stores, with the payload in its stored form, and as callers get them, with the body
//! opened: gzip for what is small, frames for what is large, and no byte given out that has not
//! passed its checksum.
//!
//! ```text
//! frame  = digest (32 bytes) , data (1 to CHUNK_LEN bytes)
//! digest = SHA-256(SHA-256 of the whole body , index as u64 little endian , data)
//! ```
//! A frame has a digest of its own, so that a reader can pass on what it has verified without having
//! seen the end. The index keeps frames from changing places unnoticed, and the body's digest from
//! ending up in another entry.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::INLINE_MAX;
use super::header::{BodyEncoding, BodyInfo, Header};
use crate::base::clock::Timestamp;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::error::{Error, ErrorKind, Result};

/// The most data that one frame holds.
pub const CHUNK_LEN: usize = 1 << 20;

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
    pub(crate) fn new(header: Header, now: Timestamp) -> Self {
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
            Self::Inline(stored) => {
                let plain = match info.encoding {
                    BodyEncoding::Plain => stored.clone(),
                    BodyEncoding::Gzip => {
                        // The header's length is only a claim: nothing above `INLINE_MAX` was ever
                        // compressed, and no more than that is inflated or allocated.
                        let claimed = usize::try_from(info.raw_len).unwrap_or(usize::MAX);
                        if claimed > INLINE_MAX {
                            return Err(BodyDamage::Unreadable);
                        }
                        let mut plain = Vec::with_capacity(claimed);
                        let read = GzDecoder::new(&stored[..])
                            .take(claimed as u64 + 1)
                            .read_to_end(&mut plain);
                        read.map_err(|_| BodyDamage::Unreadable)?;
                        plain.into()
                    }
                    BodyEncoding::Framed => return Err(BodyDamage::Unreadable),
                };
                verify_body(info, plain).map(Body::Whole)
            }
            Self::Plain(plain) => verify_body(info, plain.clone()).map(Body::Whole),
            Self::Framed(frames) => {
                let (frames, raw_len, sha256) = (Arc::clone(frames), info.raw_len, info.sha256);
                Ok(Body::Large(Arc::new(UnframedChunks { frames, raw_len, sha256 })))
            }
        }
    }

    /// The plain bytes in one piece, verified, whatever their number.
    pub(crate) fn to_plain(&self, info: &BodyInfo) -> Result<Bytes> {
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
    pub(crate) fn load_body(mut self) -> Result<Self> {
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
    pub(crate) fn is_sealed(&self) -> bool {
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
        StoredBody::Opened(body) => encode_body(body.clone()),
        other => encode_body(Body::Whole(other.to_plain(info)?)),
    }
}

/// Bytes that are read in chunks, each time from the start.
pub trait ChunkSource: Send + Sync + fmt::Debug {
    /// Calls `visit` with each chunk in order, and stops at its first error.
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
}

/// The plain bytes of an entry.
#[derive(Debug, Clone)]
pub enum Body {
    /// All of it, in memory.
    Whole(Bytes),
    /// To be read in chunks.
    Large(Arc<dyn ChunkSource>),
}

impl Body {
    /// All bytes in one piece, whatever their number.
    pub fn to_bytes(&self) -> Result<Bytes> {
        match self {
            Self::Whole(bytes) => Ok(bytes.clone()),
            Self::Large(chunks) => {
                let mut all = Vec::new();
                chunks.for_each_chunk(&mut |chunk| {
                    all.extend_from_slice(chunk);
                    Ok(())
                })?;
                Ok(all.into())
            }
        }
    }
}

/// A body in memory has one chunk.
impl ChunkSource for Body {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Self::Whole(bytes) => visit(bytes),
            Self::Large(chunks) => chunks.for_each_chunk(visit),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self::Whole(bytes.into())
    }
}

/// Reason why a stored body can't be served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyDamage {
    /// The bytes are not those that were stored.
    Mismatch,
    /// The bytes can't be decoded at all.
    Unreadable,
}

impl fmt::Display for BodyDamage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mismatch => "the body does not match its checksum",
            Self::Unreadable => "the body can't be decoded",
        })
    }
}

pub(super) fn encode_body(body: Body) -> Result<(BodyInfo, StoredBody)> {
    if let Body::Whole(bytes) = &body
        && bytes.len() <= INLINE_MAX
    {
        let (encoding, stored) = match gzip(bytes) {
            Some(packed) if packed.len() < bytes.len() => (BodyEncoding::Gzip, packed.into()),
            _ => (BodyEncoding::Plain, bytes.clone()),
        };
        let info = BodyInfo {
            encoding,
            raw_len: bytes.len() as u64,
            stored_len: stored.len() as u64,
            sha256: Sha256Digest::of(bytes),
        };
        return Ok((info, StoredBody::Inline(stored)));
    }
    // One pass for length and digest, which the header needs before the first frame is written; the
    // frames themselves are made while they are read.
    let (mut hasher, mut raw_len) = (Sha256Hasher::new(), 0u64);
    body.for_each_chunk(&mut |chunk| {
        hasher.update(chunk);
        raw_len += chunk.len() as u64;
        Ok(())
    })?;
    let (frames, sha256) = (raw_len.div_ceil(CHUNK_LEN as u64), hasher.finish());
    let info = BodyInfo {
        encoding: BodyEncoding::Framed,
        raw_len,
        stored_len: raw_len + frames * Sha256Digest::LEN as u64,
        sha256,
    };
    Ok((info, StoredBody::Framed(Arc::new(FramedChunks { body, sha256 }))))
}

/// `None` where compression itself fails; the body is then kept plain.
fn gzip(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).ok()?;
    encoder.finish().ok()
}

/// Returns the bytes if they match the header's length and digest.
fn verify_body(info: &BodyInfo, plain: Bytes) -> Result<Bytes, BodyDamage> {
    if plain.len() as u64 == info.raw_len && Sha256Digest::of(&plain) == info.sha256 {
        Ok(plain)
    } else {
        Err(BodyDamage::Mismatch)
    }
}

/// Plain chunks of any size, read as frames.
#[derive(Debug)]
struct FramedChunks<C> {
    pub(super) body: C,
    pub(super) sha256: Sha256Digest,
}

impl<C: ChunkSource> ChunkSource for FramedChunks<C> {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let mut frame = FrameWriter { body: self.sha256, index: 0, frame: Vec::new(), visit };
        self.body.for_each_chunk(&mut |chunk| frame.push(chunk))?;
        frame.flush()
    }
}

struct FrameWriter<'a> {
    /// The digest of the whole body.
    body: Sha256Digest,
    index: u64,
    /// Room for the digest, then the data so far; empty before the first byte.
    frame: Vec<u8>,
    visit: &'a mut dyn FnMut(&[u8]) -> Result<()>,
}

impl FrameWriter<'_> {
    fn push(&mut self, mut chunk: &[u8]) -> Result<()> {
        while !chunk.is_empty() {
            if self.frame.is_empty() {
                self.frame.resize(Sha256Digest::LEN, 0);
            }
            let room = Sha256Digest::LEN + CHUNK_LEN - self.frame.len();
            let (now, later) = chunk.split_at(room.min(chunk.len()));
            self.frame.extend_from_slice(now);
            chunk = later;
            if self.frame.len() == Sha256Digest::LEN + CHUNK_LEN {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        if self.frame.is_empty() {
            return Ok(());
        }
        let digest = frame_digest(self.body, self.index, &self.frame[Sha256Digest::LEN..]);
        self.frame[..Sha256Digest::LEN].copy_from_slice(digest.as_bytes());
        (self.visit)(&self.frame)?;
        self.index += 1;
        self.frame.clear();
        Ok(())
    }
}

/// Stored frames, read as plain chunks; each is verified before it is given out.
#[derive(Debug)]
struct UnframedChunks {
    pub(super) frames: Arc<dyn ChunkSource>,
    pub(super) raw_len: u64,
    pub(super) sha256: Sha256Digest,
}

impl ChunkSource for UnframedChunks {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut index, mut seen) = (0, 0);
        self.frames.for_each_chunk(&mut |frame| {
            let (digest, data) = frame
                .split_first_chunk::<{ Sha256Digest::LEN }>()
                .ok_or_else(|| damaged_body_error("a chunk is too short"))?;
            if frame_digest(self.sha256, index, data).as_bytes() != digest {
                return Err(damaged_body_error("a chunk fails its checksum"));
            }
            index += 1;
            seen += data.len() as u64;
            if seen > self.raw_len {
                return Err(damaged_body_error("longer than its header says"));
            }
            visit(data)
        })?;
        if seen == self.raw_len { Ok(()) } else { Err(damaged_body_error("its end is missing")) }
    }
}

fn frame_digest(body: Sha256Digest, index: u64, data: &[u8]) -> Sha256Digest {
    let mut hasher = Sha256Hasher::new();
    hasher.update(body.as_bytes());
    hasher.update(&index.to_le_bytes());
    hasher.update(data);
    hasher.finish()
}

fn damaged_body_error(how: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the stored body is damaged: {how}"))
}
