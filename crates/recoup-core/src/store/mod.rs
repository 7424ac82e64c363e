//! Stores of records: bytes in, bytes out, no policy.
//!
//! One folder or file for each store, one contract suite for all of them
//! (`tests/it/store_contract`). Lifetimes, admission and eviction order are decided above, in
//! `cache/`.

mod breaker;
mod claims;
mod dir;
mod file;
mod folder;
mod guarded;
mod memory;
mod nearest;
mod plan;
pub mod redis;
mod selection;
pub mod sqlite;
mod sums;
mod tallies;
mod tiered;
mod url;

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::entry::{Batch, Head, Payload, Record, Tally};
use crate::error::{Error, Result};
use crate::key::{Id, Kind, Scope};

pub use breaker::{Pausing, pausing};
pub use claims::{Claim, Claims, FileClaims, Held, ThreadClaims};
pub use dir::Directory;
pub use file::{FileCache, Files};
pub use guarded::Guarded;
pub use memory::Memory;
pub use nearest::Probe;
pub use plan::{Cause, Evicted, EvictionPlan, Filter, Gone, Limit, Usage};
pub use redis::Redis;
pub use selection::Selection;
pub use sqlite::Sqlite;
pub use tiered::Tiered;
pub use url::{StoreUrl, Surroundings, without_credentials};

/// Return value of a [`Visit`] callback: continue or stop the scan.
pub type Flow = ControlFlow<()>;

/// Callback of a scan, called with each record's head or the error from reading it.
pub type Visit<'a> = dyn FnMut(&Id, Result<&Head>) -> Flow + 'a;

/// A store of records. Every method is required: with defaults, a store in front of another would
/// silently lose one.
///
/// Safe for any number of threads and, where the medium allows it, processes.
pub trait Store: Send + Sync + fmt::Debug {
    /// Returns the record, if there is one. Never writes, and never waits for a writer.
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>>;

    /// Returns the full result of a record that has one. It may be stored once for all records of a
    /// scope and kind that share it, and is removed with the last of them.
    fn full(&self, id: &Id) -> Result<Option<Payload>>;

    /// Stores the record, replacing any previous one. After the return it survives a crash of the
    /// process.
    fn put(&self, id: &Id, record: &Record) -> Result<()>;

    /// Removes records, and returns how many existed.
    fn remove(&self, ids: &[Id]) -> Result<usize>;

    /// Removes every record that a scope holds at the start of the call, and returns their number.
    /// `gone` is called for each whose key and kind could be read. Others may write meanwhile.
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize>;

    /// Applies a batch of events: counts them, moves served records to the end of the eviction
    /// queue, and removes records that were found damaged. A repeated batch has no effect.
    fn fold(&self, batch: &Batch) -> Result<()>;

    /// Event counts, for one scope or for all. Counts older than a year are dropped.
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>>;

    /// Visits the head of each record that matches the filter, without reading bodies. The order is
    /// unspecified, unless the filter asks for the newest.
    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()>;

    /// Evicts by a plan: expired records first, then the least recently used. Returns what was
    /// removed, and why.
    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted>;

    /// Returns the records that share most key parts with the probe, in no particular order; none
    /// that shares nothing.
    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>>;

    /// Number and size of the records in a scope.
    fn usage(&self, scope: &Scope) -> Result<Usage>;

    /// Description of this store.
    fn info(&self) -> Info;
}

/// Description of a store, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its URL, without credentials.
    pub url: String,
    /// True if its records outlive the process.
    pub durable: bool,
    /// True if it can keep entries past their TTL.
    pub keeps_stale: bool,
}

/// Receives faults that did not stop the work, so that none is silent.
pub trait FaultLog: Send + Sync + fmt::Debug {
    /// Reports that `store` failed with `error` and the work went on without it.
    fn fault(&self, store: &Info, error: &Error);
}
