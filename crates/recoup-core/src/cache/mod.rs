//! Policy, in one place above the stores: what is fresh, what may be kept, and
//! who may fill what is missing.
//!
//! A look-up ends in an [`Outcome`]. On a miss that is a [`Permit`], and the
//! only way into the store is to fill it.

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

/// What a cache does by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Off: every look-up is a bypass, and nothing is stored.
    pub enabled: bool,
    /// What may stay, for each kind within a scope.
    pub limits: Limits,
    /// What counts as a change of a source.
    pub freshness: Freshness,
    /// How much may be watched for one entry.
    pub sources: SourceLimits,
    /// How long a caller waits for another who works on the same entry; then it
    /// works by itself.
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

/// What a cache is made of.
#[derive(Debug)]
pub struct Parts {
    /// Where entries are kept.
    pub store: Arc<dyn Store>,
    /// What freshness is judged by.
    pub clock: Arc<dyn Clock>,
    /// Where reads are noted; none where nobody counts them.
    pub ledger: Option<Ledger>,
    /// Who works, of all who miss the same entry.
    pub claims: Arc<dyn Claims>,
    /// What it does by default.
    pub options: Options,
}

impl Cache {
    /// A cache over `store` with the machine's clock, which counts nothing. Who works
    /// is settled among its own callers, not with other processes.
    pub fn new(store: Arc<dyn Store>, options: Options) -> Self {
        let (clock, claims) = (Arc::new(SystemClock), Arc::new(ThreadClaims::default()));
        Self::assemble(Parts { store, clock, ledger: None, claims, options })
    }

    /// A cache of these parts.
    pub fn assemble(parts: Parts) -> Self {
        Self { inner: Arc::new(parts) }
    }

    /// The store beneath, for this module alone: policy is not passed by.
    pub(crate) fn store(&self) -> &dyn Store {
        &*self.inner.store
    }

    fn claims(&self) -> &dyn Claims {
        &*self.inner.claims
    }

    /// The clock that freshness is judged by.
    pub fn clock(&self) -> &dyn Clock {
        &*self.inner.clock
    }

    /// What is known about an entry, whether it could be served or not.
    pub fn head(&self, id: &Id) -> Result<Option<Head>> {
        Ok(self.store().get(id)?.map(|record| record.head.clone()))
    }

    /// Removes an entry; says whether it was there.
    pub fn remove(&self, id: &Id) -> Result<bool> {
        let kind = self.head(id).ok().flatten().map(|head| head.header.kind);
        let removed = self.store().remove(std::slice::from_ref(id))? > 0;
        if let Some(kind) = kind.filter(|_| removed) {
            self.note_gone(kind, std::slice::from_ref(id), Happening::Deleted);
        }
        Ok(removed)
    }

    /// Removes everything that a scope holds when this begins; says how much that was.
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

    /// Shows the head of each entry in a scope.
    pub fn scan(&self, scope: &Scope, visit: &mut Visit<'_>) -> Result<()> {
        self.store().scan(&Filter::of_scope(scope), visit)
    }

    /// Shows the head of each entry that a filter lets through.
    pub fn scan_filtered(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.store().scan(filter, visit)
    }

    /// How much a scope holds.
    pub fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.store().usage(scope)
    }

    /// What the store is.
    pub fn info(&self) -> Info {
        self.store().info()
    }
}
