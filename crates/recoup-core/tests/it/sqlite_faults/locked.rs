//! Databases that somebody holds or that can't be written: a clear error within
//! the time allowed, and nothing lost.

use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::Deadline;
use recoup_core::store::sqlite::WaitLimits;
use recoup_core::store::{ScanFilter, Store};
use rusqlite::Connection;

use super::{Scene, scribble};
use crate::support::{body_of, id, noise_text, record, scanned};

const SHORT: WaitLimits =
    WaitLimits { read: Duration::from_millis(50), write: Duration::from_millis(100) };

#[test]
fn while_another_holds_everything_reads_and_writes_fail_in_time() {
    let scene = Scene::with_entries(3);
    let holder = Connection::open(scene.path()).unwrap();
    holder
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;
             UPDATE entries SET hits = 1; COMMIT;",
        )
        .unwrap();
    let store = scene.open_with(SHORT);
    let not_hanging = Deadline::after(Duration::from_secs(20));
    assert_eq!(store.get(&id("1")).unwrap_err().kind(), ErrorKind::Locked);
    let error = store.put(&id("1"), &record("new")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    assert!(!not_hanging.has_passed());
    drop(holder);
    assert_eq!(body_of(&store, &id("1")), Some(noise_text(3_000, 1).into_bytes()));
    store.put(&id("1"), &record("new")).unwrap();
    assert_eq!(body_of(&store, &id("1")), Some(b"new".to_vec()));
    assert_eq!(scene.faults.count(), 0);
}

#[test]
fn a_writer_in_the_middle_of_its_work_stops_no_reader() {
    let scene = Scene::with_entries(3);
    let writer = Connection::open(scene.path()).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM entries;").unwrap();
    let store = scene.open_with(SHORT);
    assert!(body_of(&store, &id("1")).is_some());
    assert_eq!(scanned(&store, &ScanFilter::default()).len(), 3);
    let error = store.put(&id("4"), &record("new")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Locked, "{error}");
    assert_eq!(store.remove(&[id("1")]).unwrap_err().kind(), ErrorKind::Locked);
    let large = record("l".repeat(2 << 20));
    assert_eq!(store.put(&id("4"), &large).unwrap_err().kind(), ErrorKind::Locked);
    writer.execute_batch("ROLLBACK").unwrap();
    assert_eq!(scanned(&store, &ScanFilter::default()).len(), 3);
    store.put(&id("4"), &large).unwrap();
}

#[test]
fn a_reader_in_the_middle_of_its_work_stops_no_writer() {
    let scene = Scene::with_entries(3);
    let reader = Connection::open(scene.path()).unwrap();
    reader.execute_batch("BEGIN; SELECT * FROM entries;").unwrap();
    let store = scene.open_with(SHORT);
    // More than the log may grow to, so that a checkpoint is tried as well.
    for n in 0..40 {
        store.put(&id(&format!("n{n}")), &record(noise_text(20_000, n))).unwrap();
    }
    assert_eq!(scanned(&store, &ScanFilter::default()).len(), 43);
}

/// SQLite takes a file whose write version it does not know for read-only.
#[test]
fn a_database_that_can_only_be_read_is_read_and_says_so_on_writes() {
    let scene = Scene::with_entries(3);
    scene.fold_log();
    scribble(&scene.path(), 18, &[3]);
    let store = scene.open();
    assert_eq!(body_of(&store, &id("1")), Some(noise_text(3_000, 1).into_bytes()));
    for error in [
        store.put(&id("1"), &record("new")).unwrap_err(),
        store.put(&id("1"), &record("l".repeat(2 << 20))).unwrap_err(),
        store.remove(&[id("1")]).map(drop).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    }
    assert_eq!(body_of(&store, &id("1")), Some(noise_text(3_000, 1).into_bytes()));
    scribble(&scene.path(), 18, &[2]);
    assert_eq!(scanned(&scene.open(), &ScanFilter::default()).len(), 3);
    assert!(scene.set_aside().is_empty());
}
