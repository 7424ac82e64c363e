//! The files of a database: their modes, what is left in them, and what happens
//! when somebody replaces or deletes them under an open store.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use recoup_core::entry::{ChunkSource as _, INLINE_MAX};
use recoup_core::store::{EvictionPlan, ScanFilter, SqliteStore, Store};
use rusqlite::Connection;

use super::Scene;
use crate::store_contract::stores::PATIENT;
use crate::support::Touch as _;
use crate::support::{START, body_of, evict_plan, id, noise_text, record, scanned};

#[test]
fn every_file_is_private() {
    let scene = Scene::new();
    let dir = scene.dir.path().join("new").join("deep");
    let path = dir.join("cache.db");
    let store = SqliteStore::at(&path, PATIENT, scene.faults.clone());
    store.put(&id("a"), &record("a")).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().mode() & 0o777;
    for suffix in ["", "-wal", "-shm", ".recoup-lock"] {
        let file = dir.join(format!("cache.db{suffix}"));
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
    assert_eq!((mode(&dir), mode(dir.parent().unwrap())), (0o700, 0o700));
}

fn count(scene: &Scene, what: &str) -> i64 {
    let database = Connection::open(scene.path()).unwrap();
    database.query_row(&format!("SELECT {what}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn no_chunk_outlives_its_entry() {
    let scene = Scene::new();
    let store = scene.open();
    let large = |seed| record(noise_text(2 * INLINE_MAX + 1, seed));
    for key in ["overwritten", "shrunk", "removed", "evicted"] {
        store.put(&id(key), &large(1)).unwrap();
    }
    assert_eq!(count(&scene, "count(*) FROM chunks"), 4 * 3);
    store.put(&id("overwritten"), &large(2)).unwrap();
    assert_eq!(count(&scene, "count(*) FROM chunks"), 4 * 3);
    store.put(&id("shrunk"), &record("small")).unwrap();
    assert_eq!(count(&scene, "count(*) FROM chunks"), 3 * 3);
    store.remove(&[id("removed")]).unwrap();
    assert_eq!(count(&scene, "count(*) FROM chunks"), 2 * 3);
    store.touch(&[(id("overwritten"), START.plus_millis(9))]).unwrap();
    store.put(&id("shrunk"), &large(3)).unwrap();
    assert_eq!(count(&scene, "count(*) FROM chunks"), 3 * 3);
    store.evict(&EvictionPlan { max_entries: Some(0), ..evict_plan(START) }).unwrap();
    assert_eq!(count(&scene, "count(*) FROM chunks"), 0);
}

#[test]
fn the_totals_are_what_counting_would_give() {
    let scene = Scene::new();
    let store = scene.open();
    for n in 0..30u64 {
        let len = usize::try_from(n * 97).unwrap();
        store.put(&id(&(n % 7).to_string()), &record(noise_text(len, n))).unwrap();
    }
    store.put(&id("large"), &record(noise_text(INLINE_MAX + 1, 1))).unwrap();
    store.remove(&[id("3"), id("nothing")]).unwrap();
    store.touch(&[(id("1"), START)]).unwrap();
    store.evict(&EvictionPlan { max_entries: Some(5), ..evict_plan(START) }).unwrap();
    let sums = "(SELECT total(bytes) FROM entries) - (SELECT total(bytes) FROM totals) +
                (SELECT count(*) FROM entries) - (SELECT total(entries) FROM totals)";
    assert_eq!(count(&scene, &format!("CAST({sums} AS INTEGER)")), 0);
    assert_eq!(count(&scene, "count(*) FROM entries"), 5);
}

/// A record may come from another store, and its header from anywhere.
#[test]
fn what_a_header_says_about_its_length_is_not_believed() {
    let scene = Scene::new();
    let store = scene.open();
    for (key, body) in [("small", "x".to_owned()), ("large", noise_text(INLINE_MAX + 1, 1))] {
        let mut lying = record(body.clone());
        lying.head.header.body.stored_len = u64::MAX;
        store.put(&id(key), &lying).unwrap();
        assert_eq!(body_of(&store, &id(key)), Some(body.into_bytes()));
    }
    let total = count(&scene, "bytes FROM totals");
    assert!((1 << 20..2 << 20).contains(&total), "{total}");
    let plan = EvictionPlan { max_bytes: Some(10 << 20), ..evict_plan(START) };
    assert_eq!(store.evict(&plan).unwrap(), recoup_core::store::EvictionReport::default());
}

#[test]
fn the_log_does_not_grow_for_ever() {
    let scene = Scene::new();
    let store = scene.open();
    for n in 0..200u64 {
        store.put(&id(&(n % 10).to_string()), &record(noise_text(30_000, n))).unwrap();
    }
    let log = fs::metadata(scene.beside("-wal")).unwrap().len();
    assert!(log < 2 << 20, "{log} bytes, of some 7 million that went through it");
}

/// SQLite keeps the log beside the file itself, not beside a link to it.
#[test]
fn behind_a_link_the_log_does_not_grow_for_ever_either() {
    let scene = Scene::new();
    let home = tempfile::tempdir().unwrap();
    let real = SqliteStore::at(home.path().join("real.db"), PATIENT, scene.faults.clone());
    real.put(&id("0"), &record("first")).unwrap();
    std::os::unix::fs::symlink(home.path().join("real.db"), scene.path()).unwrap();
    let store = scene.open();
    for n in 0..200u64 {
        store.put(&id(&(n % 10).to_string()), &record(noise_text(30_000, n))).unwrap();
    }
    let log = fs::metadata(home.path().join("real.db-wal")).unwrap().len();
    assert!(log < 2 << 20, "{log} bytes, of some 7 million that went through it");
    assert_eq!(scanned(&scene.open(), &ScanFilter::default()).len(), 10);
}

#[test]
fn a_database_that_was_deleted_begins_anew() {
    let scene = Scene::with_entries(2);
    let store = scene.open();
    assert!(body_of(&store, &id("1")).is_some());
    store.put(&id("2"), &record("a")).unwrap();
    for suffix in ["", "-wal", "-shm"] {
        fs::remove_file(scene.beside(suffix)).unwrap();
    }
    assert!(store.get(&id("1")).unwrap().is_none());
    store.put(&id("new"), &record("new")).unwrap();
    for store in [&store, &scene.open()] {
        assert_eq!(scanned(store, &ScanFilter::default()), [id("new")]);
    }
}

#[test]
fn after_a_replacement_writes_go_to_the_new_file() {
    let scene = Scene::with_entries(2);
    let other = Scene::with_entries(0);
    other.open().put(&id("theirs"), &record("theirs")).unwrap();
    other.fold_log();
    let store = scene.open();
    store.put(&id("2"), &record("a")).unwrap();
    for suffix in ["-wal", "-shm"] {
        fs::remove_file(scene.beside(suffix)).unwrap();
    }
    fs::rename(other.path(), scene.path()).unwrap();
    assert_eq!(body_of(&store, &id("theirs")), Some(b"theirs".to_vec()));
    store.put(&id("ours"), &record("ours")).unwrap();
    for store in [&store, &scene.open()] {
        assert_eq!(scanned(store, &ScanFilter::default()), ["ours", "theirs"].map(id));
    }
}

/// Once it has begun, a reading of a large body is of one moment.
#[test]
fn a_large_body_that_is_replaced_while_it_is_read_is_read_to_its_end() {
    let scene = Scene::new();
    let store = scene.open();
    let before = noise_text(3 * INLINE_MAX, 1);
    store.put(&id("key"), &record(before.clone())).unwrap();
    let entry = store.get(&id("key")).unwrap().unwrap().open().unwrap();
    let mut read = Vec::new();
    let replacing = &mut |chunk: &[u8]| {
        store.put(&id("key"), &record("after")).unwrap();
        read.extend_from_slice(chunk);
        Ok(())
    };
    entry.body().for_each_chunk(replacing).unwrap();
    assert!(read == before.as_bytes());
    assert_eq!(body_of(&store, &id("key")), Some(b"after".to_vec()));
}
