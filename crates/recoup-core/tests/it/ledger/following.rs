//! Whoever follows sees each line once, across folds, from all ledgers.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use recoup_core::ledger::{Ledger, LedgerFollower};

use super::{event, told};

fn keys(follow: &mut LedgerFollower) -> Vec<String> {
    let news = follow.poll_events().unwrap();
    let mut keys: Vec<_> = news.iter().map(|event| event.id.key.to_string()).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn lines_are_seen_once_whether_their_log_is_open_closed_or_told() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["a", "b"].map(|name| Ledger::at(dir.path().join("ledger").join(name)));
    a.append_event(&event("before", 1)).unwrap();
    let mut follow = LedgerFollower::all_in(dir.path().join("ledger")).unwrap();
    assert_eq!(keys(&mut follow), Vec::<String>::new(), "what was there before is old");
    a.append_event(&event("1", 1)).unwrap();
    b.append_event(&event("2", 1)).unwrap();
    assert_eq!(keys(&mut follow), ["1", "2"]);
    a.append_event(&event("3", 1)).unwrap();
    told(&a);
    a.append_event(&event("4", 1)).unwrap();
    told(&a);
    a.append_event(&event("5", 1)).unwrap();
    assert_eq!(keys(&mut follow), ["3", "4", "5"], "two folds between two looks");
    told(&a);
    told(&b);
    assert_eq!(keys(&mut follow), Vec::<String>::new(), "and none twice");
}

#[test]
fn half_a_line_waits_for_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = dir.path().join("ledger/a");
    fs::create_dir_all(&ledger).unwrap();
    let mut follow = LedgerFollower::all_in(dir.path().join("ledger")).unwrap();
    let line = "4100000000123 hit 1 result global k\nnonsense\n";
    let mut seen = Vec::new();
    for len in 0..=line.len() {
        fs::write(ledger.join("open.log"), &line[..len]).unwrap();
        seen.extend(keys(&mut follow));
    }
    assert_eq!(seen, ["k"]);
}

#[test]
fn a_log_that_was_told_goes_at_once_when_nobody_follows() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(dir.path().join("ledger/a"));
    let files = || {
        let files = fs::read_dir(dir.path().join("ledger/a")).unwrap();
        files
            .filter(|file| {
                file.as_ref().unwrap().path().extension().is_some_and(|end| end == "told")
            })
            .count()
    };
    let follow = LedgerFollower::all_in(dir.path().join("ledger")).unwrap();
    ledger.append_event(&event("1", 1)).unwrap();
    told(&ledger);
    assert_eq!(files(), 1);
    drop(follow);
    ledger.append_event(&event("2", 1)).unwrap();
    told(&ledger);
    assert_eq!(files(), 1, "young ones stay for those who may still read");
}

#[test]
fn nothing_is_lost_or_doubled_while_many_note_and_one_folds_all_the_time() {
    let dir = tempfile::tempdir().unwrap();
    let mut follow = LedgerFollower::all_in(dir.path().join("ledger")).unwrap();
    let ledger = Ledger::at(dir.path().join("ledger/a"));
    let done = AtomicBool::new(false);
    let mut seen: Vec<String> = Vec::new();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::SeqCst) {
                told(&ledger);
            }
        });
        let noters: Vec<_> = (0..4)
            .map(|n| {
                let ledger = ledger.clone();
                scope.spawn(move || {
                    for k in 0..300 {
                        let event = event(&format!("k{}", n * 300 + k), 1);
                        assert!((0..1_000).any(|_| ledger.append_event(&event).is_ok()));
                    }
                })
            })
            .collect();
        while !noters.iter().all(thread::ScopedJoinHandle::is_finished) {
            seen.extend(keys(&mut follow));
        }
        done.store(true, Ordering::SeqCst);
    });
    seen.extend(keys(&mut follow));
    assert_eq!(seen.len(), 1_200, "none twice");
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 1_200, "and none lost");
}
