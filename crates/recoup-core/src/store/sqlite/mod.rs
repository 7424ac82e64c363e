//! The default store: one SQLite file that any number of short processes share.
//!
//! Readers never wait for a writer (write-ahead log), and closing costs nothing
//! (no checkpoint on close: writers do it now and then). A file that is damaged
//! is set aside and begun anew; one from a newer version is left alone.

mod evict;
mod fold;
mod near;
mod read;
mod schema;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::{Evicted, EvictionPlan, FaultLog, Filter, Info, Probe, Store, Usage, Visit, nearest};
use crate::database::{self, Pool, Teller};
use crate::entry::{Batch, Head, Payload, Record, Tally};
use crate::error::{Error, Result};
use crate::key::{Id, Scope};

pub use crate::database::{Beside, Inspected, Soundness, Waits, lock_of, set_asides};
pub use schema::VERSION;

/// Records in an SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    pool: Pool,
}

impl Sqlite {
    /// The store at `path`. Opened at its first use, created at its first
    /// write. What it survived is told to `faults`.
    pub fn at(path: impl Into<PathBuf>, waits: Waits, faults: Arc<dyn FaultLog>) -> Self {
        let path = path.into();
        let told = Arc::new(Told { faults, path: path.clone() });
        Self { pool: Pool::new(path, &schema::LAYOUT, waits, told) }
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.pool.path()
    }
}

/// How the store at `path` is, and how many entries it has, without changing anything; none
/// where there is nothing yet. Its pages are looked at for as long as `limit`.
pub fn inspect(path: &Path, limit: Duration) -> Result<Option<(Inspected, u64)>> {
    database::inspect(path, &schema::LAYOUT, limit, |connection| {
        connection.query_row("SELECT coalesce(sum(entries), 0) FROM totals", [], |row| {
            row.get::<_, i64>(0).map(|entries| entries.max(0).cast_unsigned())
        })
    })
}

/// Tells a fault log what the database survived.
#[derive(Debug)]
struct Told {
    faults: Arc<dyn FaultLog>,
    path: PathBuf,
}

impl Teller for Told {
    fn tell(&self, error: &Error) {
        self.faults.fault(&info(&self.path), error);
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

    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        let found = self.pool.read(|reader| near::nearest(reader, probe))?;
        match found {
            None => Ok(Vec::new()),
            Some(Some(found)) => Ok(found),
            Some(None) => nearest::by_scan(self, probe),
        }
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
