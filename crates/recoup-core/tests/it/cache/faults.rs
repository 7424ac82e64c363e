//! A store that fails while a large body is read: that is no damage, and no
//! reason to remove anything.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recoup_core::cache::{Cache, Options, Peek, Reason, Request, Ttl, View};
use recoup_core::entry::{Batch, Chunks, Head, INLINE_MAX, Payload, Record, Tally};
use recoup_core::key::{Id, Kind, Scope};
use recoup_core::store::sqlite::Waits;
use recoup_core::store::{
    Evicted, EvictionPlan, Filter, Info, Memory, Probe, Sqlite, Store, Usage, Visit,
};
use recoup_core::{Error, ErrorKind, Result};

use super::Scene;
use crate::support::{Faults, id, noise, record};

/// Has records, but fails with this kind of error so many times when a body is
/// read.
#[derive(Debug)]
struct Failing(Memory, ErrorKind, AtomicUsize);

#[derive(Debug)]
struct NoChunks(ErrorKind);

impl Chunks for NoChunks {
    fn each(&self, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(Error::new(self.0, "the body can't be read now"))
    }
}

impl Store for Failing {
    fn get(&self, id: &Id) -> Result<Option<Arc<Record>>> {
        let one_less = |left: usize| left.checked_sub(1);
        if self.2.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less).is_err() {
            return self.0.get(id);
        }
        let payload = Payload::Framed(Arc::new(NoChunks(self.1)));
        let with_failing_body =
            |record: Arc<Record>| Arc::new(Record { payload, ..(*record).clone() });
        Ok(self.0.get(id)?.map(with_failing_body))
    }
    fn put(&self, id: &Id, record: &Record) -> Result<()> {
        self.0.put(id, record)
    }
    fn remove(&self, ids: &[Id]) -> Result<usize> {
        self.0.remove(ids)
    }
    fn full(&self, id: &Id) -> Result<Option<Payload>> {
        self.0.full(id)
    }
    fn fold(&self, batch: &Batch) -> Result<()> {
        self.0.fold(batch)
    }
    fn tallies(&self, scope: Option<&Scope>) -> Result<Vec<Tally>> {
        self.0.tallies(scope)
    }
    fn clear(&self, scope: &Scope, gone: &mut dyn FnMut(Id, Kind)) -> Result<usize> {
        self.0.clear(scope, gone)
    }

    fn scan(&self, filter: &Filter, visit: &mut Visit<'_>) -> Result<()> {
        self.0.scan(filter, visit)
    }
    fn evict(&self, plan: &EvictionPlan) -> Result<Evicted> {
        self.0.evict(plan)
    }
    fn nearest(&self, probe: &Probe<'_>) -> Result<Vec<(Id, Head)>> {
        self.0.nearest(probe)
    }

    fn usage(&self, scope: &Scope) -> Result<Usage> {
        self.0.usage(scope)
    }
    fn info(&self) -> Info {
        Info { url: "failing:".to_owned(), durable: false, keeps_stale: true }
    }
}

fn cache_that_fails(times: usize, kind: ErrorKind) -> Cache {
    let memory = Memory::with_capacity(64 << 20);
    memory.put(&id("key"), &record(noise(INLINE_MAX + 1, 1))).unwrap();
    Cache::new(Arc::new(Failing(memory, kind, AtomicUsize::new(times))), Options::default())
}

fn read(cache: &Cache) -> Reason {
    let view = View { root: "/".into(), cwd: "/".into() };
    match cache.read(&Request::new(Kind::Result, &id("key"), &view)) {
        Peek::Miss(reason) => reason,
        other => panic!("no miss: {other:?}"),
    }
}

#[test]
fn a_body_that_cant_be_read_now_is_no_damage() {
    for kind in [ErrorKind::Locked, ErrorKind::Io] {
        let cache = cache_that_fails(usize::MAX, kind);
        let reason = read(&cache);
        assert!(
            matches!(&reason, Reason::Unavailable(error) if error.kind() == kind),
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
    assert!(matches!(reason, Reason::Corrupt(_)), "{reason:?}");
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
    let view = View { root: "/".into(), cwd: "/".into() };
    let found = cache.read(&Request::new(Kind::Result, &id("key"), &view));
    assert!(matches!(found, Peek::Hit(_)), "{found:?}");
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
    let open = || Arc::new(Sqlite::at(&path, Waits::default(), faults.clone()));
    Scene::with(open(), Options::default()).fill("old", "old", Ttl::Forever, &[]);
    let database = rusqlite::Connection::open(&path).unwrap();
    database.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'entries_expiry'";
    let root: u32 = database.query_row(sql, [], |row| row.get(0)).unwrap();
    drop(database);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&noise(4_096, 7), u64::from(root - 1) * 4_096).unwrap();
    let scene = Scene::with(open(), Options::default());
    scene.fill("new", "new", Ttl::Forever, &[]);
    assert_eq!(faults.count(), 1, "it was set aside");
    assert!(scene.hits("new"));
    assert!(Scene::with(open(), Options::default()).hits("new"));
}
