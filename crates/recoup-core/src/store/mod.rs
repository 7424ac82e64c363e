//! Where records are kept: bytes in, bytes out, no policy.
//!
//! One folder or file for each store, one contract suite for all of them
//! (`tests/it/store_contract`). How long a record is good for, what may be kept
//! and what goes first is decided above, in `cache/`.

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

/// Whether a scan goes on.
pub type Flow = ControlFlow<()>;

/// What a scan is told about each record: its head, or why that can't be read.
pub type Visit<'a> = dyn FnMut(&Id, Result<&Head>) -> Flow + 'a;

/// A place for records. Every method is required: a default is how a store in
/// front of another loses one silently.
///
/// Any number of threads may call it, and where the medium allows it, any
/// number of processes.
pub trait Store: Send + Sync + fmt::Debug {
    /// The record, if there is one. Never writes, and never waits for a writer.
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>>;

    /// The full result of a record that has one. It may be kept once for all records
    /// of a scope and kind that share it, and goes with the last of them.
    fn full(&self, id: &Id) -> Result<Option<Payload>>;

    /// Keeps the record, in place of any that was there. When this returns, it
    /// outlives a crash of the process.
    fn put(&self, id: &Id, record: &Record) -> Result<()>;

    /// Removes records; says how many there were.
    fn remove(&self, ids: &[Id]) -> Result<usize>;

    /// Removes everything that a scope holds when this begins; says how many records that were.
    /// `gone` hears of each whose key and kind could be read. Others may write meanwhile.
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize>;

    /// Takes in what happened to records: counts it, moves those that were served
    /// to the end of the queue for eviction, and drops those that were found
    /// damaged. A batch that it has seen changes nothing.
    fn fold(&self, batch: &Batch) -> Result<()>;

    /// What was folded in, for one scope or for all. Counts of more than a year ago go.
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>>;

    /// Shows the head of each record that the filter lets through, without reading bodies; in
    /// no particular order, unless the filter asks for the newest.
    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()>;

    /// Carries out a plan: what is dead goes first, then what was used least recently.
    /// Says what went, and why.
    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted>;

    /// The records that have most parts of their keys in common with the probe's, in no
    /// particular order; none that has nothing in common.
    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>>;

    /// How much there is in one scope.
    fn usage(&self, scope: &Scope) -> Result<Usage>;

    /// What this store is.
    fn info(&self) -> Info;
}

/// What a store is, for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info {
    /// Its URL, without credentials.
    pub url: String,
    /// Whether its records outlive the process.
    pub durable: bool,
    /// Whether it keeps what may be served for a while after its TTL.
    pub keeps_stale: bool,
}

/// Told about faults that were survived, so that none is silent.
pub trait FaultLog: Send + Sync + fmt::Debug {
    /// `store` failed with `error`; the work goes on without it.
    fn fault(&self, store: &Info, error: &Error);
}
