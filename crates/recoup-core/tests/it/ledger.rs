//! The ledger: every note reaches the store exactly once, whoever is noting,
//! folding or dying at the time.

mod crashes;
mod details;
mod following;
mod history;
mod hit_log;
mod lines;
mod slices;
mod together;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, ScopedJoinHandle};

use recoup_core::entry::{EntryEvent, EntryEventKind, EventDetail};
use recoup_core::key::Kind;
use recoup_core::ledger::Ledger;
use tempfile::TempDir;

use crate::support::{START, id, later};

fn event(key: &str, count: u64) -> EntryEvent {
    EntryEvent {
        at: START,
        id: id(key),
        kind: Kind::Result,
        what: EntryEventKind::Hit,
        count,
        detail: EventDetail::default(),
    }
}

/// A ledger, and the directory that it is in.
fn ledger() -> (TempDir, Ledger) {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(dir.path().join("ledger"));
    (dir, ledger)
}

/// Folds, and gives what was told.
fn told(ledger: &Ledger) -> Vec<EntryEvent> {
    let mut events = Vec::new();
    let count = ledger
        .fold(|batch| {
            events.extend(batch.events.clone());
            Ok(())
        })
        .unwrap();
    assert_eq!(count, events.len());
    events
}

/// The files of a ledger that hold events.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(listing) = fs::read_dir(dir.join("ledger")) else { return Vec::new() };
    let paths = listing.map(|entry| entry.unwrap().path());
    let holds_events = |path: &PathBuf| path.extension().is_some_and(|end| end != "lock");
    paths.filter(|path| path.is_file() && holds_events(path)).collect()
}

#[test]
fn what_is_noted_is_told_once_in_order_and_whole() {
    let (dir, ledger) = ledger();
    assert!(!ledger.is_due());
    assert_eq!(told(&ledger), [], "nothing was noted");
    assert!(!dir.path().join("ledger").exists(), "and nothing was made");
    let mut events = Vec::new();
    for (n, what) in EntryEventKind::ALL.into_iter().enumerate() {
        for (kind, scope) in Kind::ALL.into_iter().zip(crate::support::scopes()) {
            let id = crate::support::id_in(&scope, &format!("k.{n}_-"));
            events.push(EntryEvent {
                at: later(n as u64),
                id,
                kind,
                what,
                count: n as u64,
                detail: EventDetail::default(),
            });
        }
    }
    for event in &events {
        ledger.append_event(event).unwrap();
    }
    assert!(ledger.is_due());
    assert_eq!(told(&ledger), events);
    assert!(!ledger.is_due());
    assert_eq!(told(&ledger), []);
    assert_eq!(files(dir.path()), Vec::<PathBuf>::new());
}

#[test]
fn files_are_private() {
    let (dir, ledger) = ledger();
    ledger.append_event(&event("a", 1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&dir.path().join("ledger")), 0o700);
    let _ = ledger.fold(|_| Err(recoup_core::Error::usage("not now")));
    ledger.append_event(&event("a", 1)).unwrap();
    assert_eq!(files(dir.path()).len(), 2, "one that is closed and one that is open");
    for entry in fs::read_dir(dir.path().join("ledger")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn notes_of_many_threads_are_told_once_while_another_folds_all_the_time() {
    const THREADS: u64 = 8;
    const NOTES: u64 = 500;
    let (_dir, ledger) = ledger();
    let (start, done) = (Barrier::new(9), AtomicBool::new(false));
    let note = |number: u64| {
        // One that found the ledger closed ten times over was not noted.
        assert!((0..1_000).any(|_| ledger.append_event(&event(&format!("k{number}"), 1)).is_ok()));
    };
    let mut all = thread::scope(|scope| {
        let folder = scope.spawn(|| {
            start.wait();
            let mut all = Vec::new();
            while !done.load(Ordering::SeqCst) {
                all.extend(told(&ledger));
            }
            all
        });
        let noters: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (start, note) = (&start, &note);
                scope.spawn(move || {
                    start.wait();
                    (0..NOTES).for_each(|n| note(thread * NOTES + n));
                })
            })
            .collect();
        let noted: Vec<_> = noters.into_iter().map(ScopedJoinHandle::join).collect();
        done.store(true, Ordering::SeqCst);
        assert!(noted.iter().all(Result::is_ok));
        folder.join().unwrap()
    });
    all.extend(told(&ledger));
    let mut keys: Vec<String> = all.into_iter().map(|event| event.id.key.to_string()).collect();
    let mut expected: Vec<String> = (0..THREADS * NOTES).map(|n| format!("k{n}")).collect();
    keys.sort_unstable();
    expected.sort_unstable();
    assert!(keys == expected, "{} told of {}", keys.len(), expected.len());
}

#[test]
fn one_that_folds_is_left_to_it() {
    let (_dir, ledger) = ledger();
    ledger.append_event(&event("a", 1)).unwrap();
    let folded = ledger
        .fold(|batch| {
            assert_eq!(batch.events.len(), 1);
            assert_eq!(told(&ledger), [], "it is told already");
            ledger.append_event(&event("b", 1)).unwrap();
            Ok(())
        })
        .unwrap();
    assert_eq!(folded, 1);
    assert_eq!(told(&ledger), [event("b", 1)], "what was noted meanwhile comes next");
}
