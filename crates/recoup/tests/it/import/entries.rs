//! Results: ai-agent's `cache.db`, directories of file-cache entries, and of the semantic-cache
//! protocol. What a look-up would not serve stays out.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use flate2::Compression;
use flate2::write::GzEncoder;
use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::base::digest::Sha256Digest;
use rusqlite::{Connection, params};
use serde_json::{Value, json};

use super::{contents, counts, database, dry_run, import, left_out};
use crate::support::Home;

const HOUR: i64 = 3_600_000;

fn now() -> i64 {
    SystemClock.now().as_millis()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn key(number: u8) -> String {
    Sha256Digest::of(&[number]).to_hex()
}

fn agent_cache(home: &Home) -> (PathBuf, Connection) {
    let path = home.path(".ai-agent/cache.db");
    let db = database(
        &path,
        "PRAGMA journal_mode = WAL;
         CREATE TABLE cache_entries (key_hash TEXT PRIMARY KEY, payload BLOB, kind TEXT,
           agent_name TEXT, tool_name TEXT, agent_hash TEXT, tool_namespace TEXT, format TEXT,
           created_at INTEGER, expires_at INTEGER, payload_bytes INTEGER);",
    );
    (path, db)
}

fn insert(db: &Connection, number: u8, kind: &str, payload: &[u8], expires: i64) {
    let sql =
        "INSERT INTO cache_entries (key_hash, payload, kind, agent_name, tool_name, agent_hash,
               tool_namespace, created_at, expires_at) VALUES (?1, ?2, ?3, 'reviewer', ?4, 'abc',
               'github', ?5, ?6)";
    let tool = (kind == "tool").then_some("search_code");
    let values = params![key(number), payload, kind, tool, now() - HOUR, expires];
    db.execute(sql, values).unwrap();
}

#[test]
fn answers_and_results_of_ai_agent_keep_key_age_and_expiry() {
    let home = Home::new();
    let (path, db) = agent_cache(&home);
    insert(&db, 1, "agent", &gzip(br#"{"report":"looks good"}"#), now() + HOUR);
    insert(&db, 2, "tool", &gzip(br#"{"result":"3 matches"}"#), now() + HOUR);
    insert(&db, 3, "tool", &gzip(b"{}"), now() - 1);
    insert(&db, 4, "tool", b"plain text", now() + HOUR);
    insert(&db, 5, "tool", &gzip(b"no json"), now() + HOUR);
    insert(&db, 6, "agent", &gzip(br#"{"password":"hunter2secret"}"#), now() + HOUR);
    // A kilobyte for each megabyte that it unpacks to.
    insert(&db, 7, "tool", &gzip(&vec![b' '; 64 << 20]), now() + HOUR);
    let planned = dry_run(&home, &path);
    assert_eq!(counts(&planned), [2, 0, 0, 5]);
    home.get(&key(1)).expect_miss();
    let done = import(&home, &path, &[]);
    assert_eq!(done["items"], planned["items"]);
    for (number, why) in [
        (3, "the entry has expired"),
        (4, "its payload is damaged: no gzip"),
        (5, "its payload is damaged: no JSON"),
        (6, "it contains a secret"),
        (7, "unpacks to more than 16 MB"),
    ] {
        left_out(&done, &key(number), why);
    }
    home.get(&key(1)).expect_hit(r#"{"report":"looks good"}"#);
    let shown = home.cache(&["show", "--key", &key(2), "--json"]).expect(0).json();
    assert_eq!(shown["kind"], "tool");
    let text = shown.to_string();
    assert!(text.contains("search_code") && text.contains("github"), "{text}");
    // An hour of two is over.
    home.cache(&["get", "--key", &key(1), "--max-age", "30m"]).expect_miss();
    assert_eq!(counts(&import(&home, &path, &[])), [0, 0, 2, 5]);
    drop(db);
}

#[test]
fn entries_go_to_the_scope_that_is_asked_for() {
    let home = Home::new();
    let (path, db) = agent_cache(&home);
    insert(&db, 1, "agent", &gzip(b"{}"), now() + HOUR);
    import(&home, &path, &["--scope", "global"]);
    home.get(&key(1)).expect_miss();
    home.cache(&["get", "--key", &key(1), "--scope", "global"]).expect_hit("{}");
}

fn file_cache(home: &Home) -> PathBuf {
    let dir = home.path("agent-cache");
    fs::create_dir(&dir).unwrap();
    let soon = now() / 1_000 + 3_600;
    for (key, json) in [
        ("kept", json!({ "value": "an answer", "expires_at": 0 }).to_string()),
        ("later", json!({ "value": "another", "expires_at": soon }).to_string()),
        ("expired", json!({ "value": "old", "expires_at": 1 }).to_string()),
        ("secret", json!({ "value": "password = hunter2secret", "expires_at": 0 }).to_string()),
        ("broken", r#"{"value": "cut o"#.to_owned()),
    ] {
        fs::write(dir.join(format!("{key}.json")), json).unwrap();
    }
    dir
}

#[test]
fn a_directory_of_file_cache_entries_comes_in_and_is_not_cleaned_up() {
    let home = Home::new();
    let dir = file_cache(&home);
    let before = contents(&dir);
    let done = import(&home, &dir, &[]);
    assert_eq!(counts(&done), [2, 0, 0, 3]);
    left_out(&done, "expired", "the entry has expired");
    left_out(&done, "secret", "it contains a secret");
    left_out(&done, "broken", "not an entry of the file-cache format");
    home.get("kept").expect_hit("an answer");
    home.get("later").expect_hit("another");
    assert_eq!(counts(&import(&home, &dir, &[])), [0, 0, 2, 3]);
    assert_eq!(contents(&dir), before, "what has expired is still there");
}

/// A directory as the protocol's own scripts write it.
fn protocol_directory(home: &Home, entries: &[(&str, &str, &[&str])]) -> PathBuf {
    let dir = home.project().join(".claude/cache");
    fs::create_dir_all(dir.join("results")).unwrap();
    let seconds = now() / 1_000;
    let mut listed = serde_json::Map::new();
    for (key, body, sources) in entries {
        fs::write(dir.join(format!("results/{key}.json")), body).unwrap();
        let entry = json!({
            "created_at": seconds, "cached_mtime": seconds, "source_paths": sources,
            "integrity_hash": Sha256Digest::of(body.as_bytes()).to_hex(),
            "full_result_path": null, "hit_count": 2, "last_hit": null,
        });
        listed.insert((*key).to_owned(), entry);
    }
    let index = json!({ "schema_version": "1.0.0", "created_at": "2026-04-06T17:24:01Z",
        "entries": Value::Object(listed), "stats": { "hits": 2, "misses": 1, "invalidations": 0 } });
    fs::write(dir.join("index.json"), index.to_string()).unwrap();
    dir
}

#[test]
fn a_protocol_directory_comes_in_with_its_sources() {
    let home = Home::new();
    home.write("src/new.rs", "fn a() {}");
    // Written before this test was compiled, so that its result can be newer than it.
    let old = concat!(env!("CARGO_MANIFEST_DIR"), "/src/main.rs");
    let dir = protocol_directory(
        &home,
        &[
            ("good", r#"{"verdict":"PASS"}"#, &[old]),
            ("changed", r#"{"verdict":"FAIL"}"#, &["src/new.rs"]),
            ("gone", r#"{"verdict":"FAIL"}"#, &["src/gone.rs"]),
            ("bare", r#"{"verdict":"OK"}"#, &[]),
            ("damaged", r#"{"verdict":"?"}"#, &[]),
        ],
    );
    fs::write(dir.join("results/damaged.json"), "{}").unwrap();
    let before = contents(&dir);
    let planned = dry_run(&home, &dir);
    assert_eq!(counts(&planned), [2, 0, 0, 3]);
    let done = import(&home, &dir, &[]);
    assert_eq!(done["items"], planned["items"]);
    left_out(&done, "changed", "the source src/new.rs has changed");
    left_out(&done, "gone", "the source src/gone.rs is missing");
    left_out(&done, "damaged", "the entry is damaged");
    home.get("good").expect_hit(r#"{"verdict":"PASS"}"#);
    home.get("bare").expect_hit(r#"{"verdict":"OK"}"#);
    let shown = home.cache(&["show", "--key", "good", "--json"]).expect(0).text();
    assert!(shown.contains(old), "the source is watched from now on: {shown}");
    assert_eq!(counts(&import(&home, &dir, &[])), [0, 0, 2, 3]);
    assert_eq!(contents(&dir), before);
}

#[test]
fn a_broken_index_gives_no_entries_and_is_left_alone() {
    let home = Home::new();
    let dir = protocol_directory(&home, &[("good", "{}", &[])]);
    fs::write(dir.join("index.json"), "{\"entries\": {\"good\"").unwrap();
    let before = contents(&dir);
    let path = dir.to_str().unwrap();
    let report = home.run(&["import", path, "--json"]).json();
    assert_ne!(report["sources"][0]["imported"], 1, "{report:#}");
    home.get("good").expect_miss();
    assert_eq!(contents(&dir), before);
}
