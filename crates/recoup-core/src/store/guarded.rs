//! A store behind a circuit breaker: after repeated faults it is not called for a while.

use std::path::PathBuf;
use std::sync::Arc;

use super::breaker::Breaker;
use super::{Evicted, EvictionPlan, Filter, Info, Probe, Store, Usage, Visit};
use crate::base::clock::Clock;
use crate::entry::{Batch, Chunks, Head, Payload, Record, Tally};
use crate::error::{Error, ErrorKind, Result};
use crate::key::{Id, Kind, Scope};

/// `inner` behind a circuit breaker.
#[derive(Debug)]
pub struct Guarded {
    inner: Arc<dyn Store>,
    breaker: Arc<Breaker>,
}

impl Guarded {
    /// Wraps `inner`. The processes of a machine share the breaker's state through `file`.
    pub fn new(inner: Arc<dyn Store>, file: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        Self { inner, breaker: Arc::new(Breaker::new(file, clock)) }
    }

    fn ask<T>(&self, act: impl FnOnce(&dyn Store) -> Result<T>) -> Result<T> {
        let named = |error: Error| error.context(self.inner.info().url);
        self.breaker.admit().map_err(named)?;
        let done = act(&*self.inner);
        note(&self.breaker, &done);
        done.map_err(named)
    }

    /// Guards a large body too, because it is read from the server later.
    fn guarding(&self, payload: Payload) -> Payload {
        match payload {
            Payload::Framed(body) => {
                let (breaker, url) = (Arc::clone(&self.breaker), self.inner.info().url);
                Payload::Framed(Arc::new(Frames { body, breaker, url }))
            }
            here => here,
        }
    }
}

/// Reports a result to the breaker. Only an unavailable server counts as a fault; an error about a
/// record is an answer.
fn note<T>(breaker: &Breaker, done: &Result<T>) {
    match done {
        Err(error) if error.kind() == ErrorKind::Unavailable => breaker.note_fault(error),
        _ => breaker.note_answer(),
    }
}

/// A large body behind the same breaker.
#[derive(Debug)]
struct Frames {
    body: Arc<dyn Chunks>,
    breaker: Arc<Breaker>,
    url: String,
}

impl Chunks for Frames {
    fn each(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let named = |error: Error| error.context(self.url.clone());
        self.breaker.admit().map_err(named)?;
        let mut theirs = None;
        let done = self.body.each(&mut |frame| {
            visit(frame).map_err(|error| {
                // An error of the reader stops the server's stream, and is what the caller gets.
                theirs = Some(error);
                Error::new(ErrorKind::Io, "the reader wants no more")
            })
        });
        note(&self.breaker, &done);
        theirs.map_or_else(|| done.map_err(named), Err)
    }
}

impl Store for Guarded {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        let found = self.ask(|store| store.get(id))?;
        Ok(found.map(|record| match &record.payload {
            Payload::Framed(_) => {
                let mut record = Record::clone(&record);
                record.payload = self.guarding(record.payload);
                Arc::new(record)
            }
            _ => record,
        }))
    }

    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        Ok(self.ask(|store| store.full(id))?.map(|full| self.guarding(full)))
    }

    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        self.ask(|store| store.put(id, record))
    }

    fn remove(&self, ids: &[Id]) -> Result<usize> {
        self.ask(|store| store.remove(ids))
    }

    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        self.ask(|store| store.clear(scope, gone))
    }

    fn fold(&self, batch: &Batch) -> Result<()> {
        self.ask(|store| store.fold(batch))
    }

    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        self.ask(|store| store.tallies(scope))
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.ask(|store| store.scan(filter, visit))
    }

    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        self.ask(|store| store.evict(plan))
    }

    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        self.ask(|store| store.nearest(probe))
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.ask(|store| store.usage(scope))
    }

    fn info(&self) -> Info {
        self.inner.info()
    }
}
