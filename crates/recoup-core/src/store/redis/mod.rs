//! The team's store: a Redis or Valkey server, or a cluster of them.
//!
//! A record is a hash, so that its head is read without its body; it expires on the server by
//! itself. Every call has a deadline: a server that misses it causes an error, never a long wait.

mod claim_renewal;
mod claims;
mod connection;
mod evict;
mod fault;
mod fold;
mod keys;
mod pool;
mod read;
mod scan;
mod scripts;
mod server;
mod single;
mod target;
mod tls;
mod write;

use std::sync::Arc;

use super::plan::{clear_by_scan, scan_refined};
use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo, nearest,
};
use crate::entry::{EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::Result;
use crate::key::{EntryId, Kind, Scope};
use keys::RedisKeys;

pub use claims::RedisClaims;
pub(crate) use pool::RedisPool;
pub(crate) use scripts::eval;
pub use server::RedisServerInfo;
pub use target::RedisTarget;
pub(super) use target::redact_url;

/// Records on a Redis server.
#[derive(Debug)]
pub struct RedisStore {
    shared: Arc<RedisShared>,
}

/// State shared with the readers of large bodies.
#[derive(Debug)]
struct RedisShared {
    line: RedisPool,
    keys: RedisKeys,
}

impl RedisStore {
    /// The store at `target`. No connection is made before the first use.
    pub fn at(target: RedisTarget) -> Self {
        let keys = RedisKeys::new(&target.prefix);
        Self { shared: Arc::new(RedisShared { line: RedisPool::new(target), keys }) }
    }
}

impl Store for RedisStore {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        read::get(&self.shared, id)
    }

    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        read::full(&self.shared, id)
    }

    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        write::put(&self.shared, id, record)
    }

    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        let ids: Vec<_> = ids.iter().map(|id| (id.clone(), None)).collect();
        let removed = write::remove_by(&self.shared, &ids, scripts::REMOVE)?;
        Ok(removed
            .iter()
            .filter(|removed| matches!(removed.outcome, write::RemovalOutcome::Gone(_)))
            .count())
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        fold::fold(&self.shared, batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        fold::tallies(&self.shared, scope)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        scan_refined(filter, visit, |filter, visit| scan::scan(&self.shared, filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        evict::carry_out(&self.shared, plan)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        nearest::nearest_by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        scan::usage(&self.shared, scope)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { url: self.shared.line.target().to_string(), durable: true, keeps_stale: true }
    }
}
