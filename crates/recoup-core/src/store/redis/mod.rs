//! The team's store: a Redis or Valkey server, or a cluster of them.
//!
//! A record is a hash, so that its head is read without its body; it expires on the server by
//! itself. Every call has a deadline: a server that misses it causes an error, never a long wait.

mod claims;
mod evict;
mod fault;
mod fold;
mod keeper;
mod keys;
mod line;
mod link;
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
use super::{Evicted, EvictionPlan, Filter, Info, Probe, Store, Usage, Visit, nearest};
use crate::entry::{Batch, Head, Payload, Record, Tally};
use crate::error::Result;
use crate::key::{Id, Kind, Scope};
use keys::Keys;

pub use claims::RedisClaims;
pub(crate) use line::Line;
pub(crate) use scripts::eval;
pub use server::Server;
pub use target::Target;
pub(super) use target::shown;

/// Records on a Redis server.
#[derive(Debug)]
pub struct Redis {
    shared: Arc<Shared>,
}

/// State shared with the readers of large bodies.
#[derive(Debug)]
struct Shared {
    line: Line,
    keys: Keys,
}

impl Redis {
    /// The store at `target`. No connection is made before the first use.
    pub fn at(target: Target) -> Self {
        let keys = Keys::new(&target.prefix);
        Self { shared: Arc::new(Shared { line: Line::new(target), keys }) }
    }
}

impl Store for Redis {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        read::get(&self.shared, id)
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        read::full(&self.shared, id)
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        write::put(&self.shared, id, record)
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        let ids: Vec<_> = ids.iter().map(|id| (id.clone(), None)).collect();
        let removed = write::remove_by(&self.shared, &ids, scripts::REMOVE)?;
        Ok(removed
            .iter()
            .filter(|removed| matches!(removed.outcome, write::Removed::Gone(_)))
            .count())
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        clear_by_scan(self, scope, gone)
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        fold::fold(&self.shared, batch)
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        fold::tallies(&self.shared, scope)
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        scan_refined(filter, visit, |filter, visit| scan::scan(&self.shared, filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        evict::carry_out(&self.shared, plan)
    }

    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        nearest::by_scan(self, probe)
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        scan::usage(&self.shared, scope)
    }

    fn info(&self) -> Info {
        Info { url: self.shared.line.target().to_string(), durable: true, keeps_stale: true }
    }
}
