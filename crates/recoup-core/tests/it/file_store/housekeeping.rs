//! What goes, when, and what finding out costs.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use recoup_core::entry::RecordedSources;
use recoup_core::key::Key;
use recoup_core::store::{EvictionPlan, Store as _};

use super::{Scene, mortal, names};
use crate::support::{Touch as _, body_of, draft, evict_plan, id, id_in, later, record, scopes};

/// Empty where there is none.
fn note(scene: &Scene) -> String {
    fs::read_to_string(scene.dir.path().join(".recoup/next-death")).unwrap_or_default()
}

fn line(millis: u64) -> String {
    format!("{}\n", later(millis).as_millis())
}

#[test]
fn reading_what_is_dead_returns_it_once_more_and_removes_it() {
    let scene = Scene::new();
    let mut draft = draft("dead");
    (draft.ttl, draft.grace) = (Some(100), 50);
    scene
        .store
        .put(&id("key"), &draft.seal(RecordedSources::default(), later(0)).unwrap())
        .unwrap();
    scene.clock.advance(Duration::from_millis(149));
    assert!(body_of(&scene.store, &id("key")).is_some());
    assert!(scene.path("key").exists(), "it is expired, but in its grace");
    scene.clock.advance(Duration::from_millis(1));
    let last = body_of(&scene.store, &id("key"));
    assert_eq!(last, Some(b"dead".to_vec()), "the cache above says why it misses");
    assert!(scene.store.get(&id("key")).unwrap().is_none());
    assert_eq!(names(scene.dir.path()), [".recoup"]);
}

#[test]
fn the_note_says_when_the_next_one_dies() {
    let scene = Scene::new();
    scene.store.put(&id("a"), &mortal("a", 500)).unwrap();
    assert_eq!(note(&scene), "", "unknown until somebody has looked");
    scene.store.evict(&evict_plan(later(0))).unwrap();
    assert_eq!(note(&scene), line(500));
    scene.store.put(&id_in(&scopes()[2], "b"), &mortal("b", 300)).unwrap();
    assert_eq!(note(&scene), line(300), "lowered by who comes earlier");
    scene.store.put(&id("c"), &mortal("c", 900)).unwrap();
    scene.store.put(&id("d"), &record("for ever")).unwrap();
    assert_eq!(note(&scene), line(300), "and not by others");
    assert_eq!(scene.store.evict(&evict_plan(later(500))).unwrap().expired, 2);
    assert_eq!(note(&scene), line(900));
    assert_eq!(scene.store.evict(&evict_plan(later(900))).unwrap().expired, 1);
    assert_eq!(note(&scene), "never\n");
    scene.store.put(&id("e"), &mortal("e", 700)).unwrap();
    assert_eq!(note(&scene), line(700));
}

/// Where the file system notes who read a file, that shows it.
#[test]
fn nothing_is_opened_while_nothing_is_due() {
    let scene = Scene::new();
    for n in 0..3 {
        scene.store.put(&id(&n.to_string()), &mortal("value", 1_000 + n)).unwrap();
    }
    let plan =
        EvictionPlan { max_entries: Some(3), max_bytes: Some(1 << 20), ..evict_plan(later(0)) };
    scene.store.evict(&plan).unwrap();
    let accessed = |key: &str| fs::metadata(scene.path(key)).unwrap().accessed().unwrap();
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
    let file = File::options().write(true).open(scene.path("1")).unwrap();
    file.set_times(fs::FileTimes::new().set_accessed(long_ago)).unwrap();
    scene.store.evict(&EvictionPlan { now: later(999), ..plan }).unwrap();
    assert_eq!(accessed("1"), long_ago);
}

#[test]
fn a_directory_that_may_not_be_written_is_not_due_for_anything() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    scene.store.evict(&evict_plan(later(0))).unwrap();
    fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(0o500)).unwrap();
    let plan = EvictionPlan { max_entries: Some(1), ..evict_plan(later(1)) };
    let evicted = scene.store.evict(&plan);
    fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(evicted.unwrap().least_used, 0);
}

#[test]
fn the_one_that_was_just_written_is_spared() {
    let scene = Scene::new();
    for n in 0..3 {
        scene.store.put(&id(&n.to_string()), &record("value")).unwrap();
    }
    scene.store.touch(&[(id("1"), later(5)), (id("2"), later(6))]).unwrap();
    let keep = Some(Key::parse("0").unwrap());
    let plan = EvictionPlan { keep, max_entries: Some(1), ..evict_plan(later(10)) };
    assert_eq!(scene.store.evict(&plan).unwrap().least_used, 2);
    assert_eq!(scene.scanned(), [("0".to_owned(), None)]);
}

/// What a writer that died leaves behind, with the time at which it did.
fn leave(scene: &Scene, name: &str, age: Duration) -> PathBuf {
    let path = scene.dir.path().join(name);
    fs::write(&path, r#"{"value":"ha"#).unwrap();
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - age).unwrap();
    path
}

#[test]
fn what_dead_writers_left_behind_goes_at_the_next_write() {
    let scene = Scene::new();
    let old = Duration::from_mins(61);
    fs::create_dir(scene.dir.path().join(".recoup")).unwrap();
    let gone = [
        leave(&scene, "key.json.tmp-recoup-AbC12345", old),
        leave(&scene, "key.json.tmp-recoup-AbC12346", Duration::ZERO),
        leave(&scene, "a.json.tmp.json.tmp-recoup-00000000", old),
        leave(&scene, ".recoup/.recoup-AbC123", old),
        leave(&scene, ".recoup/.recoup-AbC124", Duration::ZERO),
    ];
    let stays = [
        leave(&scene, "package.json.tmpbackup", old),
        leave(&scene, "key.json.tmp", old),
        leave(&scene, "key.json.tmp-recoup-AbC1234", old),
        leave(&scene, "key.json.tmp-recoup-Ab.12345", old),
        leave(&scene, "notes.txt.tmp-recoup-AbC12345", old),
        leave(&scene, "ä.json.tmp-recoup-AbC12345", old),
        leave(&scene, ".recoup-AbC123", old),
    ];
    let alive = leave(&scene, "key.json.tmp-recoup-AbC12347", Duration::ZERO);
    let writer = File::open(&alive).unwrap();
    writer.lock().unwrap();
    scene.store.evict(&evict_plan(later(0))).unwrap();
    assert!(gone.iter().all(|path| !path.exists()), "{:?}", names(scene.dir.path()));
    assert!(stays.iter().all(|path| path.exists()), "{:?}", names(scene.dir.path()));
    assert_eq!(scene.scanned(), []);
    assert!(alive.exists(), "its writer is still at it");
    drop(writer);
    // A store with limits looks at each write.
    let plan = EvictionPlan { max_entries: Some(9), ..evict_plan(later(0)) };
    scene.store.evict(&plan).unwrap();
    assert!(!alive.exists());
}

#[test]
fn somebody_looks_every_hour_even_where_nothing_ever_dies() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("for ever")).unwrap();
    scene.store.evict(&evict_plan(later(0))).unwrap();
    let left = leave(&scene, "key.json.tmp-recoup-AbC12345", Duration::from_mins(61));
    scene.store.evict(&evict_plan(later(1))).unwrap();
    assert!(left.exists(), "somebody has just looked");
    let note_path = age_note(&scene);
    scene.store.evict(&evict_plan(later(2))).unwrap();
    assert!(!left.exists());
    assert_eq!(note(&scene), "never\n");
    assert!(fs::metadata(note_path).unwrap().modified().unwrap().elapsed().unwrap().as_secs() < 60);
}

/// Such as one that may not be written.
#[test]
fn a_store_that_can_not_be_tidied_fails_nobody() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("for ever")).unwrap();
    scene.store.evict(&evict_plan(later(0))).unwrap();
    let lock = scene.dir.path().join(".recoup/lock");
    fs::remove_file(&lock).unwrap();
    fs::create_dir(&lock).unwrap();
    age_note(&scene);
    scene.store.evict(&evict_plan(later(1))).unwrap();
}

fn age_note(scene: &Scene) -> PathBuf {
    let path = scene.dir.path().join(".recoup/next-death");
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_mins(61)).unwrap();
    path
}
