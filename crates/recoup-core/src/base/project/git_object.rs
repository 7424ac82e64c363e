//! Ids that git has for contents of files.

use sha1::{Digest as _, Sha1};

use crate::base::digest::Sha256Hasher;

/// Id of an object; in a repository of SHA-1, zeros follow its twenty bytes.
pub(crate) type ObjectId = [u8; 32];

/// Hashes the contents of a file as git would to store them.
#[derive(Debug)]
pub(crate) enum BlobHasher {
    Sha1(Sha1),
    Sha256(Sha256Hasher),
}

impl BlobHasher {
    /// For a file of `size` bytes, in a repository whose ids have `object_len` bytes.
    pub(crate) fn new(object_len: usize, size: u64) -> Self {
        let mut hasher = match object_len {
            32 => Self::Sha256(Sha256Hasher::new()),
            _ => Self::Sha1(Sha1::new()),
        };
        hasher.update(format!("blob {size}\0").as_bytes());
        hasher
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(hasher) => hasher.update(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    pub(crate) fn finish(self) -> ObjectId {
        match self {
            Self::Sha1(hasher) => {
                let mut id = [0; 32];
                id[..20].copy_from_slice(&hasher.finalize());
                id
            }
            Self::Sha256(hasher) => *hasher.finish().as_bytes(),
        }
    }
}
