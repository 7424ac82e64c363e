//! A long log is handed over slice by slice, and each event still once.

use std::collections::HashSet;

use recoup_core::entry::EntryEvent;
use recoup_core::error::{Error, ErrorKind};
use recoup_core::ledger::Ledger;

use super::{event, ledger, told};

const MANY: usize = 10_000;

fn filled() -> (tempfile::TempDir, Ledger) {
    let (dir, ledger) = ledger();
    let events: Vec<EntryEvent> = (0..MANY).map(|n| event(&format!("key-{n}"), 1)).collect();
    ledger.append_events(&events).unwrap();
    (dir, ledger)
}

#[test]
fn a_write_hands_over_one_slice_and_the_rest_stays_due() {
    let (_dir, ledger) = filled();
    let (mut keys, mut rounds) = (HashSet::new(), 0);
    while ledger.is_due() {
        let mut batches = 0;
        let count = ledger.fold_slice(|batch| {
            batches += 1;
            keys.extend(batch.events.iter().map(|event| event.id.key.clone()));
            Ok(())
        });
        let count = count.unwrap();
        assert!(batches == 1 && count > 0 && count < MANY / 3, "{count} in {batches}");
        rounds += 1;
    }
    assert!(rounds > 3);
    assert_eq!(keys.len(), MANY);
    assert!(told(&ledger).is_empty());
}

/// Lines noted while a long batch waits make no batches of their own.
#[test]
fn a_writer_who_notes_something_each_time_catches_up() {
    let (dir, ledger) = filled();
    let mut counted = 0;
    for round in 0..40 {
        ledger.append_event(&event(&format!("new-{round}"), 1)).unwrap();
        if ledger.is_due() {
            counted += ledger.fold_slice(|_| Ok(())).unwrap();
        }
        assert!(super::files(dir.path()).len() <= 2, "an open log and a closed one");
    }
    assert_eq!(counted + told(&ledger).len(), MANY + 40);
    assert!(counted >= MANY);
}

/// The store has committed a slice, and then the process dies: the same slice comes again under
/// the same name.
#[test]
fn a_slice_that_was_told_before_a_crash_keeps_its_name() {
    let (_dir, ledger) = filled();
    let (mut names, mut counted) = (HashSet::new(), 0);
    for round in 0.. {
        assert!(round < 1_000, "it ends");
        let done = ledger.fold(|batch| {
            if names.insert(batch.name.to_string()) {
                counted += batch.events.len();
                return Err(Error::new(ErrorKind::Io, "killed right after the commit"));
            }
            Ok(())
        });
        if done.is_ok() {
            break;
        }
    }
    assert_eq!(counted, MANY);
    assert!(!ledger.is_due());
}
