//! Selecting by tag, operation and path: through the index of marks, in files that have it only
//! for some records, and in those that have none yet.

use std::sync::Arc;

use recoup_core::cache::{Cache, CacheOptions, EntrySelection};
use recoup_core::entry::{Draft, Header, RecordedSources};
use recoup_core::key::Scope;
use recoup_core::store::{EvictionPlan, ScanFilter, Store as _};
use rusqlite::Connection;

use super::Scene;
use super::earlier_version::UNMARKED;
use crate::support::{START, draft, evict_plan, id, later, scanned};

fn put(scene: &Scene, key: &str, tag: &str) {
    let draft = Draft { tags: vec![tag.to_owned()], ..draft("body") };
    scene.open().put(&id(key), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
}

fn tagged(scene: &Scene, tag: &str) -> Vec<String> {
    let selection = EntrySelection::from_criteria(None, Some(tag), None).unwrap();
    let filter = ScanFilter { selection, ..ScanFilter::of_scope(&Scope::global()) };
    scanned(&scene.open(), &filter).into_iter().map(|id| id.key.to_string()).collect()
}

fn sql(scene: &Scene) -> Connection {
    Connection::open(scene.path()).unwrap()
}

fn count(scene: &Scene, what: &str) -> i64 {
    sql(scene).query_row(&format!("SELECT count(*) FROM {what}"), [], |row| row.get(0)).unwrap()
}

#[test]
fn records_that_have_the_same_marks_share_them() {
    let scene = Scene::new();
    for (key, tag) in [("a", "x"), ("b", "x"), ("c", "y")] {
        put(&scene, key, tag);
    }
    assert_eq!(count(&scene, "mark_sets"), 2);
    assert_eq!(
        (tagged(&scene, "x"), tagged(&scene, "y")),
        (vec!["a".into(), "b".into()], vec!["c".into()])
    );
    assert!(tagged(&scene, "z").is_empty());
    scene.open().remove(&[id("c")]).unwrap();
    assert_eq!(count(&scene, "mark_sets"), 1, "marks go with the last that has them");
    put(&scene, "a", "y");
    put(&scene, "b", "y");
    assert_eq!((count(&scene, "mark_sets"), tagged(&scene, "y").len()), (1, 2));
}

/// A process of version 2 that is still running does not know about marks.
#[test]
fn what_an_earlier_version_still_writes_is_selected_too() {
    let scene = Scene::new();
    put(&scene, "a", "x");
    put(&scene, "b", "x");
    let header: Vec<u8> = sql(&scene)
        .query_row("SELECT header FROM entries WHERE key = 'a'", [], |row| row.get(0))
        .unwrap();
    let mut header = Header::from_json(&header).unwrap();
    header.tags = vec!["later".to_owned()];
    let write = "INSERT INTO entries (scope, key, kind, stored_at, last_used, bytes, header, body)
                 SELECT scope, ?1, kind, stored_at + 5, last_used, bytes, ?2, body FROM entries
                 WHERE key = 'b'
                 ON CONFLICT (scope, key) DO UPDATE SET
                 stored_at = excluded.stored_at, header = excluded.header";
    for key in ["a", "new"] {
        sql(&scene).execute(write, rusqlite::params![key, header.to_json()]).unwrap();
    }
    assert_eq!(tagged(&scene, "x"), ["b"]);
    assert_eq!(tagged(&scene, "later"), ["a", "new"]);
}

#[test]
fn a_file_of_the_version_before_is_selected_from_as_it_is_and_marked_by_its_first_writer() {
    let scene = Scene::new();
    put(&scene, "a", "x");
    sql(&scene).execute_batch(UNMARKED).unwrap();
    assert_eq!(tagged(&scene, "x"), ["a"]);
    put(&scene, "b", "x");
    assert_eq!(tagged(&scene, "x"), ["a", "b"]);
    assert_eq!(
        (count(&scene, "mark_sets"), count(&scene, "entries WHERE mark_set IS NULL")),
        (1, 0)
    );
}

/// A large file of an earlier version gets its marks and indexes from a clean-up.
#[test]
fn a_clean_up_completes_a_file_of_an_earlier_version() {
    let scene = Scene::new();
    for n in 0..1_200 {
        put(&scene, &n.to_string(), if n % 3 == 0 { "x" } else { "y" });
    }
    sql(&scene).execute_batch(UNMARKED).unwrap();
    // As the first writer leaves one that has too many entries.
    let columns = "ALTER TABLE entries ADD COLUMN mark_set INTEGER;
                   ALTER TABLE entries ADD COLUMN marked_at INTEGER;
                   CREATE TABLE mark_sets (id INTEGER PRIMARY KEY, scope TEXT NOT NULL,
                                           digest BLOB NOT NULL, marks TEXT NOT NULL) STRICT;
                   CREATE UNIQUE INDEX mark_sets_id ON mark_sets (scope, digest);
                   PRAGMA user_version = 3;";
    sql(&scene).execute_batch(columns).unwrap();
    assert_eq!(tagged(&scene, "x").len(), 400);
    let plan = EvictionPlan { thorough: true, ..evict_plan(later(0)) };
    scene.open().evict(&plan).unwrap();
    assert_eq!(
        (count(&scene, "mark_sets"), count(&scene, "entries WHERE mark_set IS NULL")),
        (2, 0)
    );
    assert_eq!(count(&scene, "sqlite_schema WHERE name = 'entries_recent'"), 1);
    assert_eq!((tagged(&scene, "x").len(), tagged(&scene, "z").len()), (400, 0));
    let cache = Cache::new(Arc::new(scene.open()), CacheOptions::default());
    let selection = EntrySelection::from_criteria(None, Some("x"), None).unwrap().unwrap();
    assert_eq!(cache.invalidate(&Scope::global(), &selection).unwrap(), 400);
    assert_eq!((tagged(&scene, "x").len(), tagged(&scene, "y").len()), (0, 800));
}
