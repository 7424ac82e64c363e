//! A process that dies at any step of a fold loses nothing and counts nothing
//! twice.

use std::fs;
use std::path::PathBuf;

use recoup_core::entry::{EntryEventKind, EventBatch};
use recoup_core::ledger::Ledger;
use recoup_core::store::Store;
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::{event, files, ledger, told};
use crate::store_contract::stores::{Durable as _, Factory as _, InSqlite};
use crate::support::{id, record};
use recoup_core::key::Scope;

/// A ledger with three hits noted, and a real store with the entry.
fn scene() -> (TempDir, Ledger, InSqlite) {
    let (dir, ledger) = ledger();
    let stored = InSqlite::fresh();
    stored.store().put(&id("a"), &record("body")).unwrap();
    for count in [1, 2] {
        ledger.append_event(&event("a", count)).unwrap();
    }
    (dir, ledger, stored)
}

fn failing(_: &EventBatch) -> Result<()> {
    Err(Error::new(ErrorKind::Locked, "not now"))
}

fn fold(ledger: &Ledger, store: &dyn Store) {
    ledger.fold(|batch| store.fold_batch(batch)).unwrap();
}

#[track_caller]
fn assert_counted(store: &dyn Store, hits: u64) {
    assert_eq!(store.get(&id("a")).unwrap().unwrap().head.hits, hits);
    let tallies = store.tallies(Some(&Scope::global())).unwrap();
    let counted = tallies.iter().filter(|tally| tally.what == EntryEventKind::Hit);
    assert_eq!(counted.map(|tally| tally.count).sum::<u64>(), hits);
}

fn batches(dir: &TempDir) -> Vec<PathBuf> {
    let mut files = files(dir.path());
    files.retain(|path| path.extension().is_some_and(|end| end == "batch"));
    files
}

#[test]
fn a_batch_that_was_closed_and_not_told_is_told_later() {
    let (dir, ledger, stored) = scene();
    let open = dir.path().join("ledger/open.log");
    fs::rename(open, dir.path().join("ledger/0123.batch")).unwrap();
    ledger.append_event(&event("a", 4)).unwrap();
    fold(&ledger, &*stored.store());
    assert_counted(&*stored.store(), 7);
    assert_eq!(files(dir.path()).len(), 0);
}

#[test]
fn a_batch_that_was_told_and_not_deleted_counts_once() {
    let (dir, ledger, stored) = scene();
    ledger.fold(failing).unwrap_err();
    let [batch] = &batches(&dir)[..] else { panic!("{:?}", batches(&dir)) };
    let contents = fs::read(batch).unwrap();
    for _ in 0..3 {
        fold(&ledger, &*stored.reopen());
        assert_eq!(batches(&dir).len(), 0);
        fs::write(batch, &contents).unwrap();
    }
    ledger.append_event(&event("a", 4)).unwrap();
    fold(&ledger, &*stored.store());
    assert_counted(&*stored.store(), 7);
}

#[test]
fn what_could_not_be_told_is_told_later() {
    let (dir, ledger, stored) = scene();
    for round in 0..3 {
        let error = ledger.fold(failing).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Locked, "round {round}");
        ledger.append_event(&event("a", 10)).unwrap();
    }
    assert!(batches(&dir).len() > 1);
    fold(&ledger, &*stored.store());
    assert_counted(&*stored.store(), 33);
    assert_eq!(told(&ledger), []);
}

#[test]
fn when_the_second_batch_fails_the_first_is_not_told_again() {
    let (_dir, ledger, stored) = scene();
    ledger.fold(failing).unwrap_err();
    ledger.append_event(&event("a", 4)).unwrap();
    let store = stored.store();
    let mut calls = 0;
    let second_fails = |batch: &EventBatch| {
        calls += 1;
        if calls == 1 { store.fold_batch(batch) } else { failing(batch) }
    };
    ledger.fold(second_fails).unwrap_err();
    // Batches of the same millisecond come in either order.
    let first = store.get(&id("a")).unwrap().unwrap().head.hits;
    assert!(first == 3 || first == 4, "{first}");
    assert_counted(&*store, first);
    assert_eq!(told(&ledger).iter().map(|event| event.count).sum::<u64>(), 7 - first);
}

#[test]
fn a_fold_that_another_process_was_killed_in_does_not_stay_locked() {
    let (dir, ledger, stored) = scene();
    // What a killed process leaves of its lock is the file.
    fs::write(dir.path().join("ledger/fold.lock"), "").unwrap();
    fold(&ledger, &*stored.store());
    assert_counted(&*stored.store(), 3);
}

#[test]
fn files_that_are_not_ours_are_left_alone_and_block_nothing() {
    let (dir, ledger, stored) = scene();
    let strange = ["a b.batch", "ü.batch", ".batch", "notes.txt"];
    for name in strange {
        fs::write(dir.path().join("ledger").join(name), "1 hit 1 result global a\n").unwrap();
    }
    fs::create_dir(dir.path().join("ledger/dir.batch")).unwrap();
    fold(&ledger, &*stored.store());
    assert_counted(&*stored.store(), 3);
    for name in strange {
        assert!(dir.path().join("ledger").join(name).exists(), "{name}");
    }
}
