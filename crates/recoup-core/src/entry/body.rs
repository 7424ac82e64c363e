//! A body as callers see it: the bytes, or a way to read them in chunks when
//! they are too many to hold.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::Result;

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
