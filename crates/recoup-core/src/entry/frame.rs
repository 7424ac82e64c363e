//! Large bodies, as they are stored: frames of at most one chunk, each behind a
//! digest of its own, so that a reader can pass on what it has verified without
//! having seen the end.
//!
//! ```text
//! frame  = digest (32 bytes) , data (1 to CHUNK_LEN bytes)
//! digest = SHA-256(SHA-256 of the whole body , index as u64 little endian , data)
//! ```
//! The index keeps frames from changing places unnoticed, and the body's digest
//! from ending up in another entry.

use std::sync::Arc;

use super::body::ChunkSource;
use crate::base::digest::{Sha256Digest, Sha256Hasher};
use crate::error::{Error, ErrorKind, Result};

/// The most data that one frame holds.
pub const CHUNK_LEN: usize = 1 << 20;

/// Plain chunks of any size, read as frames.
#[derive(Debug)]
pub(super) struct FramedChunks<C> {
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
pub(super) struct UnframedChunks {
    pub(super) frames: Arc<dyn ChunkSource>,
    pub(super) raw_len: u64,
    pub(super) sha256: Sha256Digest,
}

impl ChunkSource for UnframedChunks {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut index, mut seen) = (0, 0);
        self.frames.for_each_chunk(&mut |frame| {
            let data = verify_frame(self.sha256, index, frame)?;
            index += 1;
            seen += data.len() as u64;
            if seen > self.raw_len {
                return Err(damaged_body_error("it is longer than its header says"));
            }
            visit(data)
        })?;
        if seen == self.raw_len { Ok(()) } else { Err(damaged_body_error("its end is missing")) }
    }
}

fn verify_frame(body: Sha256Digest, index: u64, frame: &[u8]) -> Result<&[u8]> {
    let (digest, data) = frame
        .split_first_chunk::<{ Sha256Digest::LEN }>()
        .ok_or_else(|| damaged_body_error("a chunk is too short"))?;
    if frame_digest(body, index, data).as_bytes() == digest {
        Ok(data)
    } else {
        Err(damaged_body_error("a chunk fails its checksum"))
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
