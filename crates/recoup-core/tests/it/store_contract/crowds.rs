//! Many threads at once: every value is read whole, every hit is counted, and
//! nobody fails because others are busy.

use std::sync::Barrier;
use std::thread;

use recoup_core::ErrorKind;
use recoup_core::entry::CHUNK_LEN;
use recoup_core::store::ScanFilter;

use super::stores::Factory;
use crate::support::Touch as _;
use crate::support::{START, body_of, id, later, noise_text, record, record_at, scanned};

const THREADS: u64 = 8;

fn crowd(act: impl Fn(u64) + Sync) {
    let start = Barrier::new(usize::try_from(THREADS).unwrap());
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (act, start) = (&act, &start);
            scope.spawn(move || {
                start.wait();
                act(thread);
            });
        }
    });
}

/// A value that shows by itself whether it is whole: its writer, its length and
/// then that much of what only this writer writes.
fn value(seed: u64) -> String {
    let len = usize::try_from(seed * 37 % 3_000).unwrap();
    format!("{seed}:{}", noise_text(len, seed))
}

fn assert_whole(body: &[u8]) {
    let text = std::str::from_utf8(body).unwrap();
    let seed = text.split_once(':').unwrap().0.parse().unwrap();
    assert!(text == value(seed), "a value that nobody wrote");
}

pub(super) fn every_read_is_one_whole_value<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    crowd(|thread| {
        for round in 0..40 {
            let key = id(&format!("k{}", (thread + round) % 5));
            store.put(&key, &record(value(thread * 1_000 + round))).unwrap();
            let key = id(&format!("k{}", (thread * round) % 5));
            if let Some(body) = body_of(&*store, &key) {
                assert_whole(&body);
            }
            if round % 10 == 9 {
                store.remove(&[id(&format!("k{}", round % 5))]).unwrap();
            }
        }
    });
    for found in scanned(&*store, &ScanFilter::default()) {
        assert_whole(&body_of(&*store, &found).expect("it was just listed"));
    }
}

/// A large body is read after it was found, and may be replaced in between:
/// that is an error then, and never a mixture of two.
pub(super) fn large_bodies_are_never_mixed<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let bodies: Vec<String> = (0..4).map(|n| noise_text(CHUNK_LEN + 1_000 * n, n as u64)).collect();
    store.put(&id("key"), &record(bodies[0].clone())).unwrap();
    crowd(|thread| {
        for round in 0..3 {
            let mine = &bodies[usize::try_from((thread + round) % 4).unwrap()];
            if thread % 2 == 0 {
                store.put(&id("key"), &record(mine.clone())).unwrap();
            }
            let entry = store.get(&id("key")).unwrap().unwrap().open().unwrap();
            match entry.body().to_bytes() {
                Ok(body) => assert!(bodies.iter().any(|whole| *whole == body), "a mixture"),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
            }
        }
    });
    let last = body_of(&*store, &id("key")).unwrap();
    assert!(bodies.iter().any(|whole| whole.as_bytes() == last));
}

pub(super) fn hits_of_all_threads_are_counted<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record_at(START, "a")).unwrap();
    crowd(|thread| {
        for round in 0..25 {
            store.touch(&[(id("key"), later(thread * 100 + round))]).unwrap();
        }
    });
    let head = store.get(&id("key")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used), (THREADS * 25, later(7 * 100 + 24)));
}

pub(super) fn the_first_writers_all_succeed<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    crowd(|thread| {
        assert!(store.get(&id("nothing")).unwrap().is_none());
        store.put(&id(&thread.to_string()), &record("a")).unwrap();
    });
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 8);
}
