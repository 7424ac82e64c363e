//! Several processes over one directory: stores that know nothing of each other.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use recoup_core::store::{EvictionPlan, Store as _};

use super::{Scene, mortal, names};
use crate::support::{Touch as _, body_of, evict_plan, id, later, record};

const STORES: u64 = 4;

fn each_with_a_store_of_its_own(
    scene: &Scene,
    act: impl Fn(u64, &recoup_core::store::FileStore) + Sync,
) {
    let start = Barrier::new(usize::try_from(STORES).unwrap());
    thread::scope(|scope| {
        for n in 0..STORES {
            let (store, act, start) = (scene.another(), &act, &start);
            scope.spawn(move || {
                start.wait();
                act(n, &store);
            });
        }
    });
}

#[test]
fn hits_that_several_stores_fold_are_all_counted() {
    let scene = Scene::new();
    scene.store.put(&id("key"), &record("value")).unwrap();
    each_with_a_store_of_its_own(&scene, |n, store| {
        for round in 0..20 {
            store.touch(&[(id("key"), later(n * 100 + round))]).unwrap();
            assert_eq!(body_of(store, &id("key")), Some(b"value".to_vec()));
        }
    });
    let head = scene.store.get(&id("key")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used), (STORES * 20, later(319)));
}

#[test]
fn hits_never_undo_what_another_program_stored_meanwhile() {
    let scene = Scene::new();
    let hour = Duration::from_hours(1);
    each_with_a_store_of_its_own(&scene, |n, store| {
        let guest = scene.file_cache();
        for round in 0..100 {
            match n {
                0 => {
                    let value = format!("answer {round}");
                    guest.set("key", &value, hour).unwrap();
                    assert_eq!(guest.get("key").unwrap(), Some(value));
                }
                _ => store.touch(&[(id("key"), later(round))]).unwrap(),
            }
        }
    });
}

#[test]
fn no_death_is_forgotten_while_others_sweep() {
    let scene = Scene::new();
    each_with_a_store_of_its_own(&scene, |n, store| {
        for round in 0..30 {
            let key = format!("k{n}-{round}");
            store.put(&id(&key), &mortal("value", 10_000 - n * 1_000 - round)).unwrap();
            store.evict(&evict_plan(later(0))).unwrap();
        }
    });
    // As a store that goes by the note alone, moment by moment.
    let mut gone = 0;
    for now in (6_900..=10_000).step_by(100) {
        gone += scene.store.evict(&evict_plan(later(now))).unwrap().expired;
        let due = (0..STORES).flat_map(|n| (0..30).map(move |round| 10_000 - n * 1_000 - round));
        assert_eq!(gone, due.filter(|death| *death <= now).count() as u64, "at {now}");
    }
    assert_eq!(names(scene.dir.path()), [".recoup"]);
}

#[test]
fn what_was_stored_anew_is_not_evicted_for_what_was_there() {
    let scene = Scene::new();
    each_with_a_store_of_its_own(&scene, |n, store| {
        for round in 0..40 {
            if n == 0 {
                store.put(&id("key"), &mortal("dead", 1)).unwrap();
                store.put(&id("key"), &record("fresh")).unwrap();
                assert_eq!(body_of(store, &id("key")), Some(b"fresh".to_vec()), "{round}");
            } else {
                store.evict(&evict_plan(later(100))).unwrap();
            }
        }
    });
    assert_eq!(body_of(&scene.store, &id("key")), Some(b"fresh".to_vec()));
    assert_eq!(names(scene.dir.path()), [".recoup", "key.json"]);
}

#[test]
fn many_who_evict_keep_to_the_limit_together() {
    let scene = Scene::new();
    each_with_a_store_of_its_own(&scene, |n, store| {
        for round in 0..25 {
            store.put(&id(&format!("k{n}-{round}")), &record("value")).unwrap();
            let plan = EvictionPlan { max_entries: Some(10), ..evict_plan(later(0)) };
            store.evict(&plan).unwrap();
        }
    });
    assert_eq!(scene.scanned().len(), 10);
}
