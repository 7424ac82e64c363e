//! What waits for the worker is not lost, and is forgotten when that is asked for.

use std::fs;
use std::path::PathBuf;

use rusqlite::Connection;
use serde_json::json;

use super::worker::{entry, queues, settled, stops};
use super::{Talk, log, remembered};
use crate::support::Home;

/// A home whose worker has done something, with its queue and an empty transcript.
fn worked(home: &Home) -> (PathBuf, PathBuf) {
    let transcript = home.write("transcript.jsonl", "");
    stops(&Talk::new(home, "one"), &transcript);
    settled(home);
    (queues(home).remove(0), transcript)
}

/// Makes the database refuse what a condition says.
fn refuse(home: &Home, table: &str, when: &str) {
    sql(
        home,
        &format!(
            "CREATE TRIGGER refused BEFORE INSERT ON {table} WHEN {when} BEGIN SELECT RAISE(ABORT, 'no'); END"
        ),
    );
}

fn sql(home: &Home, statement: &str) {
    Connection::open(home.recoup().join("memory.db")).unwrap().execute_batch(statement).unwrap();
}

#[test]
fn what_could_not_be_preserved_before_a_compaction_is_preserved_at_the_next() {
    let home = Home::new();
    let (_, transcript) = worked(&home);
    let doubtful = "add a field for the owner to the form\nfrom now on use pnpm instead of npm";
    fs::write(&transcript, entry("user", json!(doubtful))).unwrap();
    refuse(&home, "notes", "true");
    let compacts = || {
        let changes = json!({ "transcript_path": transcript });
        Talk::new(&home, "one").tell_with("PreCompact-manual", changes).is_silent();
        settled(&home);
    };
    compacts();
    assert_eq!(remembered(&home, "candidate"), [""; 0]);
    assert!(log(&home).contains("a job failed"), "{}", log(&home));
    sql(&home, "DROP TRIGGER refused");
    compacts();
    assert_eq!(remembered(&home, "candidate"), ["use pnpm instead of npm"], "{}", log(&home));
}
