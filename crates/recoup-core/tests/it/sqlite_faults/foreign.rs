//! What is not ours, or not ours yet: left byte for byte as it is, with an
//! error that says so.

use std::fs;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::store::{ScanFilter, ScanFlow, SqliteStore, Store};
use rusqlite::Connection;

use super::{Scene, entries_of};
use crate::support::Touch as _;
use crate::support::{START, body_of, evict_plan, id, noise, record};

/// Every call fails with `kind`, says which file it is about, and changes none.
fn assert_refused(scene: &Scene, kind: ErrorKind, words: &str) {
    let before = scene.contents();
    let store = scene.open();
    let errors = [
        store.get(&id("a")).map(drop).unwrap_err(),
        store.put(&id("a"), &record("a")).unwrap_err(),
        store.remove(&[id("a")]).map(drop).unwrap_err(),
        store.touch(&[(id("a"), START)]).unwrap_err(),
        store.scan(&ScanFilter::default(), &mut |_, _| ScanFlow::Continue(())).unwrap_err(),
        store.evict(&evict_plan(START)).map(drop).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), kind, "{error}");
        let said = error.to_string();
        assert!(said.contains(words) && said.contains("cache.db"), "{said}");
    }
    drop(store);
    assert_eq!(scene.contents(), before, "nothing may change");
    assert!(scene.set_aside().is_empty());
    assert_eq!(scene.faults.count(), 0);
}

#[test]
fn a_file_of_somebody_elses_is_left_alone() {
    for garbage in [noise(10_000, 1), vec![0; 8_192], b"my only copy of the thesis".to_vec()] {
        let scene = Scene::new();
        fs::write(scene.path(), garbage).unwrap();
        assert_refused(&scene, ErrorKind::Io, "not a cache database of recoup");
    }
}

#[test]
fn another_programs_database_is_left_alone() {
    // Other programs count their versions too.
    for version in [0, 1, 7] {
        let scene = Scene::new();
        let other = Connection::open(scene.path()).unwrap();
        let script = format!(
            "CREATE TABLE entries (scope, key, theirs); INSERT INTO entries VALUES (1, 2, 3);
             PRAGMA user_version = {version};"
        );
        other.execute_batch(&script).unwrap();
        drop(other);
        assert_refused(&scene, ErrorKind::Io, "another program");
    }
}

#[test]
fn a_cache_from_a_newer_version_is_left_alone() {
    let scene = Scene::with_entries(2);
    let newer = Connection::open(scene.path()).unwrap();
    newer.execute_batch("PRAGMA user_version = 99; PRAGMA wal_checkpoint(TRUNCATE);").unwrap();
    drop(newer);
    assert_refused(&scene, ErrorKind::TooNew, "newer version");
}

#[test]
fn an_empty_file_becomes_a_cache() {
    let scene = Scene::new();
    fs::write(scene.path(), "").unwrap();
    let store = scene.open();
    assert!(store.get(&id("a")).unwrap().is_none());
    assert_eq!(fs::metadata(scene.path()).unwrap().len(), 0, "a read creates nothing");
    store.put(&id("a"), &record("a")).unwrap();
    assert_eq!(body_of(&scene.open(), &id("a")), Some(b"a".to_vec()));
}

#[test]
fn reading_creates_nothing() {
    let scene = Scene::new();
    let store = scene.open();
    assert!(store.get(&id("a")).unwrap().is_none());
    assert_eq!(store.remove(&[id("a")]).unwrap(), 0);
    store.scan(&ScanFilter::default(), &mut |_, _| ScanFlow::Continue(())).unwrap();
    store.evict(&evict_plan(START)).unwrap();
    assert!(entries_of(scene.dir.path()).is_empty());
}

#[test]
fn a_log_without_its_database_is_not_used() {
    let scene = Scene::with_entries(3);
    assert!(fs::metadata(scene.beside("-wal")).unwrap().len() > 0);
    fs::remove_file(scene.path()).unwrap();
    let store = scene.open();
    assert!(store.get(&id("1")).unwrap().is_none());
    store.put(&id("new"), &record("new")).unwrap();
    assert!(store.get(&id("1")).unwrap().is_none());
    assert_eq!(body_of(&scene.open(), &id("new")), Some(b"new".to_vec()));
}

#[test]
fn a_directory_or_a_file_in_the_way_is_a_clear_error() {
    let scene = Scene::new();
    fs::create_dir(scene.path()).unwrap();
    let store = scene.open();
    for error in
        [store.get(&id("a")).map(drop).unwrap_err(), store.put(&id("a"), &record("a")).unwrap_err()]
    {
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("cache.db"), "{error}");
    }
    let file = scene.dir.path().join("file");
    fs::write(&file, "not a directory").unwrap();
    let waits = recoup_core::store::sqlite::WaitLimits {
        read: Duration::from_secs(1),
        write: Duration::from_secs(1),
    };
    let store = SqliteStore::at(file.join("cache.db"), waits, scene.faults.clone());
    assert_eq!(store.put(&id("a"), &record("a")).unwrap_err().kind(), ErrorKind::Io);
    assert_eq!(fs::read(&file).unwrap(), b"not a directory");
}
