//! A database of the version before is read as it is, and brought to this one by
//! its first writer, with everything that is in it.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use recoup_core::base::name::SafeName;
use recoup_core::entry::{EntryEvent, EntryEventKind, EventBatch, EventDetail, ProductionCost};
use recoup_core::key::{Kind, Scope};
use recoup_core::store::Store as _;
use recoup_core::store::sqlite::{DatabaseSoundness, VERSION, inspect};
use rusqlite::Connection;

use super::Scene;
use crate::support::{body_of, id, record};

/// Takes the tables back to version 2.
pub(super) const UNMARKED: &str = "
    DROP TRIGGER marks_out;
    DROP TRIGGER marks_replaced;
    DROP TRIGGER entries_unmarked;
    DROP INDEX entries_recent;
    DROP INDEX entries_served;
    DROP INDEX entries_marks;
    DROP INDEX entries_without_marks;
    DROP TABLE mark_sets;
    ALTER TABLE entries DROP COLUMN mark_set;
    ALTER TABLE entries DROP COLUMN marked_at;
    PRAGMA user_version = 2;";

/// Takes the tables from version 2 back to version 1.
pub(super) const EARLIER: &str = "
    DROP INDEX entries_sketch;
    ALTER TABLE entries DROP COLUMN sketch;
    DROP TABLE tallies;
    CREATE TABLE tallies (
        scope TEXT NOT NULL, kind TEXT NOT NULL, day INTEGER NOT NULL, what TEXT NOT NULL,
        count INTEGER NOT NULL, PRIMARY KEY (scope, kind, day, what)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO tallies VALUES ('global', 'result', 20000, 'hit', 7);
    PRAGMA user_version = 1;
    PRAGMA wal_checkpoint(TRUNCATE);";

fn earlier() -> Scene {
    let scene = Scene::with_entries(2);
    Connection::open(scene.path()).unwrap().execute_batch(&[UNMARKED, EARLIER].concat()).unwrap();
    scene
}

fn version(scene: &Scene) -> i64 {
    let file = Connection::open(scene.path()).unwrap();
    file.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn hits(scene: &Scene) -> u64 {
    let tallies = scene.open().tallies(Some(&Scope::global())).unwrap();
    tallies.iter().filter(|tally| tally.what == EntryEventKind::Hit).map(|tally| tally.count).sum()
}

fn batch(name: &str) -> EventBatch {
    let cost = ProductionCost { millis: Some(5), ..ProductionCost::default() };
    let detail = EventDetail { by: Some("me".to_owned()), cost, ..EventDetail::default() };
    // The day that was counted before.
    let at = recoup_core::base::clock::Timestamp::from_millis(20_000 * 86_400_000);
    let event =
        EntryEvent { detail, ..EntryEvent::new(at, id("a"), Kind::Result, EntryEventKind::Hit) };
    EventBatch { name: SafeName::parse("batch", name).unwrap(), events: vec![event] }
}

#[test]
fn reading_changes_nothing() {
    let scene = earlier();
    let keys = scene.open().usage(&Scope::global()).unwrap().entries;
    assert_eq!((keys, hits(&scene), version(&scene)), (2, 7, 1));
}

#[test]
fn the_first_write_brings_it_to_this_version_and_loses_nothing() {
    let scene = earlier();
    let before = scene.open().usage(&Scope::global()).unwrap();
    scene.open().fold_batch(&batch("1")).unwrap();
    assert_eq!(version(&scene), VERSION);
    let (seen, _) = inspect(&scene.path(), Duration::from_secs(20)).unwrap().unwrap();
    assert_eq!(seen.soundness, DatabaseSoundness::Sound, "as if it had been made by this version");
    assert_eq!(scene.open().usage(&Scope::global()).unwrap(), before);
    assert_eq!(hits(&scene), 8);
    let tallies = scene.open().tallies(None).unwrap();
    let mine = tallies.iter().find(|tally| tally.by == "me").unwrap();
    assert_eq!((mine.count, mine.saved.millis), (1, 5));
    assert_eq!(scene.faults.count(), 0);
}

#[test]
fn of_many_first_writers_all_succeed() {
    let scene = earlier();
    let start = Barrier::new(8);
    thread::scope(|scope| {
        for n in 0..8 {
            let (scene, start) = (&scene, &start);
            scope.spawn(move || {
                start.wait();
                let store = scene.open();
                store.put(&id(&format!("new-{n}")), &record("body")).unwrap();
                store.fold_batch(&batch(&format!("b{n}"))).unwrap();
            });
        }
    });
    assert_eq!((version(&scene), hits(&scene)), (VERSION, 15));
    assert_eq!(body_of(&scene.open(), &id("new-7")), Some(b"body".to_vec()));
}

/// One that was started before the upgrade knows nothing of names.
#[test]
fn a_writer_of_the_version_before_goes_on() {
    let scene = earlier();
    let old = Connection::open(scene.path()).unwrap();
    scene.open().fold_batch(&batch("1")).unwrap();
    old.execute(
        "INSERT INTO tallies (scope, kind, day, what, count) VALUES ('global', 'result', 20000, 'hit', 1)
         ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [],
    )
    .unwrap();
    assert_eq!(hits(&scene), 9);
}
