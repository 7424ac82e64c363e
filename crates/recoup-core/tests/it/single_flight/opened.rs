//! Caches that were opened by URL alone, as users of the library do.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use recoup_core::prelude::*;

use crate::redis_server;

/// Opens the URL several times, lets all ask for the same at once, and counts who computed.
fn computations(url: &str) -> usize {
    let (count, start) = (AtomicUsize::new(0), Barrier::new(4));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let cache = Cache::open(url).unwrap();
                start.wait();
                let found = cache.get_or_compute(&Key::of(["question"]), Ttl::days(1), || {
                    count.fetch_add(1, Ordering::SeqCst);
                    thread::sleep(Duration::from_millis(100));
                    Ok("answer")
                });
                assert_eq!(found.unwrap().to_bytes().unwrap(), "answer");
            });
        }
    });
    count.into_inner()
}

#[test]
fn caches_at_one_file_compute_once() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(computations(&format!("sqlite:{}/answers.db", dir.path().display())), 1);
}

#[test]
fn caches_at_one_server_compute_once() {
    let target = redis_server::shared().target(&redis_server::fresh_prefix());
    assert_eq!(computations(&target.to_string()), 1);
}
