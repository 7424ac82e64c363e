//! How much may stay: counted for each kind within a scope, so that neither a
//! kind nor a project evicts another's.

use crate::base::clock::Timestamp;
use crate::key::{Kind, Scope};
use crate::store::EvictionPlan;

/// The most that may stay of one kind in one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Entries; none is as many as there are.
    pub max_entries: Option<u64>,
    /// Bytes as stored; none is as many as there are.
    pub max_bytes: Option<u64>,
}

/// 100 MB, as contract 1 has it.
impl Default for Limits {
    fn default() -> Self {
        Self { max_entries: None, max_bytes: Some(100 << 20) }
    }
}

impl Limits {
    /// What a store must do to keep them.
    pub(super) fn plan(self, scope: &Scope, kind: Kind, now: Timestamp) -> EvictionPlan {
        let Self { max_entries, max_bytes } = self;
        EvictionPlan {
            now,
            scope: scope.clone(),
            kind,
            keep: None,
            max_entries,
            max_bytes,
            thorough: false,
        }
    }
}
