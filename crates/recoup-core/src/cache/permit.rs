//! The permit to fill an entry. It remembers the sources as they were before
//! the work, and refuses a result whose sources changed meanwhile.

use std::fmt;

use super::outcome::Reason;
use super::sources::{Since, Watched};
use super::{Cache, Ttl, admit};
use crate::entry::Draft;
use crate::error::Result;
use crate::key::Id;
use crate::store::{Evicted, EvictionPlan};

/// Permission to fill one entry, once.
#[derive(Debug)]
#[must_use = "a permit that is dropped leaves the entry missing"]
pub struct Permit {
    cache: Cache,
    id: Id,
    watched: Watched,
}

/// What became of a result.
#[derive(Debug)]
#[must_use = "a result that was not stored is paid for again"]
pub enum Filled {
    /// It is in the store; others may have given way.
    Stored(Evicted),
    /// Nothing was stored, for this reason.
    Refused(Refusal),
    /// Nothing was stored, because the TTL or the cache is off.
    Off,
}

/// Why a result is not kept.
#[derive(Debug)]
pub enum Refusal {
    /// A source changed during the work: the result may be about either state.
    SourceChanged(Reason),
    /// The sources are not those of the token, or not in that state.
    SourcesDiffer,
    /// It holds a secret, by this rule.
    Secret(&'static str),
    /// It would take more than all the room there is.
    TooLarge {
        /// What it would take, in bytes.
        bytes: u64,
        /// What there is.
        limit: u64,
    },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceChanged(reason) => write!(f, "{reason} since the work began"),
            Self::SourcesDiffer => f.write_str(
                "its sources are not those that the token was given out for, or have changed since",
            ),
            Self::Secret(rule) => {
                write!(f, "Secret patterns detected in content - refusing to cache ({rule})")
            }
            Self::TooLarge { bytes, limit } => {
                write!(f, "it takes {bytes} bytes, more than the limit of {limit}")
            }
        }
    }
}

impl Permit {
    pub(super) fn new(cache: Cache, id: Id, watched: Watched) -> Self {
        Self { cache, id, watched }
    }

    /// The entry that it is for.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The same permit, if the sources are still as they were at `since`.
    pub fn since(self, since: &Since) -> Result<Self, Refusal> {
        if since.is_after(self.cache.clock().now()) {
            return Err(Refusal::SourcesDiffer);
        }
        match self.watched.changed_since(since) {
            None => Ok(self),
            Some(refusal) => Err(refusal),
        }
    }

    /// Stores the result for as long as `ttl` says.
    pub fn fill(self, draft: Draft, ttl: Ttl) -> Result<Filled> {
        let Self { cache, id, watched } = self;
        if !cache.inner.options.enabled || ttl == Ttl::Off {
            return Ok(Filled::Off);
        }
        if let Some(reason) = watched.changed(cache.inner.options.freshness) {
            return Ok(Filled::Refused(Refusal::SourceChanged(reason)));
        }
        if let Some(rule) = admit::secret_in(&id, &draft)? {
            return Ok(Filled::Refused(Refusal::Secret(rule)));
        }
        let now = cache.clock().now();
        let parts = admit::without_secrets(draft.parts);
        let draft = Draft { ttl: ttl.as_millis(), parts, ..draft };
        let kind = draft.kind;
        let record = draft.seal(watched.into_sources(), now)?;
        let limits = cache.inner.options.limits;
        // As stores count it: what passes here must not be evicted for its own size.
        let header = &record.head.header;
        let bytes = header.stored_len() + header.to_json().len() as u64;
        if let Some(limit) = limits.max_bytes.filter(|limit| bytes > *limit) {
            return Ok(Filled::Refused(Refusal::TooLarge { bytes, limit }));
        }
        cache.store().put(&id, &record)?;
        // Before the eviction, which goes by who was used.
        cache.fold_ledger_if_due();
        let plan = EvictionPlan { keep: Some(id.key), ..limits.plan(&id.scope, kind, now) };
        cache.store().evict(&plan).map(Filled::Stored)
    }
}
