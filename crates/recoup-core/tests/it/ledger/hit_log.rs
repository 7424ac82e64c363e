//! The hit log: one line for each hit, moved on when it is long, whoever writes.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use recoup_core::entry::{ProducerIdentity, ProductionCost};
use recoup_core::key::Kind;
use recoup_core::ledger::{AppendMode, HitLog, HitRecord, Ledger};

use crate::support::{START, id};

fn ledger_in(dir: &Path, max_len: u64) -> Ledger {
    let hits = HitLog::in_dir(dir.join("logs")).with_max_len(max_len);
    Ledger::open(dir.join("ledger"), Some(hits), AppendMode::AtOnce)
}

fn named(name: &str) -> ProducerIdentity {
    ProducerIdentity { name: Some(name.to_owned()), ..ProducerIdentity::default() }
}

fn log(ledger: &Ledger, key: &str) {
    let (id, current, stored) = (id(key), named("now \"ü\"\n"), named("then"));
    let hit = HitRecord {
        at: START,
        kind: Kind::Command,
        id: &id,
        age: 42,
        current: Some(&current),
        stored: &stored,
        saved: ProductionCost { millis: Some(1_500), ..ProductionCost::default() },
    };
    ledger.log_hit(&hit).unwrap();
}

fn files(dir: &Path) -> Vec<(String, Vec<serde_json::Value>)> {
    let mut files: Vec<_> = fs::read_dir(dir.join("logs"))
        .unwrap()
        .map(|file| file.unwrap())
        .filter(|file| file.path().extension().is_some_and(|end| end == "jsonl"))
        .map(|file| {
            let text = fs::read_to_string(file.path()).unwrap();
            let lines = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            (file.file_name().into_string().unwrap(), lines)
        })
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    files
}

#[test]
fn a_line_says_who_asked_who_made_it_how_old_it_is_and_what_it_saved() {
    let dir = tempfile::tempdir().unwrap();
    log(&ledger_in(dir.path(), 1 << 20), "a");
    let path = dir.path().join("logs/hits.jsonl");
    insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"{"at":"2099-12-03T16:53:20.123Z","kind":"command","scope":"global","key":"a","age_ms":42,"current":{"name":"now \"ü\"\n"},"stored":{"name":"then"},"saved":{"millis":1500}}"#);
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o600);
}

#[test]
fn files_move_on_and_the_oldest_goes() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = ledger_in(dir.path(), 1_000);
    for n in 0..100 {
        log(&ledger, &format!("k{n}"));
    }
    let files = files(dir.path());
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["hits.1.jsonl", "hits.2.jsonl", "hits.3.jsonl", "hits.4.jsonl", "hits.jsonl"]
    );
    let oldest_first = [3, 2, 1, 0, 4].map(|n| &files[n].1);
    let keys: Vec<String> =
        oldest_first.into_iter().flatten().map(|line| line["key"].to_string()).collect();
    let expected: Vec<String> = (100 - keys.len()..100).map(|n| format!("\"k{n}\"")).collect();
    assert_eq!(keys, expected, "in order, and without a gap");
    assert!(keys.len() > 15);
}

#[test]
fn lines_of_many_writers_are_whole_and_none_is_lost_while_files_move_on() {
    let dir = tempfile::tempdir().unwrap();
    thread::scope(|scope| {
        for n in 0..8 {
            let ledger = ledger_in(dir.path(), 60_000);
            scope.spawn(move || (0..100).for_each(|k| log(&ledger, &format!("k{}", n * 100 + k))));
        }
    });
    let files = files(dir.path());
    assert!(files.len() > 1);
    let mut keys: Vec<String> = files
        .into_iter()
        .flat_map(|(_, lines)| lines)
        .map(|line| line["key"].to_string())
        .collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 800);
}

#[test]
fn without_a_log_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let ledger = Ledger::at(dir.path().join("ledger"));
    log(&ledger, "a");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
