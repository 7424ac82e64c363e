//! A store that does as it is told, and counts.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use recoup_core::entry::{Batch, Head, Payload, Record, Tally};
use recoup_core::key::{Id, Kind, Scope};
use recoup_core::store::{Evicted, EvictionPlan, Filter, Info, Probe, Store, Usage, Visit};
use recoup_core::{Error, ErrorKind, Result};

/// A server that answers, or not, and counts how often it was asked.
#[derive(Debug, Default)]
pub(super) struct Fake {
    asked: AtomicUsize,
    fault: Mutex<Option<ErrorKind>>,
}

impl Fake {
    pub(super) fn failing(kind: ErrorKind) -> Arc<Self> {
        let fake = Self::default();
        fake.fails(Some(kind));
        Arc::new(fake)
    }

    pub(super) fn fails(&self, kind: Option<ErrorKind>) {
        *self.fault.lock().unwrap() = kind;
    }

    pub(super) fn asked(&self) -> usize {
        self.asked.load(SeqCst)
    }

    fn answer<T: Default>(&self) -> Result<T> {
        self.asked.fetch_add(1, SeqCst);
        let fault = *self.fault.lock().unwrap();
        fault.map_or(Ok(T::default()), |kind| Err(Error::new(kind, "as told")))
    }
}

impl Store for Fake {
    fn get(&self, _: &Id) -> Result<Option<Arc<Record>>> {
        self.answer()
    }
    fn full(&self, _: &Id) -> Result<Option<Payload>> {
        self.answer()
    }
    fn put(&self, _: &Id, _: &Record) -> Result<()> {
        self.answer()
    }
    fn remove(&self, _: &[Id]) -> Result<usize> {
        self.answer()
    }
    fn fold(&self, _: &Batch) -> Result<()> {
        self.answer()
    }
    fn tallies(&self, _: Option<&Scope>) -> Result<Vec<Tally>> {
        self.answer()
    }
    fn clear(&self, _: &Scope, _: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        self.answer()
    }

    fn scan(&self, _: &Filter, _: &mut Visit<'_>) -> Result<()> {
        self.answer()
    }
    fn evict(&self, _: &EvictionPlan) -> Result<Evicted> {
        self.answer()
    }
    fn nearest(&self, _: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        self.answer()
    }

    fn usage(&self, _: &Scope) -> Result<Usage> {
        self.answer()
    }
    fn info(&self) -> Info {
        Info { url: "fake:".to_owned(), durable: true, keeps_stale: true }
    }
}
