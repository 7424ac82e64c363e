//! Cache policy above the stores: freshness, what may be stored, and who may fill a missing entry.
//!
//! A look-up ends in an [`Outcome`]. On a miss it carries a [`Permit`], the only way into the
//! store.

mod admit;
mod compute;
mod explain;
mod flight;
mod housekeeping;
mod limits;
mod lookup;
mod named;
mod note;
mod outcome;
mod permit;
mod sources;
mod stats;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::base::clock::{Clock, SystemClock};
use crate::entry::{Happening, Head};
use crate::error::Result;
use crate::key::{Id, Kind, Scope};
use crate::ledger::Ledger;
use crate::store::{Claims, Evicted, Filter, Info, Store, ThreadClaims, Usage, Visit};

pub use crate::base::ttl::Ttl;
pub use crate::store::Selection;
pub use compute::{Computed, How};
pub use explain::{
    Cause, Difference, Differs, Explanation, Nearest, RuleChanges, Side, Verdict, WordPlace,
    Wording,
};
pub use flight::Patience;
pub use limits::Limits;
pub use lookup::{Mode, Request};
pub use named::{Named, Naming, joined, listed};
pub use outcome::{Outcome, Peek, Reason};
pub use permit::{Filled, Permit, Refusal};
pub use sources::{Change, Changed, Freshness, Since, SourceLimits, View, Watched};
pub use stats::Stats;
pub use verify::{Damaged, Verified};

/// A cache over a store. Clones share everything.
#[derive(Debug, Clone)]
pub struct Cache {
    inner: Arc<Parts>,
}

/// Default behaviour of a [`Cache`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// If false, every look-up is a bypass and nothing is stored.
    pub enabled: bool,
    /// Limits per kind and scope.
    pub limits: Limits,
    /// How changes of source files are detected.
    pub freshness: Freshness,
    /// Limits on the sources of one entry.
    pub sources: SourceLimits,
    /// How long a caller waits for another one that computes the same entry, before it computes the
    /// entry itself.
    pub wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            enabled: true,
            limits: Limits::default(),
            freshness: Freshness::default(),
            sources: SourceLimits::default(),
            wait: Duration::from_mins(5),
        }
    }
}

/// The parts that a [`Cache`] is built from.
#[derive(Debug)]
pub struct Parts {
    /// The store of the entries.
    pub store: Arc<dyn Store>,
    /// The clock that decides freshness.
    pub clock: Arc<dyn Clock>,
    /// Records hits and misses; `None` disables the statistics.
    pub ledger: Option<Ledger>,
    /// Elects one of the callers that miss the same entry.
    pub claims: Arc<dyn Claims>,
    /// Default behaviour.
    pub options: Options,
}

impl Cache {
    /// A cache over `store` with the system clock and without a ledger. Single-flight covers only
    /// the callers of this cache, not other processes.
    pub fn new(store: Arc<dyn Store>, options: Options) -> Self {
        let (clock, claims) = (Arc::new(SystemClock), Arc::new(ThreadClaims::default()));
        Self::assemble(Parts { store, clock, ledger: None, claims, options })
    }

    /// Builds a cache from its parts.
    pub fn assemble(parts: Parts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// The store beneath. Not public: callers must not bypass the policy.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    fn claims(&self) -> &dyn Claims {
        &*self.inner.claims
    }

    /// The clock that decides freshness.
    pub fn clock(&self) -> &dyn Clock {
        &*self.inner.clock
    }

    /// The head of an entry, even if the entry could not be served.
    pub fn head(&self, id: &Id) -> Result<Option<Head>> {
        Ok(self.store().get(id)?.map(|record| record.head.clone()))
    }

    /// Removes an entry. Returns true if it existed.
    pub fn remove(&self, id: &Id) -> Result<bool> {
        let kind = self.head(id).ok().flatten().map(|head| head.header.kind);
        let removed = self.store().remove(std::slice::from_ref(id))? > 0;
        if let Some(kind) = kind.filter(|_| removed) {
            self.note_gone(kind, std::slice::from_ref(id), Happening::Deleted);
        }
        Ok(removed)
    }

    /// Removes every entry that a scope holds at the start of the call, and returns their number.
    pub fn clear(&self, scope: &Scope) -> Result<usize> {
        let mut named = BTreeMap::<Kind, Vec<Id>>::new();
        let removed = self.store().clear(scope, &mut |id, kind| {
            let ids = named.entry(kind).or_default();
            if ids.len() < Evicted::NAMED {
                ids.push(id);
            }
        })?;
        for (kind, ids) in named {
            self.note_gone(kind, &ids, Happening::Deleted);
        }
        Ok(removed)
    }

    /// Calls `visit` with the head of each entry in a scope.
    pub fn scan(&self, scope: &Scope, visit: &mut Visit<'_>) -> Result<()> {
        self.store().scan(&Filter::of_scope(scope), visit)
    }

    /// Calls `visit` with the head of each entry that matches the filter.
    pub fn scan_filtered(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.store().scan(filter, visit)
    }

    /// Number and size of the entries in a scope.
    pub fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.store().usage(scope)
    }

    /// Description of the store.
    pub fn info(&self) -> Info {
        self.store().info()
    }
}
