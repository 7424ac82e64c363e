//! Room on the disk: what is deleted is gone from the file, the file gets shorter, limits count
//! what is really taken, and long work lets others in between.

use std::fs;

use recoup_core::cache::{Cache, CacheLimits, CacheOptions};
use recoup_core::entry::StoredBody;
use recoup_core::key::{EntryId, Scope};
use recoup_core::store::{EvictionPlan, ScanFilter, Store as _};
use rusqlite::Connection;

use super::Scene;
use crate::support::{evict_plan, id, later, noise_text, record, scanned};

/// The database and its log.
fn bytes_of(scene: &Scene) -> Vec<u8> {
    let log = fs::read(scene.beside("-wal")).unwrap_or_default();
    [fs::read(scene.path()).unwrap(), log].concat()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn remove(scene: &Scene, ids: &[EntryId]) {
    assert_eq!(scene.open().remove(ids).unwrap(), ids.len());
}

fn clear(scene: &Scene) -> usize {
    scene.open().clear(&Scope::global(), &mut |_, _| {}).unwrap()
}

fn number(scene: &Scene, sql: &str) -> i64 {
    Connection::open(scene.path()).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn what_was_deleted_is_neither_in_the_file_nor_in_its_log() {
    let forget: [fn(&Scene); 2] =
        [|scene| remove(scene, &[id("secret")]), |scene| assert!(clear(scene) > 0)];
    for forget in forget {
        let scene = Scene::with_entries(3);
        let kept = record(noise_text(20_000, 77));
        let StoredBody::Inline(body) = &kept.payload else { panic!("a small body") };
        scene.open().put(&id("secret"), &kept).unwrap();
        let found = |bytes: &[u8]| body.chunks(64).filter(|part| contains(bytes, part)).count();
        // Some are in two parts, on two pages.
        assert!(found(&bytes_of(&scene)) > body.len() / 64 / 2);
        forget(&scene);
        // The last may be a few bytes long.
        assert!(found(&bytes_of(&scene)) <= 1);
    }
}

#[test]
fn a_cleared_cache_takes_no_more_room_than_an_empty_one() {
    let scene = Scene::with_entries(300);
    assert!(fs::metadata(scene.path()).unwrap().len() > 1 << 20);
    assert_eq!(clear(&scene), 300);
    let left = fs::metadata(scene.path()).unwrap().len();
    assert!(left < 200 << 10, "{left} bytes");
    assert_eq!(fs::metadata(scene.beside("-wal")).unwrap().len(), 0);
}

#[test]
fn a_file_of_an_earlier_version_shrinks_too() {
    let scene = Scene::with_entries(300);
    Connection::open(scene.path())
        .unwrap()
        .execute_batch("PRAGMA auto_vacuum = NONE; VACUUM;")
        .unwrap();
    assert_eq!(number(&scene, "PRAGMA auto_vacuum"), 0);
    assert_eq!(clear(&scene), 300);
    assert_eq!(number(&scene, "PRAGMA auto_vacuum"), 2);
    assert!(fs::metadata(scene.path()).unwrap().len() < 200 << 10);
}

/// The entries gone before a removal failed show how much one transaction does.
#[test]
fn many_entries_are_removed_in_several_transactions() {
    let scene = Scene::with_entries(2_300);
    let stop = "CREATE TRIGGER stop BEFORE DELETE ON entries
                WHEN (SELECT count(*) FROM entries) <= 500
                BEGIN SELECT RAISE (ABORT, 'stop'); END;";
    Connection::open(scene.path()).unwrap().execute_batch(stop).unwrap();
    let left = || scanned(&scene.open(), &ScanFilter::default()).len();
    scene.open().clear(&Scope::global(), &mut |_, _| {}).unwrap_err();
    assert!((501..=1_400).contains(&left()), "{} are left", left());
    let ids = scanned(&scene.open(), &ScanFilter::default());
    let before = left();
    scene.open().remove(&ids).unwrap_err();
    assert!(left() <= before);
}

#[test]
fn clearing_keeps_what_comes_meanwhile_and_other_scopes() {
    let scene = Scene::with_entries(1_500);
    let other = crate::support::id_in(&crate::support::scopes()[1], "kept");
    scene.open().put(&other, &record("kept")).unwrap();
    let (mut named, mut is_first) = (Vec::new(), true);
    let removed = scene.open().clear(&Scope::global(), &mut |id, _| {
        if std::mem::take(&mut is_first) {
            scene.open().put(&crate::support::id("late"), &record("late")).unwrap();
        }
        named.push(id);
    });
    assert_eq!((removed.unwrap(), named.len()), (1_500, 1_500));
    assert_eq!(
        scanned(&scene.open(), &ScanFilter::default()).len(),
        2,
        "the late one and the other"
    );
}

#[test]
fn a_limit_counts_what_is_taken_on_the_disk() {
    const LIMIT: u64 = 12 << 20;
    let scene = Scene::new();
    let store = scene.open();
    // 2,600 bytes each: one fits on a page, and much of each page stays empty.
    for n in 0..3_400 {
        store.put(&id(&n.to_string()), &record(noise_text(2_600, n))).unwrap();
        if n % 20 == 19 {
            let plan = EvictionPlan { max_bytes: Some(LIMIT), ..evict_plan(later(0)) };
            store.evict(&plan).unwrap();
        }
    }
    let used = "SELECT (SELECT page_count FROM pragma_page_count)
                - (SELECT freelist_count FROM pragma_freelist_count)";
    let used = number(&scene, used).cast_unsigned() * 4_096;
    assert!((LIMIT / 2..LIMIT + (LIMIT >> 3)).contains(&used), "{used} of {LIMIT}");
    let usage = store.usage(&Scope::global()).unwrap();
    assert!(usage.bytes.abs_diff(used) < used / 10, "{usage:?}, and {used} are taken");
}

#[test]
fn one_write_does_not_pay_for_a_limit_that_was_lowered() {
    let scene = Scene::with_entries(2_600);
    let store = scene.open();
    let plan = EvictionPlan { max_entries: Some(10), ..evict_plan(later(0)) };
    let some = store.evict(&plan).unwrap().least_used;
    assert!((500..2_590).contains(&some), "{some} at once");
    let cache = Cache::new(std::sync::Arc::new(scene.open()), CacheOptions::default());
    let limits = CacheLimits { max_entries: Some(10), max_bytes: None };
    let rest = cache.clean_up(&Scope::global(), limits).unwrap().least_used;
    assert_eq!(some + rest, 2_590);
}
