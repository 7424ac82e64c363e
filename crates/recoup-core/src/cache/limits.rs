//! Size limits. They apply per kind and scope, so that neither a kind nor a project evicts the
//! entries of another.

use crate::base::clock::Timestamp;
use crate::key::{Kind, Scope};
use crate::store::EvictionPlan;

/// Limits for the entries of one kind in one scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheLimits {
    /// Number of entries; `None` for no limit.
    pub max_entries: Option<u64>,
    /// Bytes as stored; `None` for no limit.
    pub max_bytes: Option<u64>,
}

/// 100 MB, as in contract 1.
impl Default for CacheLimits {
    fn default() -> Self {
        Self { max_entries: None, max_bytes: Some(100 << 20) }
    }
}

impl CacheLimits {
    /// The eviction that enforces these limits.
    pub(super) fn eviction_plan(self, scope: &Scope, kind: Kind, now: Timestamp) -> EvictionPlan {
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
