//! A store behind a breaker: one that does not answer is not asked for a while.

use std::path::PathBuf;
use std::sync::Arc;

use super::breaker::Breaker;
use super::{Evicted, EvictionPlan, Filter, Info, Store, Usage, Visit};
use crate::base::clock::Clock;
use crate::entry::{Batch, Payload, Record, Tally};
use crate::error::{ErrorKind, Result};
use crate::key::{Id, Scope};

/// `inner`, while it answers.
#[derive(Debug)]
pub struct Guarded {
    inner: Arc<dyn Store>,
    breaker: Breaker,
}

impl Guarded {
    /// What the processes of a machine know of the store is shared through `file`.
    pub fn new(inner: Arc<dyn Store>, file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, breaker: Breaker::new(file, clock) }
    }

    /// Only what says that the server is away counts; a damaged record, or one
    /// for which there is no room, is an answer.
    fn ask<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let named = |error: crate::error::Error| error.context(self.inner.info().url);
        self.breaker.admit().map_err(named)?;
        let done = act(&*self.inner);
        match &done {
            Err(error) if error.kind() == ErrorKind::Unavailable => self.breaker.note_fault(error),
            _ => self.breaker.note_answer(),
        }
        done.map_err(named)
    }
}

impl Store for Guarded {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        self.ask(|store| store.get(id))
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        self.ask(|store| store.full(id))
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        self.ask(|store| store.put(id, record))
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        self.ask(|store| store.remove(ids))
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        self.ask(|store| store.fold(batch))
    }

    fn tallies(&self, scope: &Scope) -> Result<Vec<Tally>> {
        self.ask(|store| store.tallies(scope))
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.ask(|store| store.scan(filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        self.ask(|store| store.evict(plan))
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.ask(|store| store.usage(scope))
    }

    fn info(&self) -> Info {
        self.inner.info()
    }
}
