//! Damaged databases of our own: set aside once, with their log, and begun anew.

use std::fs;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::digest::Sha256Digest;
use recoup_core::store::sqlite::{self, DatabaseSoundness};
use recoup_core::store::{EvictionReport, ScanFilter, ScanFlow, Store};

use super::{Scene, entries_of, scribble};
use crate::support::Touch as _;
use crate::support::{body_of, id, noise, noise_text, record, scanned};

/// The fault that is told when a database was set aside.
fn assert_told_once(scene: &Scene) {
    let told = scene.faults.take();
    assert_eq!(told.len(), 1, "{told:?}");
    let (url, kind, words) = &told[0];
    assert_eq!(*url, format!("sqlite:{}", scene.path().display()));
    assert_eq!(*kind, ErrorKind::Corrupt);
    let place = scene.set_aside()[0].display().to_string();
    assert!(words.contains("damaged") && words.contains(&place), "{words}");
}

fn scribble_from_page(scene: &Scene, first: u64) {
    let pages = fs::metadata(scene.path()).unwrap().len() / 4_096;
    assert!(pages > 3 * first, "{pages} pages");
    for page in first..pages {
        scribble(&scene.path(), page * 4_096, &noise(4_096, page));
    }
}

#[test]
fn zeros_or_garbage_or_half_a_file_is_set_aside_and_a_fresh_one_begun() {
    for garbage in [vec![0; 10_000], noise(10_000, 1), b"not a database".to_vec()] {
        let scene = Scene::with_entries(3);
        scene.fold_log();
        fs::write(scene.path(), &garbage).unwrap();
        fs::write(scene.dir.path().join("bystander"), "untouched").unwrap();
        let store = scene.open();
        assert!(store.get(&id("1")).unwrap().is_none(), "a damaged cache has nothing");
        assert_eq!(scene.set_aside().len(), 1);
        assert_eq!(fs::read(scene.set_aside()[0].join("cache.db")).unwrap(), garbage);
        assert_told_once(&scene);
        store.put(&id("new"), &record("new")).unwrap();
        assert_eq!(scanned(&store, &ScanFilter::default()), [id("new")]);
        assert_eq!(scanned(&scene.open(), &ScanFilter::default()), [id("new")]);
        assert_eq!(scene.faults.count(), 0);
        assert_eq!(fs::read(scene.dir.path().join("bystander")).unwrap(), b"untouched");
    }
}

#[test]
fn a_write_that_finds_the_damage_is_done_in_the_fresh_one() {
    let scene = Scene::with_entries(3);
    scene.fold_log();
    fs::write(scene.path(), noise(10_000, 1)).unwrap();
    let store = scene.open();
    store.put(&id("new"), &record("new")).unwrap();
    assert_eq!(body_of(&store, &id("new")), Some(b"new".to_vec()));
    assert_told_once(&scene);
}

#[test]
fn other_calls_that_find_the_damage_find_nothing_then() {
    type Call = fn(&dyn Store);
    let calls: [Call; 4] = [
        |store| assert_eq!(scanned(store, &ScanFilter::default()), []),
        |store| assert_eq!(store.remove(&[id("1")]).unwrap(), 0),
        |store| store.touch(&[(id("1"), crate::support::START)]).unwrap(),
        |store| {
            let plan = crate::support::evict_plan(crate::support::START);
            let lost = EvictionReport { lost_all: true, ..EvictionReport::default() };
            assert_eq!(store.evict(&plan).unwrap(), lost);
        },
    ];
    for call in calls {
        let scene = Scene::with_entries(2);
        scene.fold_log();
        fs::write(scene.path(), noise(10_000, 1)).unwrap();
        call(&scene.open());
        assert_told_once(&scene);
    }
}

#[test]
fn the_log_goes_with_its_database() {
    let scene = Scene::with_entries(100);
    scene.fold_log();
    scene.open().put(&id("last"), &record("last")).unwrap();
    scribble_from_page(&scene, 20);
    let database = Sha256Digest::of(&fs::read(scene.path()).unwrap());
    let log = Sha256Digest::of(&fs::read(scene.beside("-wal")).unwrap());
    assert_ne!(log, Sha256Digest::of(b""), "writes are in the log until a checkpoint");
    let store = scene.open();
    store.scan(&ScanFilter::default(), &mut |_, _| ScanFlow::Continue(())).unwrap();
    assert_told_once(&scene);
    let place = &scene.set_aside()[0];
    assert_eq!(Sha256Digest::of(&fs::read(place.join("cache.db")).unwrap()), database);
    assert_eq!(Sha256Digest::of(&fs::read(place.join("cache.db-wal")).unwrap()), log);
    store.put(&id("new"), &record("new")).unwrap();
    assert_eq!(scanned(&store, &ScanFilter::default()), [id("new")]);
}

#[test]
fn a_database_that_was_cut_in_half_is_set_aside() {
    let scene = Scene::with_entries(200);
    scene.fold_log();
    let whole = fs::metadata(scene.path()).unwrap().len();
    fs::OpenOptions::new().write(true).open(scene.path()).unwrap().set_len(whole / 2).unwrap();
    let store = scene.open();
    for n in 0..200 {
        if let Some(body) = body_of(&store, &id(&n.to_string())) {
            assert_eq!(body, noise_text(3_000, n).into_bytes());
        }
    }
    store.put(&id("new"), &record("new")).unwrap();
    assert_eq!(body_of(&store, &id("new")), Some(b"new".to_vec()));
    assert_told_once(&scene);
}

/// Damaged pages in the middle are found when they are met: the beginning of
/// the file looks as it should.
#[test]
fn damaged_pages_in_the_middle_are_found_by_reads_and_writes() {
    for by_reading in [true, false] {
        let scene = Scene::with_entries(300);
        scene.fold_log();
        scribble_from_page(&scene, 20);
        let store = scene.open();
        if by_reading {
            let mut seen = 0;
            let visit = &mut |_: &_, _: recoup_core::Result<&_>| {
                seen += 1;
                ScanFlow::Continue(())
            };
            store.scan(&ScanFilter::default(), visit).unwrap();
            assert!(seen < 300, "{seen}");
        } else {
            for n in 0..300 {
                store.put(&id(&n.to_string()), &record("again")).unwrap();
            }
            assert_eq!(body_of(&store, &id("299")), Some(b"again".to_vec()));
        }
        assert_told_once(&scene);
        assert_eq!(scene.set_aside().len(), 1);
        store.put(&id("new"), &record("new")).unwrap();
        assert_eq!(body_of(&scene.open(), &id("new")), Some(b"new".to_vec()));
        assert_eq!(scene.faults.count(), 0);
    }
}

#[test]
fn many_that_find_the_same_damage_set_it_aside_once_and_all_succeed() {
    for round in 0..12 {
        let scene = Scene::with_entries(20);
        scene.fold_log();
        if round % 2 == 0 {
            fs::write(scene.path(), noise(50_000, 1)).unwrap();
        } else {
            // Still marked as ours, but nothing shows that else.
            scribble(&scene.path(), 100, &noise(12_000, 1));
            fs::remove_file(scene.beside(".recoup-lock")).unwrap();
        }
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for n in 0..8 {
                let (store, start) = (scene.open(), &start);
                scope.spawn(move || {
                    start.wait();
                    if n % 2 == 0 {
                        store.get(&id("1")).unwrap();
                    }
                    store.put(&id(&format!("new-{n}")), &record("new")).unwrap();
                });
            }
        });
        assert_eq!(scene.set_aside().len(), 1, "round {round}");
        assert_told_once(&scene);
        assert_eq!(scanned(&scene.open(), &ScanFilter::default()).len(), 8, "round {round}");
    }
}

fn soundness(scene: &Scene) -> DatabaseSoundness {
    sqlite::inspect(&scene.path(), Duration::from_secs(20)).unwrap().unwrap().0.soundness
}

/// A schema as it can only be after damage.
fn change_schema(scene: &Scene, sql: &str) {
    let database = rusqlite::Connection::open(scene.path()).unwrap();
    database.execute_batch(&format!("PRAGMA writable_schema = ON; {sql}")).unwrap();
}

#[test]
fn a_broken_trigger_or_column_is_found_and_the_cache_begun_anew() {
    for (name, from, to) in [
        ("entries_in", "entries + 1", "entriez + 1"),
        ("entries_replaced", "old.bytes", "old.bites"),
        ("entries", "header BLOB", "headar BLOB"),
        ("entries_in", "CREATE TRIGGER", "CREATE TRIGGAR"),
    ] {
        let scene = Scene::with_entries(3);
        let sql = format!(
            "UPDATE sqlite_schema SET sql = replace(sql, '{from}', '{to}') WHERE name = '{name}'"
        );
        change_schema(&scene, &sql);
        if to == "CREATE TRIGGAR" {
            assert!(sqlite::inspect(&scene.path(), Duration::from_secs(20)).is_err());
        } else {
            let why = format!("{name} differs from the expected schema");
            assert_eq!(soundness(&scene), DatabaseSoundness::Damaged(why));
        }
        let store = scene.open();
        store.put(&id("0"), &record("again")).unwrap();
        assert_eq!(body_of(&scene.open(), &id("0")), Some(b"again".to_vec()), "{name}");
        assert_told_once(&scene);
        assert_eq!(soundness(&scene), DatabaseSoundness::Sound);
    }
}

#[test]
fn a_trigger_of_somebody_else_is_found() {
    let scene = Scene::with_entries(3);
    assert_eq!(soundness(&scene), DatabaseSoundness::Sound);
    change_schema(
        &scene,
        "CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END",
    );
    assert_eq!(
        soundness(&scene),
        DatabaseSoundness::Damaged("t differs from the expected schema".to_owned())
    );
    assert!(scene.open().repair().unwrap());
    assert_eq!(scene.set_aside().len(), 1);
}

/// Only a look at all of it finds that; the entries are all there.
#[test]
fn an_index_that_has_lost_rows_is_made_anew() {
    let scene = Scene::with_entries(20);
    change_schema(
        &scene,
        "CREATE TABLE kept AS SELECT * FROM sqlite_schema WHERE name = 'entries_id';
         DELETE FROM sqlite_schema WHERE name = 'entries_id'",
    );
    let plain = rusqlite::Connection::open(scene.path()).unwrap();
    plain.execute("UPDATE entries SET key = 'k' || key WHERE rowid < 5", []).unwrap();
    drop(plain);
    change_schema(&scene, "INSERT INTO sqlite_schema SELECT * FROM kept");
    change_schema(&scene, "DROP TABLE kept");
    let DatabaseSoundness::Damaged(why) = soundness(&scene) else { panic!("it was not found") };
    assert!(why.contains("entries_id"), "{why}");
    assert!(scene.open().get(&id("k1")).unwrap().is_none(), "the index hides it");
    assert!(scene.open().repair().unwrap());
    assert!(scene.open().get(&id("k1")).unwrap().is_some());
    assert_eq!(scanned(&scene.open(), &ScanFilter::default()).len(), 20);
    assert_eq!(soundness(&scene), DatabaseSoundness::Sound);
    assert_eq!(scene.set_aside().len(), 0);
    let told = scene.faults.take();
    assert!(told[0].2.contains("the indexes were damaged"), "{told:?}");
    assert!(!scene.open().repair().unwrap(), "there is nothing more to do");
}

#[test]
fn a_damaged_row_is_no_damaged_database() {
    let scene = Scene::with_entries(3);
    let database = rusqlite::Connection::open(scene.path()).unwrap();
    database
        .execute("UPDATE entries SET header = x'7b', body = x'00' WHERE key = '1'", [])
        .unwrap();
    // A key that is not even text: nobody could ask for it.
    let sql = "UPDATE entries SET key = CAST(x'ff41' AS TEXT) WHERE key = '2'";
    database.execute(sql, []).unwrap();
    let store = scene.open();
    assert_eq!(store.get(&id("1")).unwrap_err().kind(), ErrorKind::Corrupt);
    let mut seen = Vec::new();
    let visit = &mut |id: &recoup_core::key::EntryId, head: recoup_core::Result<&_>| {
        seen.push((id.key.as_str().to_owned(), head.is_ok()));
        ScanFlow::Continue(())
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    seen.sort();
    assert_eq!(seen, [("0".to_owned(), true), ("1".to_owned(), false)]);
    assert!(body_of(&store, &id("0")).is_some());
    assert_eq!(scene.set_aside().len() + scene.faults.count(), 0);
    assert_eq!(entries_of(scene.dir.path()).len(), 4, "the database, its log, its index, its lock");
}
