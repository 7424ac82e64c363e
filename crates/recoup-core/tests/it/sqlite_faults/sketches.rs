//! A cache that an earlier version made: read as it is, and changed by its first
//! writer, with everything that is in it.

use recoup_core::entry::{Draft, RecordedSources};
use recoup_core::key::{KeyPart, Kind, Scope};
use recoup_core::store::{SimilarityProbe, Store};
use rusqlite::Connection;

use super::Scene;
use super::earlier_version::{EARLIER, UNMARKED};
use crate::support::{START, draft, id, record};

fn parts() -> Vec<KeyPart> {
    vec![KeyPart::shown("query", "find it"), KeyPart::hidden("stdin", "bytes")]
}

fn with_an_entry_of_version_one() -> Scene {
    let scene = Scene::new();
    let draft = Draft { parts: parts(), ..draft("old") };
    scene.open().put(&id("old"), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    let file = Connection::open(scene.path()).unwrap();
    file.execute_batch(&[UNMARKED, EARLIER].concat()).unwrap();
    scene
}

fn near(store: &dyn Store) -> Vec<String> {
    let (parts, scope) = (parts(), Scope::global());
    let probe = SimilarityProbe { scope: &scope, kind: Kind::Result, parts: &parts, most: 4 };
    store.nearest(&probe).unwrap().into_iter().map(|(id, _)| id.key.to_string()).collect()
}

fn version(scene: &Scene) -> i64 {
    let database = Connection::open(scene.path()).unwrap();
    database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

#[test]
fn an_older_cache_is_read_as_it_is() {
    let scene = with_an_entry_of_version_one();
    let store = scene.open();
    assert!(store.get(&id("old")).unwrap().is_some());
    assert_eq!(near(&store), ["old"]);
    assert_eq!(version(&scene), 1, "a read changes nothing");
}

#[test]
fn its_first_writer_brings_it_to_this_version() {
    let scene = with_an_entry_of_version_one();
    let store = scene.open();
    store.put(&id("new"), &record("new")).unwrap();
    assert_eq!(version(&scene), recoup_core::store::sqlite::VERSION);
    for store in [store, scene.open()] {
        assert!(store.get(&id("old")).unwrap().is_some());
        assert!(store.get(&id("new")).unwrap().is_some());
        assert_eq!(near(&store), ["old"]);
    }
}

#[test]
fn of_many_who_find_it_old_one_changes_it() {
    let scene = with_an_entry_of_version_one();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let store = scene.open();
            scope.spawn(move || store.put(&id(&format!("new{n}")), &record("new")).unwrap());
        }
    });
    assert_eq!(scene.open().usage(&Scope::global()).unwrap().entries, 9);
    assert_eq!(version(&scene), recoup_core::store::sqlite::VERSION);
}

/// A writer of the version before does not know about sketches.
#[test]
fn what_an_earlier_version_still_writes_is_near_too() {
    let scene = with_an_entry_of_version_one();
    let store = scene.open();
    store.put(&id("new"), &record("new")).unwrap();
    Connection::open(scene.path())
        .unwrap()
        .execute("UPDATE entries SET sketch = NULL", [])
        .unwrap();
    assert_eq!(near(&store), ["old"]);
}
