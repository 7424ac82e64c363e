//! A server that is away, dies, stops, or is slow: each is a miss within the
//! deadline, and when it is back, so is what it has.

use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use recoup_core::base::clock::ManualClock;
use recoup_core::cache::PeekOutcome;
use recoup_core::entry::{ChunkSource as _, INLINE_MAX};
use recoup_core::store::{GuardedStore, RedisStore, ScanFilter, ScanFlow, Store};
use recoup_core::{Error, ErrorKind};
use rustix::process::Signal;

use super::proxy::Proxy;
use super::{at_port, eventually, hits, read, soon, stored, unavailable, unhurried};
use crate::redis_server::{Server, free_port, target};
use crate::support::{START, id, noise, record};

#[test]
fn a_server_that_is_not_there_is_a_miss() {
    let store = at_port(free_port());
    let said = unavailable(&store, "a");
    assert!(said.contains("refused"), "{said}");
    let error = soon(|| store.put(&id("a"), &record("a"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let visit = &mut |_: &_, _: recoup_core::Result<&_>| ScanFlow::Continue(());
    let error = soon(|| store.scan(&ScanFilter::default(), visit)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn a_name_that_nobody_knows_is_a_miss() {
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(target("redis://no-such-host.invalid")));
    unavailable(&store, "a");
}

#[test]
fn a_server_that_hangs_up_is_a_miss() {
    let store = at_port(Proxy::saying(b"").port);
    unavailable(&store, "a");
}

#[test]
fn a_server_that_was_killed_is_a_miss() {
    let server = Server::start();
    let store = unhurried(server.port);
    store.put(&id("a"), &record("a")).unwrap();
    assert!(hits(&store, "a"));
    let port = server.kill();
    unavailable(&store, "a");
    assert!(soon(|| store.remove(&[id("a")])).is_err());
    let server = Server::start_on("redis-server", port, &[]);
    assert!(!hits(&store, "a"), "it kept nothing");
    store.put(&id("a"), &record("a")).unwrap();
    assert!(hits(&store, "a"));
    drop(server);
}

#[test]
fn a_large_body_whose_server_is_killed_is_a_miss() {
    let server = Server::start();
    let store = unhurried(server.port);
    store.put(&id("a"), &record(noise(8 * INLINE_MAX, 1))).unwrap();
    let PeekOutcome::Hit(entry) = read(&store, "a") else { panic!("it is there") };
    assert_eq!(entry.body().to_bytes().unwrap().len(), 8 * INLINE_MAX);
    let record = store.get(&id("a")).unwrap().unwrap();
    let mut server = Some(server);
    let mut frames = 0;
    let recoup_core::entry::StoredBody::Framed(body) = &record.payload else {
        panic!("it is large")
    };
    let reading = body.for_each_chunk(&mut |_| {
        frames += 1;
        if frames == 3 {
            server.take().unwrap().kill();
        }
        Ok(())
    });
    assert_eq!(soon(|| reading).unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(frames, 3);
    unavailable(&store, "a");
}

#[test]
fn large_bodies_are_behind_the_breaker_too() {
    let server = Server::start();
    let clock = Arc::new(ManualClock::at(START));
    let store = GuardedStore::new(unhurried(server.port), None, clock);
    store.put(&id("a"), &record(noise(3 * INLINE_MAX, 1))).unwrap();
    let read = store.get(&id("a")).unwrap().unwrap().open().unwrap();
    let unwanted =
        read.body().for_each_chunk(&mut |_| Err(Error::new(ErrorKind::Unavailable, "enough")));
    assert_eq!(unwanted.unwrap_err().message(), "enough");
    assert_eq!(read.body().to_bytes().unwrap(), noise(3 * INLINE_MAX, 1));
    server.kill();
    for n in 0..5 {
        let error = soon(|| read.body().to_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(error.to_string().contains("skipped for"), n >= 3, "{error}");
    }
    assert!(store.get(&id("a")).unwrap_err().to_string().contains("skipped for"));
}

/// The kernel still accepts for it.
#[test]
fn a_server_that_stands_still_is_a_miss_until_it_goes_on() {
    let server = Server::start();
    let (idle, fresh, pid) = (at_port(server.port), at_port(server.port), server.pid());
    stored(&idle, "a", b"a".to_vec());
    Server::signal(pid, Signal::STOP);
    for store in [&idle, &fresh, &idle, &fresh] {
        let said = unavailable(store, "a");
        assert!(said.contains("no answer within 250 ms"), "{said}");
    }
    let error = soon(|| fresh.put(&id("b"), &record("b"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    Server::signal(pid, Signal::CONT);
    for store in [&idle, &fresh] {
        eventually("it goes on", || hits(store, "a"));
    }
}

#[test]
fn a_server_whose_queue_is_full_is_a_miss() {
    let server = Server::start_with(&["--tcp-backlog", "1"]);
    let address = SocketAddr::from(([127, 0, 0, 1], server.port));
    Server::signal(server.pid(), Signal::STOP);
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        waiting.push(stream);
        assert!(waiting.len() < 1_000, "the queue has no end");
    }
    let said = unavailable(&at_port(server.port), "a");
    assert!(said.contains("no answer within 250 ms"), "{said}");
}

#[test]
fn a_slow_server_is_a_miss() {
    let server = Server::start();
    let store = at_port(server.port);
    stored(&store, "a", b"a".to_vec());
    let (mut raw, started) = (server.connect(), std::sync::mpsc::channel());
    let sleeper = thread::spawn(move || {
        started.0.send(()).unwrap();
        redis::cmd("DEBUG").arg("SLEEP").arg("3").exec(&mut raw).unwrap();
    });
    started.1.recv().unwrap();
    eventually("it is asleep", || matches!(read(&store, "a"), PeekOutcome::Miss(_)));
    sleeper.join().unwrap();
    eventually("it is awake", || hits(&store, "a"));
}

/// Every byte comes in time, the answer does not: it would take minutes.
#[test]
fn a_server_that_dribbles_is_a_miss() {
    let server = Server::start();
    let proxy = Proxy::to(server.port);
    let (known, new) = (at_port(proxy.port), at_port(proxy.port));
    stored(&known, "a", noise(5_000, 1));
    proxy.dribble();
    for store in [&known, &new] {
        let said = unavailable(store, "a");
        assert!(said.contains("no answer within 250 ms"), "{said}");
    }
}

#[test]
fn after_a_restart_the_next_question_is_answered() {
    let server = Server::start();
    let store = unhurried(server.port);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| store.put(&id("a"), &record(noise(500_000, 1))).unwrap());
        }
    });
    let port = server.kill();
    let server = Server::start_on("redis-server", port, &[]);
    assert!(store.get(&id("a")).unwrap().is_none(), "without an error");
    drop(server);
}
