//! A server that answers, but not what was hoped for: no room, no rights, other
//! people's data, or no Redis at all.

use std::sync::Arc;

use recoup_core::ErrorKind;
use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{MissReason, PeekOutcome};
use recoup_core::entry::INLINE_MAX;
use recoup_core::store::{GuardedStore, ScanFilter, ScanFlow, Store};

use super::proxy::Proxy;
use super::{at_port, eventually, hits, miss, patient, read, soon, unavailable, unhurried};
use crate::redis_server::{Server, free_port, fresh_prefix, shared};
use crate::support::{START, body_of, id, noise, record};

#[test]
fn a_server_without_room_refuses_writes_and_goes_on_reading() {
    let server = Server::start();
    let store: Arc<dyn Store> =
        Arc::new(GuardedStore::new(patient(&server, "p"), None, Arc::new(ManualClock::at(START))));
    store.put(&id("a"), &record("before")).unwrap();
    let limit = |bytes: &str| {
        let mut raw = server.connect();
        redis::cmd("CONFIG").arg(&["SET", "maxmemory", bytes]).exec(&mut raw).unwrap();
    };
    limit("1");
    for n in 0..10 {
        let body = if n % 2 == 0 { noise(9, n) } else { noise(2 * INLINE_MAX, n) };
        let error = store.put(&id("a"), &record(body)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Full, "{error}");
        assert!(error.to_string().contains("no room left"), "{error}");
        assert_eq!(body_of(&*store, &id("a")), Some(b"before".to_vec()), "what was there stays");
    }
    store.put(&id("new"), &record("new")).unwrap_err();
    assert!(matches!(read(&store, "new"), PeekOutcome::Miss(MissReason::Absent)), "not half of it");
    assert_eq!(store.remove(&[id("a")]).unwrap(), 1);
    limit("0");
    store.put(&id("a"), &record("after")).unwrap();
    assert!(hits(&store, "a"));
}

#[test]
fn what_is_no_record_is_damage_and_can_be_replaced() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    let name = format!("{prefix}:{{global/a}}");
    let garbage: [(&str, &[&str]); 7] = [
        ("SET", &["text"]),
        ("RPUSH", &["one", "two"]),
        ("ZADD", &["1", "one"]),
        ("HSET", &["head", "\u{1}\u{2}{"]),
        ("HSET", &["head", "{}", "at", "1", "used", "1", "hits", "1", "body", "x"]),
        ("HSET", &["body", "only"]),
        ("HSET", &["at", "x", "used", "y", "hits", "z"]),
    ];
    for (command, arguments) in garbage {
        redis::cmd("DEL").arg(&name).exec(&mut raw).unwrap();
        redis::cmd(command).arg(&name).arg(arguments).exec(&mut raw).unwrap();
        let reason = miss(&store, "a");
        assert!(matches!(reason, MissReason::Corrupt(_)), "{command} {arguments:?}: {reason:?}");
        let mut shown = Vec::new();
        let visit = &mut |id: &_, head: recoup_core::Result<&_>| {
            shown.push((Clone::clone(id), head.map(drop).map_err(|error| error.kind())));
            ScanFlow::Continue(())
        };
        store.scan(&ScanFilter::default(), visit).unwrap();
        if arguments[0] != "body" {
            // Without anything of a head it may just as well be gone by now.
            assert_eq!(shown, [(id("a"), Err(ErrorKind::Corrupt))], "{command} {arguments:?}");
        }
        store.put(&id("a"), &record("sound")).unwrap();
        assert!(hits(&store, "a"));
        redis::cmd("DEL").arg(&name).exec(&mut raw).unwrap();
        redis::cmd(command).arg(&name).arg(arguments).exec(&mut raw).unwrap();
        assert_eq!(store.remove(&[id("a")]).unwrap(), 1);
        assert!(matches!(miss(&store, "a"), MissReason::Absent));
    }
    redis::cmd("HSET").arg(&name).arg(&["other", "field"]).exec(&mut raw).unwrap();
    assert!(matches!(miss(&store, "a"), MissReason::Absent), "a hash with nothing of ours");
}

#[test]
fn a_large_body_whose_frames_are_gone_is_damage() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    store.put(&id("a"), &record(noise(3 * INLINE_MAX, 1))).unwrap();
    let frames: Vec<String> =
        redis::cmd("KEYS").arg(format!("{prefix}:{{global/a}}:*")).query(&mut raw).unwrap();
    redis::cmd("DEL").arg(&frames[0]).exec(&mut raw).unwrap();
    assert!(matches!(miss(&store, "a"), MissReason::Corrupt(_)));
    store.put(&id("a"), &record("sound")).unwrap();
    let left: Vec<String> =
        redis::cmd("KEYS").arg(format!("{prefix}:{{global/a}}:*")).query(&mut raw).unwrap();
    assert!(hits(&store, "a") && left.is_empty(), "{left:?}");
}

#[test]
fn what_speaks_no_redis_is_a_miss() {
    for words in [
        &b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"[..],
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"$1000\r\nhalf of it",
        b"*-7\r\n",
        b"+OK\r\n",
        b":1\r\n",
        b"*0\r\n",
        b"*1\r\n+OK\r\n",
        b"$-1\r\n",
    ] {
        let proxy = Proxy::saying(words);
        let store = at_port(proxy.port);
        unavailable(&store, "a");
        soon(|| store.remove(&[id("a")])).ok();
    }
}

#[test]
fn a_server_that_says_ok_to_everything_has_stored_nothing() {
    let store = unhurried(Proxy::agreeing().port);
    for body in [noise(9, 1), noise(2 * INLINE_MAX, 2)] {
        let error = store.put(&id("a"), &record(body)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.to_string().contains("not Redis"), "{error}");
    }
    let error = store.remove(&[id("a")]).unwrap_err();
    assert!(error.to_string().contains("not Redis"), "{error}");
    let visit = &mut |_: &_, _: recoup_core::Result<&_>| ScanFlow::Continue(());
    let error = store.scan(&ScanFilter::default(), visit).unwrap_err();
    assert!(error.to_string().contains("not Redis"), "{error}");
}

#[test]
fn a_server_that_is_not_ready_is_a_miss() {
    for words in [
        &b"-LOADING Redis is loading the dataset in memory\r\n"[..],
        b"-MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.\r\n",
        b"-BUSY Redis is busy running a script.\r\n",
        b"-CLUSTERDOWN Hash slot not served\r\n",
        b"-NOAUTH Authentication required.\r\n",
    ] {
        let store = unhurried(Proxy::saying(words).port);
        let said = unavailable(&store, "a");
        let reason = str::from_utf8(words).unwrap().trim().split_once(' ').unwrap().1;
        assert_eq!(said.matches(reason).count(), 1, "{said}");
    }
}

#[test]
fn a_replica_is_read_and_says_that_it_cant_be_written() {
    let server = Server::start();
    let store = unhurried(server.port);
    store.put(&id("a"), &record("a")).unwrap();
    let follow = |whom: &[&str]| {
        redis::cmd("REPLICAOF").arg(whom).exec(&mut server.connect()).unwrap();
    };
    follow(&["127.0.0.1", &free_port().to_string()]);
    assert!(hits(&store, "a"));
    let error = store.put(&id("a"), &record("b")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    let error = store.remove(&[id("a")]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ReadOnly, "{error}");
    follow(&["NO", "ONE"]);
    store.put(&id("a"), &record("b")).unwrap();
    assert_eq!(body_of(&*store, &id("a")), Some(b"b".to_vec()));
}

#[test]
fn a_server_that_wants_a_password_is_a_miss_that_says_so() {
    let server = Server::launch("redis-server", free_port(), &["--requirepass", "right"]);
    let store = at_port(server.port);
    eventually("the server answers", || unavailable(&store, "a").contains("NOAUTH"));
    let error = store.put(&id("a"), &record("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}
