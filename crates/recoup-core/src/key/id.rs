//! `Key` and `EntryId`: the same key in two scopes is two entries.

use std::fmt;

use super::Scope;
use crate::base::digest::Sha256Digest;
use crate::base::name::SafeName;
use crate::error::Result;

/// A validated key: most are 64 hex digits, but any name will do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(SafeName);

impl Key {
    /// Validates a key that was typed or stored.
    pub fn parse(text: &str) -> Result<Self> {
        SafeName::parse("key", text).map(Self)
    }

    /// The key that a digest spells.
    pub fn from_digest(digest: Sha256Digest) -> Self {
        Self(SafeName::from_digest(digest))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Identity of an entry in a store.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntryId {
    /// Scope of the entry.
    pub scope: Scope,
    /// Key within the scope.
    pub key: Key,
}

impl EntryId {
    /// `key` in `scope`.
    pub fn new(scope: Scope, key: Key) -> Self {
        Self { scope, key }
    }
}

/// `scope/key`
impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.scope, self.key)
    }
}
