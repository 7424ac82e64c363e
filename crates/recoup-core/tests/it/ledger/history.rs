//! What became of an entry can be asked for long after it was counted.

use std::fs;

use recoup_core::base::clock::Timestamp;
use recoup_core::entry::{EntryEvent, EntryEventKind, EventBatch, EventDetail, EventReason};
use recoup_core::key::Scope;
use recoup_core::ledger::Ledger;
use recoup_core::{Error, ErrorKind, Result};
use tempfile::TempDir;

use super::{event, ledger, told};
use crate::support::{START, id, id_in, later, scopes};

fn at(millis: u64, key: &str, what: EntryEventKind) -> EntryEvent {
    EntryEvent { at: later(millis), what, ..event(key, 1) }
}

fn fates(ledger: &Ledger, key: &str) -> Vec<(Timestamp, EntryEventKind)> {
    let history = ledger.history(&id(key)).unwrap();
    history.into_iter().map(|event| (event.at, event.what)).collect()
}

fn failing(_: &EventBatch) -> Result<()> {
    Err(Error::new(ErrorKind::Locked, "not now"))
}

fn size_of_history(dir: &TempDir) -> u64 {
    let Ok(logs) = fs::read_dir(dir.path().join("ledger/history")) else { return 0 };
    logs.map(|log| log.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn the_latest_comes_first_whether_it_was_told_or_not() {
    let (_dir, ledger) = ledger();
    assert_eq!(ledger.history(&id("a")).unwrap(), [], "before anything was noted");
    let evicted = EntryEvent {
        detail: EventDetail::because(EventReason::MaxEntries(2)),
        ..at(2, "a", EntryEventKind::Evicted)
    };
    ledger.append_event(&at(1, "a", EntryEventKind::Stored)).unwrap();
    ledger.append_event(&evicted).unwrap();
    told(&ledger);
    ledger.append_event(&at(3, "a", EntryEventKind::Refused)).unwrap();
    ledger.fold(failing).unwrap_err();
    ledger.append_event(&at(4, "a", EntryEventKind::Stored)).unwrap();
    let expected = [
        at(4, "a", EntryEventKind::Stored),
        at(3, "a", EntryEventKind::Refused),
        evicted,
        at(1, "a", EntryEventKind::Stored),
    ];
    for round in 0..3 {
        assert_eq!(ledger.history(&id("a")).unwrap(), expected, "round {round}");
        told(&ledger);
    }
}

#[test]
fn of_one_entry_and_no_other() {
    let (_dir, ledger) = ledger();
    let scope = scopes()[1].clone();
    let others = ["ab", "b", "a.b", "a-"].map(|key| at(1, key, EntryEventKind::Stored));
    let elsewhere = EntryEvent { id: id_in(&scope, "a"), ..at(2, "a", EntryEventKind::Stored) };
    let talk = format!("x {} a", Scope::global());
    let about = EntryEvent {
        detail: EventDetail { by: Some(talk), ..EventDetail::default() },
        ..others[1].clone()
    };
    ledger.append_events(&others).unwrap();
    ledger.append_events(&[elsewhere.clone(), about, at(3, "a", EntryEventKind::Purged)]).unwrap();
    for _ in 0..2 {
        assert_eq!(fates(&ledger, "a"), [(later(3), EntryEventKind::Purged)]);
        assert_eq!(ledger.history(&elsewhere.id).unwrap(), std::slice::from_ref(&elsewhere));
        told(&ledger);
    }
}

#[test]
fn look_ups_that_change_nothing_take_no_room() {
    let (dir, ledger) = ledger();
    for what in [EntryEventKind::Hit, EntryEventKind::Absent, EntryEventKind::Unavailable] {
        ledger.append_event(&at(1, "a", what)).unwrap();
    }
    assert_eq!(ledger.history(&id("a")).unwrap(), []);
    told(&ledger);
    assert_eq!(size_of_history(&dir), 0);
}

#[test]
fn it_is_bounded_and_the_oldest_goes_first() {
    let (dir, ledger) = ledger();
    for round in 0..60u64 {
        let events: Vec<EntryEvent> =
            (0..2_000).map(|n| at(round, &format!("key-{n}"), EntryEventKind::Stored)).collect();
        ledger.append_events(&events).unwrap();
        told(&ledger);
    }
    assert!((3 << 20..5 << 20).contains(&size_of_history(&dir)), "{}", size_of_history(&dir));
    let left = fates(&ledger, "key-7");
    assert_eq!(left[0].0, later(59));
    assert!(left.len() < 60 && left.is_sorted_by(|a, b| a.0 > b.0), "{left:?}");
    assert_eq!(left.len() as u64, 60 - left.last().unwrap().0.millis_since(START), "no gap");
}

/// Whoever dies after the history was written and before the batch is gone.
#[test]
fn a_batch_that_is_told_again_is_remembered_once() {
    let (dir, ledger) = ledger();
    ledger
        .append_events(&[at(1, "a", EntryEventKind::Stored), at(1, "a", EntryEventKind::Stored)])
        .unwrap();
    ledger.fold(failing).unwrap_err();
    let [batch] = &super::files(dir.path())[..] else { panic!() };
    let contents = fs::read(batch).unwrap();
    for round in 0..3 {
        told(&ledger);
        assert_eq!(fates(&ledger, "a").len(), 2, "round {round}");
        fs::write(batch, &contents).unwrap();
        let size = size_of_history(&dir);
        told(&ledger);
        assert_eq!(size_of_history(&dir), size, "round {round}");
        fs::write(batch, &contents).unwrap();
    }
}

#[test]
fn what_could_not_be_told_is_not_yet_history() {
    let (dir, ledger) = ledger();
    ledger.append_event(&at(1, "a", EntryEventKind::Evicted)).unwrap();
    ledger.fold(failing).unwrap_err();
    assert_eq!(size_of_history(&dir), 0);
    assert_eq!(fates(&ledger, "a"), [(later(1), EntryEventKind::Evicted)]);
}

#[test]
fn damage_is_passed_over() {
    let (dir, ledger) = ledger();
    ledger.append_event(&at(1, "a", EntryEventKind::Stored)).unwrap();
    told(&ledger);
    let log = dir.path().join("ledger/history/current.log");
    let mut text = fs::read(&log).unwrap();
    text.extend(
        b"\xff\xfe global a\n9 lost 1 result global a\n4100000000999 stored 1 result global a",
    );
    fs::write(&log, text).unwrap();
    ledger.append_event(&at(2, "a", EntryEventKind::Refused)).unwrap();
    told(&ledger);
    let expected = [(later(2), EntryEventKind::Refused), (later(1), EntryEventKind::Stored)];
    assert_eq!(fates(&ledger, "a"), expected);
    fs::remove_dir_all(dir.path().join("ledger/history")).unwrap();
    fs::write(dir.path().join("ledger/history"), "in the way").unwrap();
    ledger.append_event(&event("a", 1)).unwrap();
    assert_eq!(told(&ledger).len(), 1, "what counts is counted without it");
}
