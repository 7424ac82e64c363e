//! A store that fails while a large body is read: that is no damage, and no
//! reason to remove anything.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recoup_core::cache::{
    Cache, CacheOptions, LookupRequest, MissReason, PathContext, PeekOutcome, Ttl,
};
use recoup_core::entry::{
    ChunkSource, EntryHead, EntryRecord, EventBatch, EventTally, INLINE_MAX, StoredBody,
};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::store::{
    EvictionPlan, EvictionReport, InMemoryStore, RecordVisitor, ScanFilter, ScopeUsage,
    SimilarityProbe, SqliteStore, Store, StoreInfo,
};
use recoup_core::{Error, ErrorKind, Result};

use super::Scene;
use crate::support::{Faults, id, noise, record};

/// Has records, but fails with this kind of error so many times when a body is
/// read.
#[derive(Debug)]
struct Failing(InMemoryStore, ErrorKind, AtomicUsize);

#[derive(Debug)]
struct NoChunks(ErrorKind);

impl ChunkSource for NoChunks {
    fn for_each_chunk(&self, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(Error::new(self.0, "the body can't be read now"))
    }
}

impl Store for Failing {
    fn get(&self, id: &EntryId) -> Result<Option<Arc<EntryRecord>>> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.2.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return self.0.get(id);
        }
        let payload = StoredBody::Framed(Arc::new(NoChunks(self.1)));
        let with_failing_body =
            |record: Arc<EntryRecord>| Arc::new(EntryRecord { payload, ..(*record).clone() });
        Ok(self.0.get(id)?.map(with_failing_body))
    }
    fn put(&self, id: &EntryId, record: &EntryRecord) -> Result<()> {
        self.0.put(id, record)
    }
    fn remove(&self, ids: &[EntryId]) -> Result<usize> {
        self.0.remove(ids)
    }
    fn full_payload(&self, id: &EntryId) -> Result<Option<StoredBody>> {
        self.0.full_payload(id)
    }
    fn fold_batch(&self, batch: &EventBatch) -> Result<()> {
        self.0.fold_batch(batch)
    }
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<EventTally>> {
        self.0.tallies(scope)
    }
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(EntryId, Kind)) -> Result<usize> {
        self.0.clear(scope, gone)
    }

    fn scan(&self, filter: &ScanFilter, visit: &mut RecordVisitor<'_>) -> Result<()> {
        self.0.scan(filter, visit)
    }
    fn evict(&self, plan: &EvictionPlan) -> Result<EvictionReport> {
        self.0.evict(plan)
    }
    fn nearest(&self, probe: &SimilarityProbe<'_>) -> Result<Vec<(EntryId, EntryHead)>> {
        self.0.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<ScopeUsage> {
        self.0.usage(scope)
    }
    fn info(&self) -> StoreInfo {
        StoreInfo { url: "failing:".to_owned(), durable: false, keeps_stale: true }
    }
}

fn cache_that_fails(times: usize, kind: ErrorKind) -> Cache {
    let memory = InMemoryStore::with_capacity(64 << 20);
    memory.put(&id("key"), &record(noise(INLINE_MAX + 1, 1))).unwrap();
    Cache::new(Arc::new(Failing(memory, kind, AtomicUsize::new(times))), CacheOptions::default())
}

fn read(cache: &Cache) -> MissReason {
    let view = PathContext { root: "/".into(), cwd: "/".into() };
    match cache.read(&LookupRequest::new(Kind::Result, &id("key"), &view)) {
        PeekOutcome::Miss(reason) => reason,
        other => panic!("no miss: {other:?}"),
    }
}

#[test]
fn a_body_that_cant_be_read_now_is_no_damage() {
    for kind in [ErrorKind::Locked, ErrorKind::Io] {
        let cache = cache_that_fails(usize::MAX, kind);
        let reason = read(&cache);
        assert!(
            matches!(&reason, MissReason::Unavailable(error) if error.kind() == kind),
            "{reason:?}"
        );
        let error = cache.verify(&Scope::global(), &mut |_, _| {}).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
}

#[test]
fn a_body_that_does_not_match_is_damage() {
    let cache = cache_that_fails(usize::MAX, ErrorKind::Corrupt);
    let reason = read(&cache);
    assert!(matches!(reason, MissReason::Corrupt(_)), "{reason:?}");
    let verified = cache.verify(&Scope::global(), &mut |_, _| {}).unwrap();
    assert_eq!((verified.entries, verified.damaged.len()), (1, 1));
    assert_eq!(verified.damaged[0].id, id("key"));
}

/// As a body does that another process replaced between two reads.
#[test]
fn what_is_sound_at_the_second_look_is_no_damage() {
    let cache = cache_that_fails(1, ErrorKind::Corrupt);
    let verified = cache.verify(&Scope::global(), &mut |_, _| {}).unwrap();
    assert_eq!((verified.entries, verified.damaged), (1, Vec::new()));
    let cache = cache_that_fails(1, ErrorKind::Corrupt);
    let view = PathContext { root: "/".into(), cwd: "/".into() };
    let found = cache.read(&LookupRequest::new(Kind::Result, &id("key"), &view));
    assert!(matches!(found, PeekOutcome::Hit(_)), "{found:?}");
}

#[test]
fn what_was_stored_anew_since_it_was_found_damaged_is_not_repaired_away() {
    // Damaged for both looks of the search, sound when it is looked at again.
    let cache = cache_that_fails(2, ErrorKind::Corrupt);
    let verified = cache.verify(&Scope::global(), &mut |_, _| {}).unwrap();
    assert_eq!(verified.damaged.len(), 1);
    assert_eq!(cache.repair(&verified.damaged).unwrap(), 0);
}

/// The eviction that belongs to a write finds the damage after the write was done.
#[test]
fn what_was_written_before_the_damage_was_met_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("cache.db");
    let faults = Faults::new();
    let open = || Arc::new(SqliteStore::at(&path, WaitLimits::default(), faults.clone()));
    Scene::with(open(), CacheOptions::default()).fill("old", "old", Ttl::Forever, &[]);
    let database = rusqlite::Connection::open(&path).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'entries_expiry'";
    let root: u32 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(database);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&noise(4_096, 7), u64::from(root - 1) * 4_096).unwrap();
    let scene = Scene::with(open(), CacheOptions::default());
    scene.fill("new", "new", Ttl::Forever, &[]);
    assert_eq!(faults.count(), 1, "it was set aside");
    assert!(scene.hits("new"));
    assert!(Scene::with(open(), CacheOptions::default()).hits("new"));
}
