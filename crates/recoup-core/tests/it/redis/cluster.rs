//! Clusters: where things are, while they move, and when a node is lost.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::entry::INLINE_MAX;
use recoup_core::key::Scope;
use recoup_core::store::{EvictionPlan, RedisStore, ScanFilter, Store};
use redis::Connection;
use rustix::process::Signal;

use super::{eventually, hits, miss, soon};
use crate::redis_server::{Cluster, Server, fresh_prefix, info, shared, target};
use crate::support::{Touch as _, body_of, evict_plan, id, later, noise, record, scanned};

fn keys_at(node: &Server, pattern: &str) -> Vec<String> {
    redis::cmd("KEYS").arg(pattern).query(&mut node.connect()).unwrap()
}

fn cluster(raw: &mut Connection, arguments: &[&str]) {
    redis::cmd("CLUSTER").arg(arguments).exec(raw).unwrap();
}

fn slot_of(node: &Server, name: &str) -> String {
    let mut command = redis::cmd("CLUSTER");
    let slot: u16 = command.arg("KEYSLOT").arg(name).query(&mut node.connect()).unwrap();
    slot.to_string()
}

fn id_of(node: &Server) -> String {
    redis::cmd("CLUSTER").arg("MYID").query(&mut node.connect()).unwrap()
}

#[test]
fn records_are_spread_and_their_frames_are_with_them() {
    let (cluster, prefix) = (Cluster::shared(), fresh_prefix());
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(cluster.target(&prefix)));
    for n in 0..12 {
        store.put(&id(&n.to_string()), &record(noise(2 * INLINE_MAX, n))).unwrap();
    }
    for node in &cluster.nodes {
        let keys = keys_at(node, &format!("{prefix}:{{*"));
        let whole: BTreeSet<&str> =
            keys.iter().filter(|key| key.ends_with('}')).map(String::as_str).collect();
        assert!(!whole.is_empty(), "every node has some");
        let owner = |key: &str| key.split_inclusive('}').next().unwrap().to_owned();
        assert!(keys.iter().all(|key| whole.contains(owner(key).as_str())), "{keys:?}");
        assert_eq!(keys.len(), whole.len() * 3, "two frames each");
    }
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 12, "a scan asks all nodes");
    assert_eq!(store.usage(&Scope::global()).unwrap().entries, 12);
    let ids: Vec<_> = (0..12).map(|n: u64| id(&n.to_string())).collect();
    assert_eq!(store.remove(&ids).unwrap(), 12);
    assert!(cluster.nodes.iter().all(|node| keys_at(node, &format!("{prefix}:*")).is_empty()));
}

#[test]
fn a_server_that_is_taken_for_a_cluster_or_the_reverse_says_so() {
    let node = RedisStore::at(Cluster::shared().nodes[0].target(&fresh_prefix()));
    let errors = (0..20).filter_map(|n| node.get(&id(&n.to_string())).err());
    let errors: Vec<String> = errors.map(|error| error.to_string()).collect();
    assert!(!errors.is_empty(), "some keys are on other nodes");
    assert!(errors.iter().all(|error| error.contains("redis+cluster://")), "{errors:?}");
    let url = format!("redis+cluster://127.0.0.1:{}/?timeout=30s", shared().port);
    let error = RedisStore::at(target(&url)).get(&id("a")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("for a single server, use a redis:// URL"), "{error}");
}

/// Sent on by ASK while a slot moves, and by MOVED when it has.
#[test]
fn what_moves_to_another_node_is_found_and_can_be_changed() {
    let (nodes, prefix) = (Cluster::start(0), fresh_prefix());
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(nodes.target(&prefix)));
    for n in 0..20 {
        store.put(&id(&n.to_string()), &record(noise(500, n))).unwrap();
    }
    store.put(&id("large"), &record(noise(3 * INLINE_MAX, 1))).unwrap();
    let name = format!("{prefix}:{{global/large}}");
    let slot = slot_of(&nodes.nodes[0], &name);
    let has = |node: &&Server| !keys_at(node, &name).is_empty();
    let (from, to) = (
        nodes.nodes.iter().find(has).unwrap(),
        nodes.nodes.iter().find(|node| !has(node)).unwrap(),
    );
    cluster(&mut to.connect(), &["SETSLOT", &slot, "IMPORTING", &id_of(from)]);
    cluster(&mut from.connect(), &["SETSLOT", &slot, "MIGRATING", &id_of(to)]);
    let migrate = |keys: &[String]| {
        let mut command = redis::cmd("MIGRATE");
        command.arg("127.0.0.1").arg(to.port).arg("").arg(0).arg(10_000).arg("REPLACE");
        command.arg("KEYS").arg(keys).exec(&mut from.connect()).unwrap();
    };
    migrate(std::slice::from_ref(&name));
    assert!(hits(&store, "large"), "the record is there, its frames are here");
    migrate(&keys_at(from, &format!("{name}:*")));
    assert!(hits(&store, "large"), "all of it is there, the slot is here");
    store.touch(&[(id("large"), later(5))]).unwrap();
    store.put(&id("large"), &record(noise(4 * INLINE_MAX, 2))).unwrap();
    assert!(hits(&store, "large"), "stored anew meanwhile");
    assert_eq!(keys_at(to, &format!("{name}*")).len(), 5, "and nothing is left of the old");
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 21);
    for node in [to, from] {
        cluster(&mut node.connect(), &["SETSLOT", &slot, "NODE", &id_of(to)]);
    }
    assert!(hits(&store, "large"), "the slot is there");
    store.put(&id("large"), &record("small")).unwrap();
    let fresh = RedisStore::at(nodes.target(&prefix));
    assert_eq!(body_of(&fresh, &id("large")), Some(b"small".to_vec()));
    assert!((0..20).all(|n| hits(&store, &n.to_string())));
    assert_eq!(store.remove(&[id("large"), id("1")]).unwrap(), 2);
    let plan = EvictionPlan { max_entries: Some(3), ..evict_plan(later(9)) };
    assert_eq!(store.evict(&plan).unwrap().least_used, 16);
}

/// Names of entries, by the node that has them.
fn by_node(cluster: &Cluster, prefix: &str, count: u64) -> Vec<Vec<String>> {
    let on = |node: &Server| {
        let keys = keys_at(node, &format!("{prefix}:{{global/*}}"));
        let name = |n: u64| n.to_string();
        let there = |n: &String| keys.contains(&format!("{prefix}:{{global/{n}}}"));
        (0..count).map(name).filter(there).collect()
    };
    cluster.nodes.iter().map(on).collect()
}

/// By default the others refuse everything when they notice that one is lost.
fn without_full_coverage() -> Cluster {
    let cluster = Cluster::start(0);
    for node in &cluster.nodes {
        let mut set = redis::cmd("CONFIG");
        set.arg(&["SET", "cluster-require-full-coverage", "no"]);
        set.exec(&mut node.connect()).unwrap();
    }
    cluster
}

#[test]
fn what_a_lost_node_had_is_a_miss_and_the_rest_is_not() {
    let mut cluster = without_full_coverage();
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(cluster.target("p")));
    let soon_store: Arc<dyn Store> =
        Arc::new(RedisStore::at(cluster.target("p").with_timeout(Duration::from_secs(1))));
    for n in 0..30 {
        store.put(&id(&n.to_string()), &record("a")).unwrap();
    }
    let names = by_node(&cluster, "p", 30);
    assert!(names.iter().all(|names| !names.is_empty()), "{names:?}");
    eventually("it is found", || hits(&soon_store, &names[0][0]));
    cluster.nodes.remove(0).kill();
    for store in [&soon_store, &(Arc::new(RedisStore::at(cluster.target("p"))) as Arc<dyn Store>)] {
        for name in names[1].iter().chain(&names[2]) {
            eventually("what is on another node is found", || hits(store, name));
        }
    }
    let reason = miss(&soon_store, &names[0][0]);
    assert!(reason.code() == Some("store_unavailable"), "{reason:?}");
    let error = soon(|| soon_store.put(&id(&names[0][0]), &record("b"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    eventually("it still is", || hits(&soon_store, &names[1][0]));
}

#[test]
fn a_node_that_stands_still_is_a_miss_and_the_rest_is_not() {
    let cluster = without_full_coverage();
    let patient: Arc<dyn Store> = Arc::new(RedisStore::at(cluster.target("p")));
    for n in 0..30 {
        patient.put(&id(&n.to_string()), &record("a")).unwrap();
    }
    let names = by_node(&cluster, "p", 30);
    let target = || cluster.target("p").with_timeout(Duration::from_secs(2));
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(target()));
    eventually("it is found", || hits(&store, &names[1][0]));
    let pid = cluster.nodes[0].pid();
    Server::signal(pid, Signal::STOP);
    let reason = miss(&store, &names[0][0]);
    assert!(reason.code() == Some("store_unavailable"), "{reason:?}");
    eventually("one that knows the cluster hits", || hits(&store, &names[1][0]));
    let newcomer: Arc<dyn Store> = Arc::new(RedisStore::at(target()));
    eventually("one that does not hits too", || hits(&newcomer, &names[1][0]));
    Server::signal(pid, Signal::CONT);
    eventually("all is well", || names.iter().flatten().all(|name| hits(&store, name)));
}

#[test]
fn a_replica_that_takes_over_is_found() {
    let mut cluster = Cluster::start(1);
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(cluster.target("p")));
    for n in 0..30 {
        store.put(&id(&n.to_string()), &record("a")).unwrap();
    }
    let names = by_node(&cluster, "p", 30);
    let quick: Arc<dyn Store> =
        Arc::new(RedisStore::at(cluster.target("p").with_timeout(Duration::from_millis(500))));
    eventually("it is found", || hits(&quick, &names[0][0]));
    let replica = &cluster.replicas[0];
    eventually("the replica has everything", || {
        keys_at(replica, "p:{global/*}").len() == names[0].len()
    });
    cluster.nodes.remove(0).kill();
    let replica = &cluster.replicas[0];
    eventually("the replica takes over", || {
        let role: String =
            redis::cmd("INFO").arg("replication").query(&mut replica.connect()).unwrap();
        role.contains("role:master") && info(replica, "cluster_state") == "ok"
    });
    eventually("it is found", || names.iter().flatten().all(|name| hits(&quick, name)));
    eventually("it is written", || quick.put(&id(&names[0][0]), &record("new")).is_ok());
    assert_eq!(body_of(&*store, &id(&names[0][0])), Some(b"new".to_vec()));
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 30);
}
