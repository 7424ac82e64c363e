//! Directories that are not what they should be, and files with several names.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::base::clock::ManualClock;
use recoup_core::entry::EntryEventKind;
use recoup_core::store::{EvictionPlan, FileStore, ScanFilter, ScanFlow, Store as _};

use super::{Scene, mortal, names};
use crate::support::{START, Touch as _, body_of, evict_plan, id, id_in, later, record, scopes};

#[test]
fn a_file_in_the_place_of_the_directory_is_an_error_for_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    fs::write(&path, "mine").unwrap();
    let store = FileStore::at(&path, Arc::new(ManualClock::at(START)));
    let scan = |filter: &ScanFilter| store.scan(filter, &mut |_, _| ScanFlow::Continue(()));
    let global = scopes()[0].clone();
    let failed = [
        store.get(&id("key")).map(drop),
        store.put(&id("key"), &record("value")),
        store.remove(&[id("key")]).map(drop),
        scan(&ScanFilter::default()),
        scan(&ScanFilter { scope: Some(global.clone()), ..ScanFilter::default() }),
        store.usage(&global).map(drop),
        store.evict(&evict_plan(START)).map(drop),
    ];
    for (n, result) in failed.into_iter().enumerate() {
        let error = result.expect_err(&n.to_string());
        assert_eq!(error.kind(), ErrorKind::Io, "{n}: {error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{n}: {error}");
    }
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}

#[test]
fn a_file_in_the_place_of_a_scope_is_somebodys() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    fs::write(scene.dir.path().join("tenant"), "mine").unwrap();
    assert_eq!(scene.scanned(), [("key".to_owned(), None)]);
    scene.store.evict(&evict_plan(later(1))).unwrap();
    assert!(scene.store.put(&id_in(&scopes()[2], "key"), &record("value")).is_err());
}

/// Makes `name` in the store's directory a link to another directory.
fn planted(scene: &Scene, name: &str) -> tempfile::TempDir {
    let elsewhere = tempfile::tempdir().unwrap();
    let place = scene.dir.path().join(name);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    symlink(elsewhere.path(), place).unwrap();
    elsewhere
}

#[test]
fn nothing_is_written_through_links_below_the_root() {
    let tenant = scopes()[2].clone();
    let dir = tenant.as_str().replace(':', "/");
    let sort = dir.split('/').next().unwrap().to_owned();
    for (place, below) in [(&dir, ""), (&sort, "same")] {
        let scene = Scene::new();
        let elsewhere = planted(&scene, place);
        let theirs = elsewhere.path().join(below);
        fs::create_dir_all(&theirs).unwrap();
        let other = Scene::new();
        other.store.put(&id("key"), &mortal("value", 1)).unwrap();
        let entry = other.text("key");
        fs::write(theirs.join("key.json"), &entry).unwrap();
        let key = id_in(&tenant, "key");
        assert!(scene.store.put(&key, &record("value")).is_err(), "{place}");
        assert!(scene.store.put(&id_in(&tenant, "new"), &record("value")).is_err(), "{place}");
        assert!(scene.store.remove(std::slice::from_ref(&key)).is_err(), "{place}");
        assert!(scene.store.touch(&[(key.clone(), later(1))]).is_err(), "{place}");
        scene.clock.advance(std::time::Duration::from_secs(1));
        scene.store.get(&key).unwrap();
        let plan = EvictionPlan {
            scope: tenant.clone(),
            max_entries: Some(0),
            ..evict_plan(later(1 << 40))
        };
        assert!(scene.store.evict(&plan).is_err(), "{place}");
        assert_eq!(names(&theirs), ["key.json"], "{place}");
        assert_eq!(fs::read_to_string(theirs.join("key.json")).unwrap(), entry);
    }
}

#[test]
fn our_own_directory_is_no_link() {
    let scene = Scene::new();
    let elsewhere = planted(&scene, ".recoup");
    scene.store.put(&id("key"), &mortal("value", 1_000)).unwrap();
    assert!(scene.store.touch(&[(id("key"), later(1))]).is_err());
    assert!(scene.store.evict(&evict_plan(later(1))).is_err());
    assert_eq!(names(elsewhere.path()), [""; 0]);
}

#[test]
fn the_root_may_be_a_link() {
    let (scene, links) = (Scene::new(), tempfile::tempdir().unwrap());
    let link = links.path().join("link");
    symlink(scene.dir.path(), &link).unwrap();
    let store = FileStore::at(&link, Arc::new(scene.clock.clone()));
    store.put(&id("key"), &record("value")).unwrap();
    store.touch(&[(id("key"), later(1))]).unwrap();
    store.evict(&evict_plan(later(1))).unwrap();
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"value".to_vec()));
}

#[test]
fn hits_do_not_change_copies_that_share_the_file() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    let backup = tempfile::tempdir_in(scene.dir.path()).unwrap();
    let copy = backup.path().join("key.json");
    fs::hard_link(scene.path("key"), &copy).unwrap();
    let before = scene.text("key");
    scene.store.touch(&[(id("key"), later(1))]).unwrap();
    assert_eq!(fs::read_to_string(&copy).unwrap(), before);
    let inode = || fs::metadata(scene.path("key")).unwrap().ino();
    let own = inode();
    scene.store.touch(&[(id("key"), later(2))]).unwrap();
    assert_eq!(scene.store.get(&id("key")).unwrap().unwrap().head.hits, 2);
    assert_eq!(inode(), own, "from then on in place");
    scene.tell("1", &id("key"), EntryEventKind::Corrupt, later(3));
    assert!(scene.path("key").exists());
}
