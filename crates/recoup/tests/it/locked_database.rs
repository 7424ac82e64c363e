//! Somebody else holds the database: a reader does not wait, a writer does,
//! and both say what it was.

use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::support::Home;

/// Holds everything, as a backup tool or a debugger would.
fn hold(home: &Home) -> Connection {
    let holder = Connection::open(home.db()).unwrap();
    holder
        .execute_batch(
            "PRAGMA locking_mode = EXCLUSIVE;
             BEGIN IMMEDIATE;
             UPDATE entries SET hits = hits;",
        )
        .unwrap();
    holder
}

#[test]
fn a_reader_warns_and_misses_soon() {
    let home = Home::new();
    home.set("k", "1");
    let holder = hold(&home);
    let started = Instant::now();
    let output = home.get("k").expect_miss();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(output.stderr.starts_with("warning: the cache "), "{}", output.stderr);
    assert!(output.stderr.contains("hint: another process is using"), "{}", output.stderr);
    let json = home.cache(&["get", "--key", "k", "--json"]).expect(1).json();
    assert_eq!(json["status"], "miss");
    assert_eq!(json["reason"], "store_unavailable");
    drop(holder);
    home.get("k").expect_hit("1");
}

#[test]
fn a_writer_waits_until_its_turn_comes() {
    let home = Home::new();
    home.set("k", "1");
    let holder = hold(&home);
    thread::scope(|scope| {
        scope.spawn(|| home.set("k", "2"));
        thread::sleep(Duration::from_secs(1));
        drop(holder);
    });
    home.get("k").expect_hit("2");
}

#[test]
fn a_writer_that_waited_in_vain_says_so_and_changes_nothing() {
    let home = Home::new();
    home.set("k", "1");
    let holder = hold(&home);
    let started = Instant::now();
    thread::scope(|scope| {
        let waiting: Vec<_> = [
            &["set", "--key", "k", "--condensed", "2"][..],
            &["delete", "--key", "k"],
            &["clear", "--yes"],
        ]
        .into_iter()
        .map(|args| scope.spawn(|| home.cache(args)))
        .collect();
        for waiter in waiting {
            let output = waiter.join().unwrap().expect_failure("error: the cache ");
            assert!(output.stderr.contains("hint: another process is using"), "{}", output.stderr);
        }
    });
    assert!(started.elapsed() < Duration::from_mins(1));
    drop(holder);
    home.get("k").expect_hit("1");
}

#[test]
fn a_reader_sees_the_old_value_while_another_writes() {
    let home = Home::new();
    home.set("k", "1");
    let writer = home.sql();
    writer.execute_batch("BEGIN IMMEDIATE; DELETE FROM entries;").unwrap();
    home.get("k").expect_hit("1");
}
