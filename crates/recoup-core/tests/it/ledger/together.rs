//! A process that lives long appends its lines together, and loses none.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use recoup_core::entry::{EntryEvent, EntryEventKind, ProducerIdentity, ProductionCost};
use recoup_core::key::Kind;
use recoup_core::ledger::{AppendMode, HitLog, HitRecord, Ledger};
use tempfile::TempDir;

use super::{event, told};
use crate::support::{START, id};

fn scene() -> (TempDir, Ledger) {
    let dir = tempfile::tempdir().unwrap();
    let hits = HitLog::in_dir(dir.path().join("logs"));
    let ledger = Ledger::open(dir.path().join("ledger"), Some(hits), AppendMode::Together);
    (dir, ledger)
}

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).map_or(0, |text| text.lines().count())
}

fn noted(dir: &TempDir) -> usize {
    lines(&dir.path().join("ledger/open.log"))
}

fn hit(ledger: &Ledger) {
    let (id, stored) = (id("a"), ProducerIdentity::default());
    let hit = HitRecord {
        at: START,
        kind: Kind::Result,
        id: &id,
        age: 1,
        current: None,
        stored: &stored,
        saved: ProductionCost::default(),
    };
    ledger.log_hit(&hit).unwrap();
}

#[test]
fn they_wait_for_each_other_until_there_are_enough() {
    let (dir, ledger) = scene();
    for _ in 0..63 {
        ledger.append_event(&event("a", 1)).unwrap();
    }
    assert_eq!(noted(&dir), 0);
    ledger.append_event(&event("a", 1)).unwrap();
    assert_eq!(noted(&dir), 64);
}

#[test]
fn none_waits_for_long() {
    let (dir, ledger) = scene();
    let start = Instant::now();
    for round in 1..=2 {
        ledger.append_event(&event("a", 1)).unwrap();
        hit(&ledger);
        while noted(&dir) < round || lines(&dir.path().join("logs/hits.jsonl")) < round {
            assert!(start.elapsed() < Duration::from_secs(20), "round {round}");
            thread::sleep(Duration::from_millis(20));
        }
    }
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
}

#[test]
fn nothing_is_lost_at_the_end() {
    let (dir, ledger) = scene();
    let clone = ledger.clone();
    ledger.append_event(&event("a", 1)).unwrap();
    hit(&clone);
    drop(ledger);
    assert_eq!(noted(&dir), 0, "a clone is still there");
    drop(clone);
    assert_eq!((noted(&dir), lines(&dir.path().join("logs/hits.jsonl"))), (1, 1));
}

#[test]
fn a_fold_a_question_and_a_flush_see_all_of_them() {
    let (dir, ledger) = scene();
    ledger.append_event(&event("a", 1)).unwrap();
    assert!(ledger.is_due());
    assert_eq!(told(&ledger), [event("a", 1)]);
    let stored = EntryEvent { what: EntryEventKind::Stored, ..event("a", 1) };
    ledger.append_event(&stored).unwrap();
    assert_eq!(ledger.history(&id("a")).unwrap(), [stored]);
    ledger.append_event(&event("a", 1)).unwrap();
    ledger.flush().unwrap();
    assert_eq!(noted(&dir), 2);
}

#[test]
fn what_can_not_be_written_is_tried_again() {
    let (dir, ledger) = scene();
    fs::write(dir.path().join("ledger"), "in the way").unwrap();
    ledger.append_event(&event("a", 1)).unwrap();
    ledger.flush().unwrap_err();
    ledger.append_event(&event("b", 1)).unwrap();
    fs::remove_file(dir.path().join("ledger")).unwrap();
    assert_eq!(told(&ledger), [event("a", 1), event("b", 1)]);
}

#[test]
fn lines_of_many_threads_are_all_there() {
    let (_dir, ledger) = scene();
    thread::scope(|scope| {
        for n in 0..8 {
            let ledger = ledger.clone();
            scope.spawn(move || {
                for k in 0..333 {
                    ledger.append_event(&event(&format!("k{}", n * 333 + k), 1)).unwrap();
                }
            });
        }
    });
    let mut keys: Vec<String> =
        told(&ledger).into_iter().map(|event| event.id.key.to_string()).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 8 * 333);
}
