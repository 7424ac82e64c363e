//! A team: each machine has a tier of its own in front of one server.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::ManualClock;
use recoup_core::entry::INLINE_MAX;
use recoup_core::store::{
    GuardedStore, InMemoryStore, RedisStore, ScanFilter, SqliteStore, Store, TieredStore,
};
use rustix::process::Signal;
use tempfile::TempDir;

use super::soon;
use crate::redis_server::{Server, fresh_prefix, shared, target};
use crate::store_contract::stores::PATIENT;
use crate::support::{Faults, START, body_of, id, noise, record, scanned};

/// How long a tier goes by what it has.
const MAX_AGE: u64 = 10_000;

struct Machine {
    dir: TempDir,
    front: Arc<dyn Store>,
    tiers: TieredStore,
    faults: Arc<Faults>,
    clock: ManualClock,
}

impl Machine {
    fn new(server: u16, prefix: &str, timeout: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let front = Arc::new(SqliteStore::at(dir.path().join("cache.db"), PATIENT, Faults::new()));
        Self::with(front, dir, &format!("redis://127.0.0.1:{server}/?prefix={prefix}&{timeout}"))
    }

    fn with(front: Arc<dyn Store>, dir: TempDir, url: &str) -> Self {
        let (clock, faults) = (ManualClock::at(START), Faults::new());
        let server = Arc::new(RedisStore::at(target(url)));
        let breaker = dir.path().join("breaker");
        let back = Arc::new(GuardedStore::new(server, Some(breaker), Arc::new(clock.clone())));
        let time = Arc::new(clock.clone());
        let tiers = TieredStore::new(front.clone(), back, MAX_AGE, time, faults.clone());
        Self { dir, front, tiers, faults, clock }
    }

    fn put(&self, key: &str, body: &str) {
        self.tiers.put(&id(key), &record(body.to_owned())).unwrap();
    }

    /// What is found; `-` for nothing.
    fn body(&self, key: &str) -> String {
        let found = body_of(&self.tiers, &id(key));
        found.map_or("-".to_owned(), |body| String::from_utf8(body).unwrap())
    }

    fn pass(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }
}

const PATIENTLY: &str = "timeout=30s";
const PROMPTLY: &str = "timeout=4s";

#[test]
fn what_one_machine_writes_and_removes_the_other_sees_in_time() {
    let prefix = fresh_prefix();
    let [mine, yours] = [0; 2].map(|_| Machine::new(shared().port, &prefix, PATIENTLY));
    mine.put("a", "first");
    assert_eq!(yours.body("a"), "first", "what one does not have is asked for at once");
    mine.put("a", "second");
    assert_eq!(mine.body("a"), "second");
    assert_eq!(yours.body("a"), "first", "within the time of its tier");
    yours.pass(MAX_AGE + 1);
    assert_eq!(yours.body("a"), "second");
    yours.tiers.remove(&[id("a")]).unwrap();
    assert_eq!(yours.body("a"), "-");
    assert_eq!(mine.body("a"), "second");
    mine.pass(MAX_AGE + 1);
    assert_eq!(mine.body("a"), "-");
    assert!(mine.front.get(&id("a")).unwrap().is_none());
    yours.put("b", "b");
    assert_eq!(scanned(&mine.tiers, &ScanFilter::default()), [id("b")], "lists are the server's");
    let large = noise(3 * INLINE_MAX, 1);
    mine.tiers.put(&id("large"), &record(large.clone())).unwrap();
    assert_eq!(body_of(&yours.tiers, &id("large")), Some(large.clone()));
    assert_eq!(body_of(&*yours.front, &id("large")), Some(large), "and it has it now");
    assert_eq!((mine.faults.take(), yours.faults.take()), (vec![], vec![]));
}

#[test]
fn while_the_server_is_away_each_goes_on_with_what_it_has() {
    let server = Server::start();
    let [mine, yours] = [0; 2].map(|_| Machine::new(server.port, "p", PROMPTLY));
    mine.put("a", "a");
    mine.put("b", "b");
    assert_eq!(yours.body("a"), "a");
    let port = server.kill();
    for machine in [&mine, &yours] {
        assert_eq!(machine.body("a"), "a", "nobody is asked yet");
        assert_eq!(machine.faults.count(), 0);
        machine.pass(MAX_AGE + 1);
        for n in 0..6 {
            assert_eq!(soon(|| machine.body("a")), "a");
            let told = machine.faults.take();
            assert_eq!(told.len(), 1, "{told:?}");
            assert_eq!(told[0].1, ErrorKind::Unavailable);
            assert!(told[0].0.starts_with("redis://127.0.0.1"), "{told:?}");
            assert_eq!(told[0].2.contains("skipped for"), n >= 3, "{told:?}");
        }
    }
    assert_eq!(mine.body("b"), "b");
    let error = soon(|| yours.tiers.get(&id("b"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "it never had that one");
    let error = yours.tiers.put(&id("c"), &record("c")).unwrap_err();
    assert!(error.to_string().starts_with("redis://127.0.0.1"), "{error}");
    assert_eq!(error.to_string().matches("redis://").count(), 1, "{error}");
    assert_eq!(body_of(&*yours.front, &id("c")), Some(b"c".to_vec()));
    assert_eq!(yours.body("c"), "c", "its own tier has it");
    assert!(yours.tiers.remove(&[id("a")]).is_err(), "not everywhere");
    assert!(yours.front.get(&id("a")).unwrap().is_none(), "but here");

    let _server = Server::start_on("redis-server", port, &[]);
    for machine in [&mine, &yours] {
        machine.pass(60_000);
    }
    mine.put("a", "again");
    assert_eq!(yours.body("a"), "again");
    assert_eq!(yours.body("c"), "-", "the server, which kept nothing, is the truth again");
    assert_eq!(mine.body("b"), "-");
    for machine in [&mine, &yours] {
        machine.faults.take();
        machine.pass(MAX_AGE + 1);
        assert_eq!(machine.body("a"), "again");
        assert_eq!(machine.faults.count(), 0);
        assert!(!machine.dir.path().join("breaker").exists());
    }
}

#[test]
fn memory_in_front_of_a_server_does_the_same() {
    let server = Server::start();
    let machine = |_| {
        let front = Arc::new(InMemoryStore::with_capacity(64 << 20));
        let url = format!("redis://127.0.0.1:{}/?{PROMPTLY}", server.port);
        Machine::with(front, tempfile::tempdir().unwrap(), &url)
    };
    let [mine, yours] = [0; 2].map(machine);
    mine.put("a", "first");
    assert_eq!(yours.body("a"), "first");
    mine.put("a", "second");
    assert_eq!(yours.body("a"), "first");
    yours.pass(MAX_AGE + 1);
    assert_eq!(yours.body("a"), "second");
    drop(server);
    yours.pass(MAX_AGE + 1);
    assert_eq!(soon(|| yours.body("a")), "second");
    assert_eq!(yours.faults.count(), 1);
}

#[test]
fn a_large_body_comes_from_the_server_once() {
    let server = Server::start();
    let [mine, yours] = [0; 2].map(|_| Machine::new(server.port, "p", PATIENTLY));
    let large = noise(3 * INLINE_MAX, 1);
    mine.tiers.put(&id("a"), &record(large.clone())).unwrap();
    let found = yours.tiers.get(&id("a")).unwrap().unwrap();
    drop(server);
    assert_eq!(found.open().unwrap().body().to_bytes().unwrap(), large, "nobody is asked again");
    assert_eq!(body_of(&yours.tiers, &id("a")), Some(large));
    assert_eq!(yours.faults.count(), 0);
}

/// A chunk may be gone when its record is on the way into the tier.
#[test]
fn a_large_body_that_breaks_off_on_its_way_leaves_no_half() {
    let server = Server::start();
    let [mine, yours] = [0; 2].map(|_| Machine::new(server.port, "p", PATIENTLY));
    mine.tiers.put(&id("a"), &record(noise(4 * INLINE_MAX, 1))).unwrap();
    let frames: Vec<String> =
        redis::cmd("KEYS").arg("p:{global/a}:*:3").query(&mut server.connect()).unwrap();
    redis::cmd("DEL").arg(&frames).exec(&mut server.connect()).unwrap();
    let found = yours.tiers.get(&id("a")).unwrap().unwrap();
    let error = found.open().unwrap().body().to_bytes().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
    assert!(yours.front.get(&id("a")).unwrap().is_none(), "not half of it");
    assert_eq!(yours.faults.take(), [], "whoever reads it is told");
}

/// A server that stands still holds up those who ask it, and nobody else.
#[test]
fn what_is_in_front_is_served_while_another_waits_for_the_server() {
    let server = Server::start();
    let [mine, yours] = [0; 2].map(|_| Machine::new(server.port, "p", PATIENTLY));
    mine.tiers.put(&id("large"), &record(noise(4 * INLINE_MAX, 1))).unwrap();
    yours.put("a", "a");
    let pid = server.pid();
    Server::signal(pid, Signal::STOP);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| yours.tiers.get(&id("large")).unwrap().unwrap());
        for _ in 0..50 {
            assert_eq!(soon(|| yours.body("a")), "a");
        }
        assert!(!waiting.is_finished());
        Server::signal(pid, Signal::CONT);
        assert!(waiting.join().unwrap().open().is_ok());
    });
}
