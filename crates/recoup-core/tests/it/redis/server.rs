//! What is asked of a server: how often, for how much, under which names, as whom.

use std::collections::BTreeMap;
use std::sync::Arc;

use recoup_core::base::clock::{Clock as _, SystemClock};
use recoup_core::cache::{Cache, CacheOptions};
use recoup_core::entry::{INLINE_MAX, RecordedSources};
use recoup_core::key::Scope;
use recoup_core::store::{EvictionPlan, RedisStore, ScanFilter, Store};
use redis::Connection;

use super::{eventually, hits, patient};
use crate::redis_server::{Server, fresh_prefix, shared, target};
use crate::support::{body_of, draft, evict_plan, id, later, noise, record, record_at, scanned};

#[test]
fn two_prefixes_are_two_stores() {
    let server = Server::start();
    let mut raw = server.connect();
    for key in ["mine", "ours:{global/a}", "our", "ours:dead:x", "oursx:{global/b}"] {
        redis::cmd("SET").arg(key).arg("foreign").exec(&mut raw).unwrap();
    }
    redis::cmd("DEL").arg("ours:{global/a}").exec(&mut raw).unwrap();
    let (ours, theirs) = (patient(&server, "ours"), patient(&server, "theirs"));
    for n in 0..5 {
        ours.put(&id(&format!("o{n}")), &record_at(later(n), "a")).unwrap();
        theirs.put(&id(&format!("t{n}")), &record_at(later(n), noise(INLINE_MAX + 1, n))).unwrap();
    }
    theirs.put(&id("o0"), &record("theirs")).unwrap();
    assert_eq!(scanned(&*ours, &ScanFilter::default()), ["o0", "o1", "o2", "o3", "o4"].map(id));
    let plan = EvictionPlan { max_entries: Some(3), ..evict_plan(later(9)) };
    assert_eq!(ours.evict(&plan).unwrap().least_used, 2);
    assert_eq!(ours.remove(&[id("t1"), id("o2")]).unwrap(), 1);
    let cache = Cache::new(ours.clone(), CacheOptions::default());
    assert_eq!(cache.clear(&Scope::global()).unwrap(), 2);
    assert_eq!(ours.usage(&Scope::global()).unwrap().entries, 0);
    assert_eq!(theirs.usage(&Scope::global()).unwrap().entries, 6);
    assert_eq!(body_of(&*theirs, &id("o0")), Some(b"theirs".to_vec()));
    for key in ["mine", "our", "ours:dead:x", "oursx:{global/b}"] {
        let left: String = redis::cmd("GET").arg(key).query(&mut raw).unwrap();
        assert_eq!(left, "foreign");
    }
}

#[test]
fn a_database_is_a_store_of_its_own() {
    let server = Server::start();
    let in_database = |n: u32| {
        let url = format!("redis://127.0.0.1:{}/{n}?timeout=30s", server.port);
        RedisStore::at(target(&url))
    };
    in_database(3).put(&id("a"), &record("three")).unwrap();
    assert_eq!(body_of(&in_database(3), &id("a")), Some(b"three".to_vec()));
    assert_eq!(body_of(&in_database(0), &id("a")), None);
    let error = in_database(99).get(&id("a")).unwrap_err().to_string();
    assert!(error.contains("DB index is out of range"), "{error}");
}

#[test]
fn a_user_has_a_name_and_a_password() {
    let server = Server::start();
    let mut acl = redis::cmd("ACL");
    acl.arg("SETUSER").arg("agent").arg("on").arg(">s3cret/@?").arg("~team:*").arg("+@all");
    acl.exec(&mut server.connect()).unwrap();
    let mut open = redis::cmd("ACL");
    open.arg("SETUSER").arg("guest").arg("on").arg("nopass").arg("~team:*").arg("+@all");
    open.exec(&mut server.connect()).unwrap();
    redis::cmd("ACL").arg(&["SETUSER", "default", "off"]).exec(&mut server.connect()).unwrap();
    let as_user = |user: &str, prefix: &str| {
        let host = format!("127.0.0.1:{}", server.port);
        RedisStore::at(target(&format!("redis://{user}{host}?timeout=30s&prefix={prefix}")))
    };
    for user in ["agent:s3cret/@?@", "agent:s3cret%2F%40%3F@", "guest@", "guest:any@"] {
        let store = as_user(user, "team");
        store.put(&id("a"), &record(user.to_owned())).unwrap();
        assert_eq!(body_of(&store, &id("a")), Some(user.as_bytes().to_vec()));
    }
    for user in ["", "agent@", "agent:wrong@", ":s3cret@", "nobody:x@"] {
        let error = as_user(user, "team").get(&id("a")).unwrap_err();
        assert_eq!(error.kind(), recoup_core::ErrorKind::Unavailable, "{user}: {error}");
    }
    let error = as_user("guest@", "other").get(&id("a")).unwrap_err().to_string();
    assert!(error.contains("no permissions"), "{error}");
}

/// The names of all keys, with the milliseconds that are left to each.
fn keyspace(raw: &mut Connection, pattern: &str) -> BTreeMap<String, i64> {
    let keys: Vec<String> = redis::cmd("KEYS").arg(pattern).query(raw).unwrap();
    let left = |key: String| {
        let left: i64 = redis::cmd("PEXPIRETIME").arg(&key).query(raw).unwrap();
        (key, left)
    };
    keys.into_iter().map(left).collect()
}

/// The server's clock decides, and it is the only one here.
#[test]
fn a_record_and_its_frames_expire_by_themselves_when_they_are_dead() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    let now = SystemClock.now();
    for (key, body) in [("small", 10), ("large", 3 * INLINE_MAX)] {
        let mut draft = draft(noise(body, 1));
        (draft.ttl, draft.grace) = (Some(3_600_000), 600_000);
        store.put(&id(key), &draft.seal(RecordedSources::default(), now).unwrap()).unwrap();
    }
    let dead = now.plus_millis(4_200_000).as_millis();
    let records = keyspace(&mut raw, &format!("{prefix}:{{*"));
    assert!(records.len() >= 5, "{records:?}");
    assert!(records.values().all(|expires| *expires == dead), "{dead} {records:?}");
    // Stored again without a limit, nothing has one.
    for (key, body) in [("small", 10), ("large", 3 * INLINE_MAX)] {
        store.put(&id(key), &record(noise(body, 2))).unwrap();
    }
    let records = keyspace(&mut raw, &format!("{prefix}:{{*"));
    assert!(records.len() >= 5 && records.values().all(|left| *left == -1), "{records:?}");
    // And what has none left is gone.
    let mut draft = draft("brief");
    draft.ttl = Some(300);
    store
        .put(&id("brief"), &draft.seal(RecordedSources::default(), SystemClock.now()).unwrap())
        .unwrap();
    eventually("it vanishes", || store.get(&id("brief")).unwrap().is_none());
    assert!(keyspace(&mut raw, &format!("{prefix}:{{global/brief*")).is_empty());
    let evicted = store.evict(&evict_plan(SystemClock.now())).unwrap();
    assert_eq!(evicted.expired, 1, "it is taken off the lists");
}

fn stats(raw: &mut Connection, section: &str) -> BTreeMap<String, String> {
    let info: String = redis::cmd("INFO").arg(section).query(raw).unwrap();
    let pairs = info.lines().filter_map(|line| line.split_once(':'));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[test]
fn a_scan_does_not_read_bodies() {
    let server = Server::start();
    let store = patient(&server, "p");
    for n in 0..50 {
        store.put(&id(&n.to_string()), &record(noise(200_000, n))).unwrap();
    }
    let mut raw = server.connect();
    redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut raw).unwrap();
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 50);
    assert_eq!(store.usage(&Scope::global()).unwrap().entries, 50);
    let sent: u64 = stats(&mut raw, "stats")["total_net_output_bytes"].trim().parse().unwrap();
    assert!(sent < 1_000_000, "{sent} bytes for 10 MB of bodies");
}

/// Packets of requests as the server reads them are what a round trip costs.
#[test]
fn a_read_and_a_write_are_one_round_trip_each() {
    let server = Server::start();
    let (store, mut raw) = (patient(&server, "p"), server.connect());
    store.put(&id("a"), &record("warm")).unwrap();
    let mut calls = |act: &dyn Fn()| {
        redis::cmd("CONFIG").arg("RESETSTAT").exec(&mut raw).unwrap();
        act();
        let reads = stats(&mut raw, "stats")["total_reads_processed"].trim().parse::<u64>();
        let commands = stats(&mut raw, "commandstats").into_keys();
        let commands = commands.map(|name| name.replacen("cmdstat_", "", 1));
        // Ours: the question for the statistics itself.
        let ours = |name: &String| ["info", "config|resetstat"].contains(&name.as_str());
        (reads.unwrap() - 1, commands.filter(|name| !ours(name)).collect::<Vec<_>>())
    };
    let (reads, commands) = calls(&|| assert!(store.get(&id("a")).unwrap().is_some()));
    assert_eq!((reads, commands), (1, vec!["hmget".to_owned()]));
    let (reads, commands) = calls(&|| assert!(store.get(&id("b")).unwrap().is_none()));
    assert_eq!((reads, commands), (1, vec!["hmget".to_owned()]));
    let (reads, commands) = calls(&|| store.put(&id("a"), &record("again")).unwrap());
    assert_eq!(reads, 1, "{commands:?}");
    assert!(commands.contains(&"eval".to_owned()), "{commands:?}");
    let (reads, _) = calls(&|| assert!(store.put(&id("c"), &record(noise(9_000, 1))).is_ok()));
    assert_eq!(reads, 1);
}

#[test]
fn a_store_opened_by_its_url_works() {
    let url = format!("redis://127.0.0.1:{}?timeout=30s&prefix={}", shared().port, fresh_prefix());
    let url = recoup_core::store::StoreUrl::parse(&url, "/".as_ref(), None).unwrap();
    let around = recoup_core::store::StoreContext {
        clock: Arc::new(SystemClock),
        faults: crate::support::Faults::new(),
        breakers: None,
    };
    let store = url.open(&around);
    store.put(&id("a"), &record("a")).unwrap();
    assert!(hits(&store, "a"));
    assert!(store.info().durable && store.info().url == url.to_string());
}
