//! A memory of an earlier version is brought to this one by whoever finds it.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use recoup_core::base::clock::Timestamp;
use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{NoteFilter, NoteId, NoteStatus, Statement};
use rusqlite::types::Value;
use rusqlite::{Connection, Row};

use super::lessons::{ran, session};
use super::{Scene, stated};

/// Makes of a memory what the first version would have made.
const FIRST: &str = "
DROP TABLE note_ends;
DROP TABLE check_keys;
DROP TABLE checks;
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
    assert_eq!(version(&scene), 4);
}

#[test]
fn a_writer_goes_on_with_it() {
    let (scene, ids) = of_the_first_version();
    let new = scene.memory().transact(&session("two"), |turn| turn.mark_delivered(&ids)).unwrap();
    assert_eq!((new, version(&scene)), (Some(2), 4));
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

/// A memory that the last version with schema 2 made; see the README beside it.
fn of_the_second_version() -> Scene {
    const MADE: &[u8] = include_bytes!("../../fixtures/memory/schema-2.db.gz");
    let scene = Scene::new();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(MADE).read_to_end(&mut bytes).unwrap();
    fs::write(scene.path(), bytes).unwrap();
    scene
}

/// All rows of the tables that schema 2 has, with the names of their tables.
fn rows_of_the_second_version(path: &Path) -> Vec<String> {
    let database = Connection::open(path).unwrap();
    let tables = [
        "notes", "words", "evidence", "events", "episodes", "lessons", "sightings", "givings",
        "checkpoints", "sweeps", "notices", "pauses", "settings",
    ];
    let rows = |table| {
        let mut select = database.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns = select.column_count();
        let row = |row: &Row<'_>| {
            let value = |at| row.get::<_, Value>(at);
            Ok(format!("{table} {:?}", (0..columns).map(value).collect::<Result<Vec<_>, _>>()?))
        };
        select.query_map([], row).unwrap().collect::<Result<Vec<_>, _>>().unwrap()
    };
    tables.into_iter().flat_map(rows).collect()
}

#[test]
fn a_memory_of_the_version_before_keeps_every_row_and_learns_about_ends() {
    let scene = of_the_second_version();
    let before = rows_of_the_second_version(&scene.path());
    assert_eq!(scene.memory().notes(&NoteFilter::default()).unwrap().len(), 17);
    assert_eq!(version(&scene), 4);
    assert_eq!(rows_of_the_second_version(&scene.path()), before);
    let copy = scene.dir.path().join("memory.db.backup-2");
    assert_eq!(rows_of_the_second_version(&copy), before, "a copy from before");
    let until = Some("until #123 is fixed".to_owned());
    let statement = Statement { until: until.clone(), ..stated("pin tokio to 1.38", None) };
    scene.memory().record(&statement).unwrap();
    assert_eq!(scene.find("pin tokio to 1.38").until, until);
}

#[test]
fn search_and_deliveries_go_on_in_a_memory_of_the_version_before() {
    let scene = of_the_second_version();
    let cases = [
        ("imports", "Sort imports with isort."),
        ("amount in cents", "Amounts are stored in cents."),
        ("GROSSEN.toml", "Größen stehen in der Datei größen.toml."),
        ("数据库", "数据库密码在 vault 里。"),
    ];
    for (query, text) in cases {
        let found = scene.memory().search(&SearchQuery::new(query)).unwrap();
        assert_eq!(found[0].0.text, text, "{query}");
    }
    let given = scene.memory().deliveries_to("one").unwrap().notes;
    let texts = ["Use tabs.", "Never push to main."].map(|text| scene.find(text).id);
    assert_eq!(given, texts.into_iter().collect());
    scene.say("Use spaces.", None);
    assert_eq!(scene.find("Use tabs.").status, NoteStatus::Superseded);
}
