//! Stores of records: bytes in, bytes out, no policy.
//!
//! One folder or file for each store, one contract suite for all of them
//! (`tests/it/store_contract`). Lifetimes, admission and eviction order are decided above, in
//! `cache/`.

mod claims;
mod dir;
mod file;
mod folder;
mod guarded;
mod memory;
mod nearest;
mod plan;
#[cfg(feature = "redis")]
pub mod redis;
mod redis_target;
pub mod sqlite;
mod tallies;
mod tiered;
mod url;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::entry::{ChunkSource, EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use crate::error::Result;
use crate::key::{EntryId, Kind, Scope};

pub use crate::base::FaultLog;
pub use claims::{Claim, ClaimGuard, ClaimRegistry, FileClaims, ThreadClaims};
pub use dir::DirectoryStore;
pub use file::{FileCache, FileStore};
pub use guarded::{GuardedStore, PausedServer, paused_servers};
pub use memory::InMemoryStore;
pub use nearest::SimilarityProbe;
pub use plan::{
    EntrySelection, EvictedEntry, EvictionCause, EvictionLimit, EvictionPlan, EvictionReport,
    ScanFilter, ScopeUsage,
};
#[cfg(feature = "redis")]
pub use redis::RedisStore;
pub use redis_target::RedisTarget;
pub use sqlite::SqliteStore;
pub use tiered::TieredStore;
pub use url::{StoreContext, StoreUrl, without_credentials};

/// Return value of a [`RecordVisitor`] callback: continue or stop the scan.
pub type ScanFlow = ControlFlow<()>;

/// Callback of a scan, called with each record's head or the error from reading it.
pub type RecordVisitor<'a> = dyn FnMut(&EntryId, Result<&EntryHead>) -> ScanFlow + 'a;

/// A store of records. Every method is required: with defaults, a store in front of another would
/// silently lose one.
///
/// Safe for any number of threads and, where the medium allows it, processes.
pub trait Store: Send + Sync + fmt::Debug {
    /// Returns the record, if there is one. Never writes, and never waits for a writer.
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>>;

    /// Returns the full result of a record that has one. It may be stored once for all records of a
    /// scope and kind that share it, and is removed with the last of them.
    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>>;

    /// Stores the record, replacing any previous one. After the return it survives a crash of the
    /// process.
    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()>;

    /// Removes records, and returns how many existed.
    fn remove(&self, ids: &[EntryId]) -> Result<usize>;

    /// Removes every record that a scope holds at the start of the call, and returns their number.
    /// `gone` is called for each whose key and kind could be read. Others may write meanwhile.
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize>;

    /// Applies a batch of events: counts them, moves served records to the end of the eviction
    /// queue, and removes records that were found damaged. A repeated batch has no effect.
    fn fold_batch(&self, batch: &EventBatch) -> Result<()>;

    /// Event counts, for one scope or for all. Counts older than a year are dropped.
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>>;

    /// Visits the head of each record that matches the filter, without reading bodies. The order is
    /// unspecified, unless the filter asks for the newest.
    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()>;

    /// Evicts by a plan: expired records first, then the least recently used. Returns what was
    /// removed, and why.
    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport>;

    /// Returns the records that share most key parts with the probe, in no particular order; none
    /// that shares nothing.
    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>>;

    /// Number and size of the records in a scope.
    fn usage(&self, scope: &Scope) -> Result<ScopeUsage>;

    /// Description of this store.
    fn info(&self) -> StoreInfo;
}

/// Place of a payload: in its record, or as frames of that name.
enum PlacedPayload<'a, N> {
    Inline(&'a [u8]),
    Framed { frames: N, len: u64 },
}

impl<'a, N> PlacedPayload<'a, N> {
    /// Writes the frames of a large payload, under a new name; a small one goes into its record.
    fn write(
        payload: &'a StoredBody,
        name: impl FnOnce() -> N,
        mut write: impl FnMut(&mut N, &[u8]) -> Result<()>,
    ) -> Result<Self> {
        let chunks: &dyn ChunkSource = match payload {
            StoredBody::Inline(body) | StoredBody::Plain(body) => return Ok(Self::Inline(body)),
            StoredBody::Framed(chunks) => &**chunks,
            StoredBody::Opened(body) => body,
        };
        let (mut frames, mut len) = (name(), 0);
        chunks.for_each_chunk(&mut |frame| {
            len += frame.len() as u64;
            write(&mut frames, frame)
        })?;
        Ok(Self::Framed { frames, len })
    }

    fn body(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(body) => Some(body),
            Self::Framed { .. } => None,
        }
    }

    fn frames(&self) -> Option<&N> {
        match self {
            Self::Inline(_) => None,
            Self::Framed { frames, .. } => Some(frames),
        }
    }

    /// Measured, because the header's length is not trusted.
    fn len(&self) -> u64 {
        match self {
            Self::Inline(body) => body.len() as u64,
            Self::Framed { len, .. } => *len,
        }
    }
}

/// Description of a store, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreInfo {
    /// Its URL, without credentials.
    pub url: String,
    /// True if its records outlive the process.
    pub durable: bool,
    /// True if it can keep entries past their TTL.
    pub keeps_stale: bool,
}
