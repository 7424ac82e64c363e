//! A memory of an earlier version is brought to this one by whoever finds it.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use recoup_core::memory::recall::search::SearchQuery;
use recoup_core::memory::{NoteFilter, NoteStatus, Statement};
use rusqlite::types::Value;
use rusqlite::{Connection, Row};

use super::{Scene, stated};

fn version(scene: &Scene) -> i64 {
    let database = Connection::open(scene.path()).unwrap();
    database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
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
fn a_copy_that_somebody_was_making_is_made_anew_and_never_left_behind() {
    let scene = of_the_second_version();
    let tabs = "Use tabs.";
    let unfinished = scene.dir.path().join("memory.db.copy");
    fs::write(&unfinished, tabs).unwrap();
    scene.memory().deliveries_to("one").unwrap();
    assert!(!unfinished.exists());
    let left = [".copy", ".copy-journal", ".new", ".new-wal", ".mended", ".mended-wal"];
    let left = left.map(|kind| scene.dir.path().join(format!("memory.db{kind}")));
    for path in &left {
        fs::write(path, tabs).unwrap();
    }
    let forgotten = scene.memory().forget(&[scene.find(tabs).id]).unwrap();
    assert_eq!(forgotten.unreached, [] as [std::path::PathBuf; 0]);
    assert!(left.iter().all(|path| !path.exists()), "{left:?}");
}

#[test]
fn what_is_forgotten_is_gone_from_the_copy_of_the_version_before_too() {
    let scene = of_the_second_version();
    let copy = scene.dir.path().join("memory.db.backup-2");
    let forgotten = scene.memory().forget(&[scene.find("Use tabs.").id]).unwrap();
    assert_eq!((forgotten.copies, forgotten.unreached), (vec![copy.clone()], Vec::new()));
    let held = fs::read(copy).unwrap().windows(9).any(|part| part == b"Use tabs.");
    assert!(!held);
}

#[test]
fn a_memory_of_the_version_before_keeps_every_row_and_learns_about_ends() {
    let scene = of_the_second_version();
    let before = rows_of_the_second_version(&scene.path());
    assert_eq!(scene.memory().notes(&NoteFilter::default()).unwrap().len(), 17);
    assert_eq!(version(&scene), 3);
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
