//! What stores are asked for when many records are concerned.

use crate::base::clock::Timestamp;
use crate::key::{Key, Kind, Scope};

/// Which records a scan shows. Empty shows all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only this scope.
    pub scope: Option<Scope>,
    /// Only this kind.
    pub kind: Option<Kind>,
}

/// What must go. Made by policy, carried out by stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvictionPlan {
    /// What was dead by then goes first, in every scope: nobody may come back to
    /// that scope. A store may leave some of it for the next time.
    pub now: Timestamp,
    /// The scope whose limits these are.
    pub scope: Scope,
    /// The kind of records whose limits these are.
    pub kind: Kind,
    /// The record that was just written, and whose turn it is not.
    pub keep: Option<Key>,
    /// The most records that may stay.
    pub max_entries: Option<u64>,
    /// The most bytes (bodies and headers as stored) that may stay.
    pub max_bytes: Option<u64>,
}

impl EvictionPlan {
    /// Whether that much may stay.
    pub(crate) fn allows(&self, entries: u64, bytes: u64) -> bool {
        self.max_entries.is_none_or(|max| entries <= max)
            && self.max_bytes.is_none_or(|max| bytes <= max)
    }
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Records.
    pub entries: u64,
    /// Their bytes, bodies and headers as stored.
    pub bytes: u64,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evicted {
    /// Dead ones.
    pub expired: u64,
    /// Those used least recently.
    pub least_used: u64,
    /// The bytes of both.
    pub bytes: u64,
}
