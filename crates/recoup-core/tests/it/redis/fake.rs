//! A store that does as it is told, and counts.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use recoup_core::entry::{EntryHead, EntryRecord, EventBatch, EventTally, StoredBody};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::{
    EvictionPlan, EvictionReport, RecordVisitor, ScanFilter, ScopeUsage, SimilarityProbe, Store,
    StoreInfo,
};
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
    fn get(&self, _: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        self.answer()
    }
    fn full_payload(&self, _: &EntryId) -> Result<Option<StoredBody>> {
        self.answer()
    }
    fn put(&self, _: &EntryId, _: &EntryRecord) -> Result<()> {
        self.answer()
    }
    fn remove(&self, _: &[EntryId]) -> Result<usize> {
        self.answer()
    }
    fn fold_batch(&self, _: &EventBatch) -> Result<()> {
        self.answer()
    }
    fn tallies(&self, _: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.answer()
    }
    fn clear(&self, _: &Scope, _: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.answer()
    }

    fn scan(&self, _: &ScanFilter, _: &mut RecordVisitor<'_>) -> Result<()> {
        self.answer()
    }
    fn evict(&self, _: &EvictionPlan) -> Result<EvictionReport> {
        self.answer()
    }
    fn nearest(&self, _: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.answer()
    }

    fn usage(&self, _: &Scope) -> Result<ScopeUsage> {
        self.answer()
    }
    fn info(&self) -> StoreInfo {
        StoreInfo { url: "fake:".to_owned(), durable: true, keeps_stale: true }
    }
}
