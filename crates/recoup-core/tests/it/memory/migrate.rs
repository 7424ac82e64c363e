//! A memory of the first version is brought to this one by whoever finds it.

use std::fs;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::{NoteFilter, NoteId, Statement};
use rusqlite::Connection;

use super::lessons::{ran, session};
use super::{Scene, stated};

/// Makes of a memory what the first version would have made.
const FIRST: &str = "
DROP TABLE note_ends;
DROP TABLE givings;
DROP INDEX events_edited;
DROP INDEX events_denied;
DROP INDEX events_call;
DROP TABLE episodes;
CREATE INDEX events_at ON events (at);
CREATE INDEX events_session ON events (session, what, subject, at);
CREATE INDEX events_context ON events (context, what, at);
CREATE INDEX events_subject ON events (scope, what, subject, at);
CREATE INDEX events_call ON events (call, what) WHERE call IS NOT NULL;
CREATE TABLE episodes (
    session TEXT PRIMARY KEY,
    client TEXT,
    scope TEXT,
    began INTEGER NOT NULL,
    ended INTEGER,
    outcome TEXT,
    detail TEXT
) STRICT;
CREATE INDEX episodes_began ON episodes (began);
CREATE TABLE injections (
    context TEXT NOT NULL,
    note INTEGER NOT NULL REFERENCES notes (row) ON DELETE CASCADE,
    at INTEGER NOT NULL,
    times INTEGER NOT NULL DEFAULT 1,
    lost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (context, note)
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 1;
";

/// Two notes: one context has both, another has the first, and had it twice before it lost it.
fn of_the_first_version() -> (Scene, [NoteId; 2]) {
    let scene = Scene::new();
    let ids = ["Use tabs.", "Never push to main."].map(|it| scene.say(it, None).note().id.clone());
    scene.works("one", &ran("make", "make", "1"));
    let database = Connection::open(scene.path()).unwrap();
    database.execute_batch(FIRST).unwrap();
    database
        .execute_batch(
            "INSERT INTO injections (context, note, at) SELECT 'one', row, 5 FROM notes;
             INSERT INTO injections SELECT 'two', min(row), 7, 3, 1 FROM notes;
             INSERT INTO events (at, session, context, what) VALUES (5, 'one', 'one', 'given');
             INSERT INTO episodes (session, began) VALUES ('one', 4);",
        )
        .unwrap();
    (scene, ids)
}

fn version(scene: &Scene) -> i64 {
    let database = Connection::open(scene.path()).unwrap();
    database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn a_reader_finds_what_contexts_were_given_before() {
    let (scene, ids) = of_the_first_version();
    let memory = scene.memory();
    assert_eq!(memory.deliveries_to("one").unwrap().notes, ids.iter().cloned().collect());
    assert_eq!(memory.deliveries_to("one").unwrap().last_whole.map(Timestamp::as_millis), Some(5));
    assert!(memory.deliveries_to("two").unwrap().notes.is_empty(), "it was lost");
    let report = memory.rule_effects(&NoteFilter::default()).unwrap();
    let figures = |id: &NoteId| {
        let it = report.iter().find(|it| it.note.id == *id).unwrap();
        (it.given, it.succeeded)
    };
    assert_eq!((figures(&ids[0]), figures(&ids[1])), ((4, 1), (1, 1)));
    assert_eq!(version(&scene), 3);
}

#[test]
fn a_writer_goes_on_with_it() {
    let (scene, ids) = of_the_first_version();
    let new = scene.memory().transact(&session("two"), |turn| turn.mark_delivered(&ids)).unwrap();
    assert_eq!((new, version(&scene)), (Some(2), 3));
    let episodes: i64 = Connection::open(scene.path())
        .unwrap()
        .query_row("SELECT count(*) FROM episodes WHERE session = 'one'", [], |row| row.get(0))
        .unwrap();
    assert_eq!(episodes, 1);
    scene.memory().transact(&session("one"), |turn| turn.end_session("exit")).unwrap();
}

#[test]
fn a_copy_that_somebody_was_making_is_made_anew_and_never_left_behind() {
    let (scene, [tabs, _]) = of_the_first_version();
    let unfinished = scene.dir.path().join("memory.db.copy");
    fs::write(&unfinished, "Use tabs.").unwrap();
    scene.memory().deliveries_to("one").unwrap();
    assert!(!unfinished.exists());
    let left = [".copy", ".copy-journal", ".new", ".new-wal", ".mended", ".mended-wal"];
    let left = left.map(|kind| scene.dir.path().join(format!("memory.db{kind}")));
    for path in &left {
        fs::write(path, "Use tabs.").unwrap();
    }
    let forgotten = scene.memory().forget(&[tabs]).unwrap();
    assert_eq!(forgotten.unreached, [] as [std::path::PathBuf; 0]);
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
}

#[test]
fn what_is_forgotten_is_gone_from_the_copy_of_the_first_version_too() {
    let (scene, [tabs, _]) = of_the_first_version();
    scene.memory().deliveries_to("one").unwrap();
    let copy = scene.dir.path().join("memory.db.backup-1");
    let forgotten = scene.memory().forget(&[tabs]).unwrap();
    assert_eq!((forgotten.copies, forgotten.unreached), (vec![copy.clone()], Vec::new()));
    let held = fs::read(copy).unwrap().windows(9).any(|part| part == b"Use tabs.");
    assert!(!held);
}

/// Makes of a memory what the version before the ends of notes would have made.
const SECOND: &str = "DROP TABLE note_ends; PRAGMA user_version = 2;";

#[test]
fn a_memory_of_the_version_before_keeps_its_notes_and_learns_about_ends() {
    let scene = Scene::new();
    scene.say("Use tabs.", None);
    let before = scene.memory().notes(&NoteFilter::default()).unwrap();
    Connection::open(scene.path()).unwrap().execute_batch(SECOND).unwrap();
    assert_eq!(scene.memory().notes(&NoteFilter::default()).unwrap(), before);
    assert_eq!(version(&scene), 3);
    let until = Some("until #123 is fixed".to_owned());
    let statement = Statement { until: until.clone(), ..stated("pin tokio to 1.38", None) };
    scene.memory().record(&statement).unwrap();
    assert_eq!(scene.find("pin tokio to 1.38").until, until);
    let copies = fs::read_dir(scene.path().parent().unwrap()).unwrap().flatten();
    let is_copy = |name: &str| name.starts_with("memory.db.") && name.contains('2');
    assert!(
        copies.into_iter().any(|it| is_copy(&it.file_name().to_string_lossy())),
        "a copy first"
    );
}
