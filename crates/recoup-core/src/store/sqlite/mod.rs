//! The default store: one SQLite file that any number of short processes share.
//!
//! Readers never wait for a writer (write-ahead log), and closing costs nothing
//! (no checkpoint on close: writers do it now and then). A file that is damaged
//! is set aside and begun anew; one from a newer version is left alone.

mod busy;
mod connection;
mod evict;
mod fault;
mod fold;
mod pool;
mod read;
mod recover;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Evicted, EvictionPlan, FaultLog, Filter, Info, Store, Usage, Visit};
use crate::entry::{Batch, Payload, Record, Tally};
use crate::error::Result;
use crate::key::{Id, Scope};
use pool::Pool;

pub use schema::VERSION;

/// How long a command waits for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// A reader: it is only ever held up while somebody recovers the log.
    pub read: Duration,
    /// A writer: others may be writing.
    pub write: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self { read: Duration::from_millis(250), write: Duration::from_secs(10) }
    }
}

/// Records in an SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    pool: Pool,
}

impl Sqlite {
    /// The store at `path`. Opened at its first use, created at its first
    /// write. What it survived is told to `faults`.
    pub fn at(path: impl Into<PathBuf>, waits: Waits, faults: Arc<dyn FaultLog>) -> Self {
        Self { pool: Pool::new(path.into(), waits, faults) }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.pool.path()
    }
}

impl Store for Sqlite {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        let row = self.pool.read(|reader| read::get(reader, id))?.flatten();
        row.map(|row| row.into_record(self.path(), self.pool.waits().read).map(Arc::new))
            .transpose()
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        let found = self.pool.read(|reader| read::full(reader, id))?.flatten();
        found.map(|found| found.into_payload(self.path(), self.pool.waits().read)).transpose()
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        self.pool.write(|writer| write::put(writer, id, record))
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        self.pool.write_existing(|writer| write::remove(writer, ids))
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        self.pool.write(|writer| fold::fold(writer, batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        self.pool.read(|reader| fold::tallies(reader, scope)).map(Option::unwrap_or_default)
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.pool.read(|reader| read::scan(reader, filter, visit)).map(Option::unwrap_or_default)
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        self.pool.write_existing(|writer| evict::carry_out(writer, plan))
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.pool.read(|reader| read::usage(reader, scope)).map(Option::unwrap_or_default)
    }

    fn info(&self) -> Info {
        info(self.path())
    }
}

fn info(path: &Path) -> Info {
    Info { url: format!("sqlite:{}", path.display()), durable: true, keeps_stale: true }
}
