//! A damaged database is set aside as it is, with its log, and a fresh one
//! begins; nobody is ever given what was not stored.

use std::fs;
use std::path::Path;

use crate::support::{Home, Output};

const ENTRIES: usize = 300;

/// A home with a few hundred entries, all of them in the database's own file.
fn scene() -> Home {
    let home = Home::new();
    home.set("0", "[0]");
    home.multiply(ENTRIES - 1);
    home.checkpoint();
    home.get("299").expect_hit("[0]");
    home
}

fn overwrite(path: &Path, from: usize, to: usize) {
    let mut bytes = fs::read(path).unwrap();
    assert!(to <= bytes.len());
    bytes[from..to].fill(0xa5);
    fs::write(path, bytes).unwrap();
}

fn assert_told(home: &Home, output: &Output) {
    let [place] = &home.set_aside()[..] else { panic!("{:?}", home.set_aside()) };
    assert!(output.stderr.starts_with("warning: "), "{}", output.stderr);
    assert!(output.stderr.contains(place.to_str().unwrap()), "{}", output.stderr);
    assert!(output.stderr.contains("damaged"), "{}", output.stderr);
}

fn assert_works(home: &Home) {
    home.set("new", "[1]");
    home.get("new").expect_hit("[1]");
    assert_eq!(home.set_aside().len(), 1, "set aside once");
}

#[test]
fn a_reader_that_finds_garbage_misses_and_sets_it_aside_unchanged() {
    let home = scene();
    home.set("late", "[2]");
    let log = home.recoup().join("cache.db-wal");
    let len = fs::read(home.db()).unwrap().len();
    overwrite(&home.db(), 0, len);
    let (db, log) = (fs::read(home.db()).unwrap(), fs::read(log).unwrap());
    assert!(!log.is_empty());

    let output = home.get("0").expect_miss();
    assert_told(&home, &output);
    let place = &home.set_aside()[0];
    assert!(fs::read(place.join("cache.db")).unwrap() == db);
    assert!(fs::read(place.join("cache.db-wal")).unwrap() == log);
    home.get("0").expect_miss();
    assert_works(&home);
}

#[test]
fn a_writer_that_finds_garbage_sets_it_aside_and_succeeds() {
    let home = scene();
    overwrite(&home.db(), 0, 8192);
    let damaged = fs::read(home.db()).unwrap();
    let output = home.cache(&["set", "--key", "new", "--condensed", "[1]"]).expect(0);
    assert_told(&home, &output);
    assert!(output.stderr.ends_with("Cached result for key: new\n"), "{}", output.stderr);
    assert!(fs::read(home.set_aside()[0].join("cache.db")).unwrap() == damaged);
    assert_works(&home);
}

#[test]
fn a_truncated_file_is_set_aside() {
    for len in [100, 4096, 3 * 4096 + 1, 10 * 4096] {
        let home = scene();
        let bytes = fs::read(home.db()).unwrap();
        fs::write(home.db(), &bytes[..len]).unwrap();
        let output = home.get("150");
        if output.code == Some(0) {
            output.expect_hit("[0]");
        } else {
            assert_told(&home, &output.expect_miss());
            assert_works(&home);
        }
    }
}

#[test]
fn an_empty_file_is_begun_anew() {
    for left in ["", "S"] {
        let home = scene();
        fs::write(home.db(), left).unwrap();
        home.get("0").expect_miss();
        home.set("new", "[1]");
        home.get("new").expect_hit("[1]");
    }
}

#[test]
fn damaged_pages_in_the_middle_never_give_a_wrong_answer() {
    let home = scene();
    let pages = fs::read(home.db()).unwrap().len() / 4096;
    assert!(pages > 20, "{pages} pages");
    overwrite(&home.db(), pages / 3 * 4096, pages / 2 * 4096);
    let mut told = 0;
    for key in (0..ENTRIES).step_by(7) {
        let output = home.get(&key.to_string());
        if output.code == Some(0) {
            output.expect_hit("[0]");
        } else if !output.stderr.starts_with("miss: ") {
            assert_told(&home, &output.expect_miss());
            told += 1;
        }
    }
    assert_eq!(told, 1, "the damage was met, and told once");
    assert_works(&home);
}

#[test]
fn a_listing_of_a_damaged_database_sets_it_aside() {
    let home = scene();
    let pages = fs::read(home.db()).unwrap().len() / 4096;
    overwrite(&home.db(), 2 * 4096, pages * 4096);
    let output = home.cache(&["ls", "--json"]).expect(0);
    assert_told(&home, &output);
    assert_works(&home);
}

#[test]
fn a_torn_log_loses_its_end_and_nothing_else() {
    let home = scene();
    home.set("late", "[2]");
    let log = home.recoup().join("cache.db-wal");
    let bytes = fs::read(&log).unwrap();
    fs::write(&log, &bytes[..bytes.len() / 2]).unwrap();
    fs::remove_file(home.recoup().join("cache.db-shm")).unwrap();
    home.get("0").expect_hit("[0]");
    home.get("late").expect_miss();
    assert_eq!(home.set_aside().len(), 0);
    home.set("late", "[3]");
    home.get("late").expect_hit("[3]");
}
