//! `recoup import`: real files of other programs, what of them comes in, and that they stay as they
//! are.

mod claude_mem;
mod claude_recall;
mod damaged;
mod entries;
mod rule_files;

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::Value;

use crate::support::{Home, Output, tree};

/// `recoup import --json`, which must succeed; the report of its only source.
fn import(home: &Home, path: &Path, flags: &[&str]) -> Value {
    let path = path.to_str().unwrap();
    let output = home.run(&[&["import", path, "--json"], flags].concat()).expect(0);
    let report = output.json();
    let sources = report["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 1, "{report}");
    sources[0].clone()
}

fn dry_run(home: &Home, path: &Path) -> Value {
    import(home, path, &["--dry-run"])
}

/// Number of items that came in, wait, were known, and stay out.
fn counts(report: &Value) -> [u64; 4] {
    ["imported", "candidates", "known", "left_out"].map(|name| report[name].as_u64().unwrap())
}

/// Outcome and reason of the item with this text.
#[track_caller]
fn outcome(report: &Value, text: &str) -> (String, String) {
    let items = report["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["text"].as_str().unwrap().starts_with(text));
    let item = item.unwrap_or_else(|| panic!("{text} is not in {items:#?}"));
    let word = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
    (word("outcome"), word("why"))
}

#[track_caller]
fn left_out(report: &Value, text: &str, why: &str) {
    let (outcome, reason) = outcome(report, text);
    assert_eq!(outcome, "left-out", "{text}");
    assert!(reason.contains(why), "{text}: {reason}");
}

/// All notes of this project and of everywhere.
fn notes(home: &Home) -> Vec<Value> {
    let listed = home.run(&["memory", "list", "--all", "--json"]).expect(0).json();
    listed.as_array().unwrap().clone()
}

#[track_caller]
fn note(home: &Home, text: &str) -> Value {
    let notes = notes(home);
    let found = notes.iter().find(|note| note["text"] == text);
    found.unwrap_or_else(|| panic!("{text} is not in {notes:#?}")).clone()
}

fn database(path: &Path, sql: &str) -> Connection {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(sql).unwrap();
    connection
}

/// Every file beneath a directory, with its bytes.
fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = tree(dir).into_iter().filter(|path| path.is_file());
    files.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

fn usage(output: Output, words: &str) {
    output.expect_usage(words);
}

#[test]
fn what_is_no_source_is_refused_with_what_would_be() {
    let home = Home::new();
    usage(home.run(&["import", "nowhere.db"]), "no such file: nowhere.db");
    usage(home.run(&["import", "."]), "holds nothing that can be imported: recoup imports");
    home.write("photo.bin", b"\x89PNG");
    usage(home.run(&["import", "photo.bin"]), "holds nothing that can be imported");
    database(&home.path("other.db"), "CREATE TABLE songs (title TEXT)");
    usage(home.run(&["import", "../other.db"]), "holds nothing that can be imported");
    home.run(&["memory", "add", "use pnpm"]).expect(0);
    let own = home.recoup().join("memory.db");
    usage(home.run(&["import", own.to_str().unwrap()]), "use `recoup memory export`");
}

#[test]
fn one_bad_source_does_not_stop_the_others() {
    let home = Home::new();
    home.write("CLAUDE.md", "- use four spaces for Rust\n");
    let output = home.run(&["import", "nowhere.db", "CLAUDE.md", "--yes", "--json"]).expect(2);
    let sources = &output.json()["sources"];
    assert!(sources[0]["error"].as_str().unwrap().contains("no such file"));
    assert_eq!(sources[1]["imported"], 1);
    assert_eq!(note(&home, "use four spaces for Rust")["status"], "active");
}
