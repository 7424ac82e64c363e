//! Encoding and decoding: gzip for what is small, frames for what is large, and
//! no byte given out that has not passed its checksum.

use std::fmt;
use std::io::{Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use flate2::Compression;
use flate2::bufread::GzDecoder;
use flate2::write::GzEncoder;

use super::INLINE_MAX;
use super::body::{Body, ChunkSource};
use super::frame::{CHUNK_LEN, FramedChunks};
use super::header::{BodyEncoding, BodyInfo};
use super::record::StoredBody;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::error::Result;

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
    match body {
        Body::Whole(bytes) if bytes.len() <= INLINE_MAX => Ok(encode_inline(&bytes)),
        body => encode_framed(body),
    }
}

fn encode_inline(bytes: &Bytes) -> (BodyInfo, StoredBody) {
    let packed = gzip(bytes);
    let (encoding, stored) = match packed {
        Some(packed) if packed.len() < bytes.len() => (BodyEncoding::Gzip, packed.into()),
        _ => (BodyEncoding::Plain, bytes.clone()),
    };
    let info = BodyInfo {
        encoding,
        raw_len: bytes.len() as u64,
        stored_len: stored.len() as u64,
        sha256: Sha256Digest::of(bytes),
    };
    (info, StoredBody::Inline(stored))
}

/// One pass for length and digest, which the header needs before the first
/// frame is written; the frames themselves are made while they are read.
fn encode_framed(body: Body) -> Result<(BodyInfo, StoredBody)> {
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

pub(super) fn decode_body(info: &BodyInfo, stored: &Bytes) -> Result<Bytes, BodyDamage> {
    let plain = match info.encoding {
        BodyEncoding::Plain => stored.clone(),
        BodyEncoding::Gzip => gunzip(info, stored)?.into(),
        BodyEncoding::Framed => return Err(BodyDamage::Unreadable),
    };
    verify_body(info, plain)
}

/// Returns the bytes if they match the header's length and digest.
pub(super) fn verify_body(info: &BodyInfo, plain: Bytes) -> Result<Bytes, BodyDamage> {
    if plain.len() as u64 == info.raw_len && Sha256Digest::of(&plain) == info.sha256 {
        Ok(plain)
    } else {
        Err(BodyDamage::Mismatch)
    }
}

/// The header's length is only a claim: nothing above [`INLINE_MAX`] was ever
/// compressed, and no more than that is inflated or allocated.
fn gunzip(info: &BodyInfo, stored: &[u8]) -> Result<Vec<u8>, BodyDamage> {
    let claimed = usize::try_from(info.raw_len).unwrap_or(usize::MAX);
    if claimed > INLINE_MAX {
        return Err(BodyDamage::Unreadable);
    }
    let mut plain = Vec::with_capacity(claimed);
    let limit = claimed as u64 + 1;
    GzDecoder::new(stored)
        .take(limit)
        .read_to_end(&mut plain)
        .map_err(|_| BodyDamage::Unreadable)?;
    Ok(plain)
}
