//! The team's store: a Redis or Valkey server, or a cluster of them.
//!
//! A record is a hash, so that its head is read without its body; it expires on the server by
//! itself. Every call has a deadline: a server that misses it causes an error, never a long wait.

mod claims;
mod connection;
mod fold;
mod pool;
mod read;
mod scripts;
mod write;

use std::sync::Arc;
use std::time::Duration;

use redis::Value;

use super::plan::{clear_by_scan, scan_refined};
use super::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo, nearest,
};
use crate::base::clock::Stopwatch;
use crate::entry::{EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::Result;
use crate::key::{EntryId, Kind, Scope};
use scripts::RedisKeys;

pub use super::redis_target::RedisTarget;
pub use claims::RedisClaims;
pub(crate) use pool::RedisPool;
pub(crate) use scripts::eval;

/// Records on a Redis server.
#[derive(Debug)]
pub struct RedisStore {
    shared: Arc<RedisShared>,
}

/// State shared with the readers of large bodies.
#[derive(Debug)]
struct RedisShared {
    pool: RedisPool,
    keys: RedisKeys,
}

impl RedisStore {
    /// The store at `target`. No connection is made before the first use.
    pub fn at(target: RedisTarget) -> Self {
        let keys = RedisKeys::new(&target.prefix);
        Self { shared: Arc::new(RedisShared { pool: RedisPool::new(target), keys }) }
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
        scan_refined(filter, visit, |filter, visit| read::scan(&self.shared, filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        write::evict(&self.shared, plan)
    }

    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        nearest::nearest_by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        read::usage(&self.shared, scope)
    }

    fn info(&self) -> StoreInfo {
        StoreInfo { url: self.shared.pool.target().to_string(), durable: true, keeps_stale: true }
    }
}

/// A server's description of itself, and its response time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedisServerInfo {
    /// `redis`, or the name of a compatible product.
    pub product: String,
    /// Its version, if we are permitted to ask.
    pub version: Option<String>,
    /// Number of cluster nodes that hold keys; 1 for a single server.
    pub nodes: usize,
    /// True for a replica, which refuses writes.
    pub is_replica: bool,
    /// Response time over an established connection.
    pub took: Duration,
}

impl RedisStore {
    /// Asks the server for its description. Writes nothing, and bypasses the circuit breaker.
    pub fn server_info(&self) -> Result<RedisServerInfo> {
        const DOING: &str = "cannot query the server's version";
        let pool = &self.shared.pool;
        let nodes = pool.with_connection(DOING, |connection, _| connection.primaries())?;
        let count = nodes.len().max(1);
        let node = nodes.into_iter().next().unwrap_or_default();
        let (took, said) = pool.with_connection(DOING, move |connection, deadline| {
            let watch = Stopwatch::start();
            connection.run_at(&node, &redis::cmd("PING"), deadline)?;
            // Not every user may run INFO.
            let said =
                connection.run_at(&node, &redis::cmd("INFO"), deadline).unwrap_or(Value::Nil);
            Ok((watch.elapsed(), said))
        })?;
        let text: String = redis::from_redis_value_ref(&said).unwrap_or_default();
        let field = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = lines.find(|(found, _)| *found == name)?;
            Some(value.trim().to_owned())
        };
        let product = field("server_name").unwrap_or_else(|| "redis".to_owned());
        let version = field(&format!("{product}_version")).or_else(|| field("redis_version"));
        let is_replica = field("role").is_some_and(|role| role == "slave");
        Ok(RedisServerInfo { product, version, nodes: count, is_replica, took })
    }
}
