//! Cache policy above the stores: freshness, what may be stored, and who may fill a missing entry.
//!
//! A look-up ends in an [`Outcome`]. On a miss it carries a [`Permit`], the only way into the
//! store.

mod admit;
mod compute;
mod explain;
mod housekeeping;
mod ledger_events;
mod limits;
mod lookup;
mod outcome;
mod permit;
mod result_reference;
mod single_flight;
mod sources;
mod stats;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{Clock, SystemClock};
use crate::entry::{EntryEventKind, EntryHead};
use crate::error::Result;
use crate::key::{EntryId, Kind, Scope};
use crate::ledger::Ledger;
use crate::store::{
    ClaimRegistry, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, Store, StoreInfo,
    ThreadClaims,
};

pub use crate::base::ttl::Ttl;
pub use crate::store::EntrySelection;
pub use compute::{ComputedResult, ResultOrigin};
pub use explain::{
    ComparedSide, Differs, LookupExplanation, LookupVerdict, MissCause, NearestEntry,
    PartDifference, RuleChanges, TextDifference, WordPlace,
};
pub use limits::CacheLimits;
pub use lookup::{CacheMode, LookupRequest};
pub use outcome::{MissReason, Outcome, PeekOutcome};
pub use permit::{FillOutcome, FillRefusal, Permit};
pub use result_reference::{ResolvedKey, ResultReference, join_paths, split_path_list};
pub use single_flight::WaitPolicy;
pub use sources::{
    FreshnessCheck, PathContext, SinceToken, SourceChange, SourceChangeKind, SourceLimits,
    WatchedSources,
};
pub use stats::CacheStats;
pub use verify::{DamagedEntry, VerifyFindings};

/// A cache over a store. Clones share everything.
#[derive(Debug, Clone)]
pub struct Cache {
    inner: Arc<CacheParts>,
}

/// Default behaviour of a [`Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheOptions {
    /// If false, every look-up is a bypass and nothing is stored.
    pub enabled: bool,
    /// Limits per kind and scope.
    pub limits: CacheLimits,
    /// How changes of source files are detected.
    pub freshness: FreshnessCheck,
    /// Limits on the sources of one entry.
    pub sources: SourceLimits,
    /// How long a caller waits for another one that computes the same entry, before it computes the
    /// entry itself.
    pub wait: Duration,
}

impl Default for CacheOptions {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: CacheLimits::default(),
            freshness: FreshnessCheck::default(),
            sources: SourceLimits::default(),
            wait: Duration::from_mins(5),
        }
    }
}

/// The parts that a [`Cache`] is built from.
#[derive(Debug)]
pub struct CacheParts {
    /// The store of the entries.
    pub store: Arc<dyn Store>,
    /// The clock that decides freshness.
    pub clock: Arc<dyn Clock>,
    /// Records hits and misses; `None` disables the statistics.
    pub ledger: Option<Ledger>,
    /// Elects one of the callers that miss the same entry.
    pub claims: Arc<dyn ClaimRegistry>,
    /// Default behaviour.
    pub options: CacheOptions,
}

impl Cache {
    /// A cache over `store` with the system clock and without a ledger. Single-flight covers only
    /// the callers of this cache, not other processes.
    pub fn new(store: Arc<dyn Store>, options: CacheOptions) -> Self {
        let (clock, claims) = (Arc::new(SystemClock), Arc::new(ThreadClaims::default()));
        Self::from_parts(CacheParts { store, clock, ledger: None, claims, options })
    }

    /// Builds a cache from its parts.
    pub fn from_parts(parts: CacheParts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// The store beneath. Not public: callers must not bypass the policy.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    fn claims(&self) -> &dyn ClaimRegistry {
        &*self.inner.claims
    }

    /// The clock that decides freshness.
    pub fn clock(&self) -> &dyn Clock {
        &*self.inner.clock
    }

    /// The head of an entry, even if the entry could not be served.
    pub fn head(&self, id: &EntryId) -> Result<Option<EntryHead>> {
        Ok(self.store().get(id)?.map(|record| record.head.clone()))
    }

    /// Removes an entry. Returns true if it existed.
    pub fn remove(&self, id: &EntryId) -> Result<bool> {
        let kind = self.head(id).ok().flatten().map(|head| head.header.kind);
        let removed = self.store().remove(std::slice::from_ref(id))? > 0;
        if let Some(kind) = kind.filter(|_| removed) {
            self.note_gone(kind, std::slice::from_ref(id), EntryEventKind::Deleted);
        }
        Ok(removed)
    }

    /// Removes every entry that a scope holds at the start of the call, and returns their number.
    pub fn clear(&self, scope: &Scope) -> Result<usize> {
        let mut named = BTreeMap::<Kind, Vec<EntryId>>::new();
        let removed = self.store().clear(scope, &mut |id, kind| {
            let ids = named.entry(kind).or_default();
            if ids.len() < EvictionReport::NAMED {
                ids.push(id);
            }
        })?;
        for (kind, ids) in named {
            self.note_gone(kind, &ids, EntryEventKind::Deleted);
        }
        Ok(removed)
    }

    /// Calls `visit` with the head of each entry in a scope.
    pub fn scan(&self, scope: &Scope, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.store().scan(&ScanFilter::of_scope(scope), visit)
    }

    /// Calls `visit` with the head of each entry that matches the filter.
    pub fn scan_filtered(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.store().scan(filter, visit)
    }

    /// Number and size of the entries in a scope.
    pub fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.store().usage(scope)
    }

    /// Description of the store.
    pub fn info(&self) -> StoreInfo {
        self.store().info()
    }
}
