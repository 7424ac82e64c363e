//! Many who read, write and find things expired at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use recoup_core::FileCache;

use super::{HOUR, Scene, names};
use crate::support::noise_text;

/// A value that shows by itself whether it is whole.
fn value(seed: u64) -> String {
    format!("{seed}:{}", noise_text(usize::try_from(seed % 50).unwrap() * 400, seed))
}

#[test]
fn no_reader_ever_sees_part_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let done = AtomicBool::new(false);
    FileCache::open(dir.path()).unwrap().set("key", &value(0), HOUR).unwrap();
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let cache = FileCache::open(dir.path()).unwrap();
                while !done.load(Ordering::SeqCst) {
                    let found = cache.get("key").unwrap().expect("it is always there");
                    let seed = found.split_once(':').unwrap().0.parse().unwrap();
                    assert!(found == value(seed), "{} bytes of {seed}", found.len());
                }
            });
        }
        let writers: Vec<_> = (0..2u64)
            .map(|writer| {
                let dir = dir.path();
                scope.spawn(move || {
                    let cache = FileCache::open(dir).unwrap();
                    for n in 0..300 {
                        cache.set("key", &value(2 * n + writer), HOUR).unwrap();
                    }
                })
            })
            .collect();
        let failed = writers.into_iter().filter_map(|writer| writer.join().err()).count();
        // First, so that the readers end in any case.
        done.store(true, Ordering::SeqCst);
        assert_eq!(failed, 0, "of the writers");
    });
    assert_eq!(names(dir.path()), ["key.json"], "and no temporary file is left");
}

/// Readers find an expired file and remove it, while somebody writes a fresh
/// one: as soon as that is written it is there, and stays.
#[test]
fn a_fresh_file_is_never_deleted_by_those_who_saw_the_old_one_expire() {
    let scene = Scene::new();
    let done = AtomicBool::new(false);
    let lost = thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !done.load(Ordering::SeqCst) {
                    let found = scene.get("key");
                    assert!(found.is_none_or(|found| found == "fresh"));
                }
            });
        }
        // Counted, because whoever fails here would leave the others running.
        let lost = (0..1_000).filter(|_| {
            scene.put("key", r#"{"value":"old","expires_at":1}"#);
            let stored = scene.cache.set("key", "fresh", HOUR);
            stored.is_err() || (0..3).any(|_| scene.get("key").is_none())
        });
        let lost = lost.count();
        done.store(true, Ordering::SeqCst);
        lost
    });
    assert_eq!(lost, 0);
    assert_eq!(names(scene.dir.path()), ["key.json"]);
}
