//! The short name of a project, as stores and file names carry it.
//!
//! Ids are durable: a change to what is hashed here, or to how a remote is
//! normalised, cuts people off from the entries they have.

use std::fmt;
use std::sync::Arc;

use super::ProjectOrigin;
use crate::base::digest::{Sha256Digest, encode_hex};
use crate::error::{Error, Result};

/// Half a SHA-256: short, and without accidental collisions.
const BYTES: usize = 16;

/// 32 lower-case hexadecimal digits that stand for a project.
///
/// Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProjectId(Arc<str>);

impl ProjectId {
    /// Checks `text`, which is not repeated in the error: it may be a URL with a password.
    pub fn parse(text: &str) -> Result<Self> {
        let digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == BYTES * 2 && text.bytes().all(digit) {
            return Ok(Self(text.into()));
        }
        Err(Error::usage("invalid project id: expected 32 digits of 0-9 a-f"))
    }

    /// Hashes the kind too, so that a folder never passes for a remote.
    pub(super) fn of(origin: &ProjectOrigin) -> Self {
        let (kind, name) = match origin {
            ProjectOrigin::Remote(remote) => ("remote", remote.as_bytes()),
            ProjectOrigin::GitDir(path) => ("gitdir", path.as_os_str().as_encoded_bytes()),
            ProjectOrigin::Folder(path) => ("folder", path.as_os_str().as_encoded_bytes()),
        };
        let digest = Sha256Digest::of(&[kind.as_bytes(), b"\0", name].concat());
        Self(encode_hex(&digest.as_bytes()[..BYTES]).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
