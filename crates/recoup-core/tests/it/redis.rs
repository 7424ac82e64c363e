//! The store for teams, against real servers: what they are asked, what they do
//! wrong, and what happens then.

mod breaker;
mod cluster;
mod fake;
mod faults;
mod hostile;
mod proxy;
mod secrecy;
mod server;
mod space;
mod tiered;
mod tls;
mod urls;

use std::sync::Arc;
use std::time::{Duration, Instant};

use recoup_core::cache::{
    Cache, CacheOptions, LookupRequest, MissReason, PathContext, PeekOutcome,
};
use recoup_core::key::Kind;
use recoup_core::store::{RedisStore, Store};

use crate::redis_server::{Server, target};
use crate::support::{id, record};

/// What ends within the deadline of 250 ms ends within this, on any machine.
const SOON: Duration = Duration::from_secs(5);

/// A store with the default deadline.
fn at_port(port: u16) -> Arc<dyn Store> {
    Arc::new(RedisStore::at(target(&format!("redis://127.0.0.1:{port}"))))
}

/// One that fails at once where it should, and on a loaded machine nowhere else.
fn unhurried(port: u16) -> Arc<dyn Store> {
    Arc::new(RedisStore::at(target(&format!("redis://127.0.0.1:{port}/?timeout=4s"))))
}

/// A store that waits as long as it takes.
fn patient(server: &Server, prefix: &str) -> Arc<dyn Store> {
    Arc::new(RedisStore::at(server.target(prefix)))
}

/// What a look-up finds.
fn read(store: &Arc<dyn Store>, key: &str) -> PeekOutcome {
    let view = PathContext { root: "/".into(), cwd: "/".into() };
    let cache = Cache::new(Arc::clone(store), CacheOptions::default());
    cache.read(&LookupRequest::new(Kind::Result, &id(key), &view))
}

fn hits(store: &Arc<dyn Store>, key: &str) -> bool {
    matches!(read(store, key), PeekOutcome::Hit(_))
}

/// Why it is a miss, which is known soon.
fn miss(store: &Arc<dyn Store>, key: &str) -> MissReason {
    match soon(|| read(store, key)) {
        PeekOutcome::Miss(reason) => reason,
        other => panic!("no miss: {other:?}"),
    }
}

/// A miss because the server does not answer; in which words.
fn unavailable(store: &Arc<dyn Store>, key: &str) -> String {
    match miss(store, key) {
        MissReason::Unavailable(error) => error.to_string(),
        other => panic!("another reason: {other:?}"),
    }
}

fn soon<T>(act: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = act();
    assert!(start.elapsed() < SOON, "after {:?}", start.elapsed());
    done
}

/// Stores something through a store that may be too hasty for a loaded machine.
fn stored(store: &Arc<dyn Store>, key: &str, body: Vec<u8>) {
    let record = record(body);
    eventually("it is stored", || store.put(&id(key), &record).is_ok());
    eventually("it is found", || hits(store, key));
}

/// Waits until it holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
