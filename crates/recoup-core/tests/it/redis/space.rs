//! What takes up room on a server: nothing that nobody needs; and what happens
//! when the server itself makes room.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use recoup_core::cache::{MissReason, PeekOutcome};
use recoup_core::entry::{Body, ChunkSource, INLINE_MAX};
use recoup_core::store::{EvictionPlan, RedisStore, ScanFilter, Store};
use recoup_core::{Error, ErrorKind, Result};
use redis::Connection;

use super::proxy::Proxy;
use super::{hits, patient, read};
use crate::redis_server::{Server, fresh_prefix, shared, target};
use crate::support::{draft, evict_plan, id, later, noise, record, record_at, scanned};

const LARGE: usize = 3 * INLINE_MAX;

/// The names that begin so, sorted, without the lists.
fn names(raw: &mut Connection, prefix: &str) -> Vec<String> {
    let keys: Vec<String> = redis::cmd("KEYS").arg(format!("{prefix}:{{*")).query(raw).unwrap();
    let mut names: Vec<String> =
        keys.into_iter().map(|key| key.replacen(&format!("{prefix}:"), "", 1)).collect();
    names.sort();
    names
}

#[test]
fn nothing_is_left_of_large_bodies_that_were_replaced_or_removed() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    let with_full = |seed: u64| {
        let mut draft = draft(noise(LARGE, seed));
        draft.full = Some(Body::from(noise(2 * LARGE, seed)));
        draft.seal(recoup_core::entry::RecordedSources::default(), later(0)).unwrap()
    };
    store.put(&id("a"), &with_full(1)).unwrap();
    let before = names(&mut raw, &prefix);
    assert!(before.len() > 9, "{before:?}");
    store.put(&id("a"), &with_full(2)).unwrap();
    let after = names(&mut raw, &prefix);
    assert_eq!(after.len(), before.len());
    assert!(after.iter().filter(|name| before.contains(name)).eq(["{global/a}"]), "{after:?}");
    assert!(hits(&store, "a"));
    store.put(&id("a"), &record("small")).unwrap();
    assert_eq!(names(&mut raw, &prefix), ["{global/a}"]);
    store.put(&id("a"), &with_full(3)).unwrap();
    assert_eq!(store.remove(&[id("a")]).unwrap(), 1);
    let left: Vec<String> = redis::cmd("KEYS").arg(format!("{prefix}:*")).query(&mut raw).unwrap();
    assert!(left.is_empty(), "lists without members are gone too: {left:?}");
    store.put(&id("b"), &with_full(4)).unwrap();
    let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(later(9)) };
    assert_eq!(store.evict(&plan).unwrap().least_used, 1);
    assert_eq!(names(&mut raw, &prefix), [""; 0]);
}

/// Gives its bytes in full as often as it says, then breaks off.
#[derive(Debug)]
struct BreaksOff(Vec<u8>, AtomicUsize);

impl ChunkSource for BreaksOff {
    fn for_each_chunk(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        visit(&self.0)?;
        let less = |left: usize| left.checked_sub(1);
        match self.1.fetch_update(Ordering::SeqCst, Ordering::SeqCst, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::new(ErrorKind::Io, "the pipe broke")),
        }
    }
}

#[test]
fn frames_of_a_body_that_failed_half_way_go_by_themselves() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    let body = BreaksOff(noise(LARGE, 1), AtomicUsize::new(1));
    let error = store.put(&id("a"), &record(Body::Large(Arc::new(body)))).unwrap_err();
    assert!(error.to_string().contains("the pipe broke"), "{error}");
    let left = names(&mut raw, &prefix);
    assert!(!left.is_empty() && !left.contains(&"{global/a}".to_owned()), "{left:?}");
    for name in left {
        let left: i64 = redis::cmd("TTL").arg(format!("{prefix}:{name}")).query(&mut raw).unwrap();
        assert!((1..=3_600).contains(&left), "{name}: {left}");
    }
}

/// A connection that breaks before the answer comes: everything is sent again.
#[test]
fn what_was_stored_twice_is_whole() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let proxy = Proxy::to(shared().port);
    let url = format!("redis://127.0.0.1:{}/?prefix={prefix}&timeout=30s", proxy.port);
    let store: Arc<dyn Store> = Arc::new(RedisStore::at(target(&url)));
    store.put(&id("a"), &record(noise(LARGE, 1))).unwrap();
    let stored = store.get(&id("a")).unwrap().unwrap();
    store.put(&id("a"), &stored).unwrap();
    assert!(hits(&store, "a"), "over itself");
    proxy.cut_the_answer_to("EVAL");
    store.put(&id("a"), &record(noise(LARGE, 2))).unwrap();
    assert!(proxy.has_cut() && hits(&store, "a"));
    assert_eq!(names(&mut raw, &prefix).len(), 4, "nothing of the first");
    proxy.cut_the_answer_to("EVAL");
    store.remove(&[id("a")]).unwrap();
    assert!(proxy.has_cut() && names(&mut raw, &prefix).is_empty());
}

/// A run of frames in a damaged record may claim any number of them.
#[test]
fn a_record_with_impossible_frames_can_be_replaced_and_removed() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    for frames in ["x:99999999999999999999", "x:1e300", ":5", "x", "", "x:-1"] {
        for replace in [true, false] {
            store.put(&id("a"), &record(noise(LARGE, 1))).unwrap();
            let name = format!("{prefix}:{{global/a}}");
            redis::cmd("HSET").arg(name).arg("frames").arg(frames).exec(&mut raw).unwrap();
            assert!(
                matches!(read(&store, "a"), PeekOutcome::Miss(MissReason::Corrupt(_))),
                "{frames}"
            );
            if replace {
                store.put(&id("a"), &record("new")).unwrap();
                assert!(hits(&store, "a"));
            }
            assert_eq!(store.remove(&[id("a")]).unwrap(), 1);
        }
    }
}

#[test]
fn what_the_server_drops_is_a_miss() {
    let server = Server::start_with(&["--maxmemory", "12mb", "--maxmemory-policy", "allkeys-lru"]);
    let store = patient(&server, "p");
    for n in 0..400 {
        store.put(&id(&n.to_string()), &record_at(later(n), noise(50_000, n))).unwrap();
    }
    let there = scanned(&*store, &ScanFilter::default());
    assert!((1..300).contains(&there.len()), "{there:?}");
    let mut found = 0;
    for n in 0..400 {
        match read(&store, &n.to_string()) {
            PeekOutcome::Hit(_) => found += 1,
            PeekOutcome::Miss(MissReason::Absent) => {}
            other => panic!("{n}: {other:?}"),
        }
    }
    assert!((1..=there.len()).contains(&found), "{found} of {}", there.len());
    let plan = EvictionPlan { max_entries: Some(10), ..evict_plan(later(1_000)) };
    store.evict(&plan).unwrap();
    let listed: u64 =
        redis::cmd("ZCARD").arg("p:used:{global}:result").query(&mut server.connect()).unwrap();
    assert!(listed <= 10, "{listed}");
}

#[test]
fn what_the_server_dropped_goes_from_the_lists_first() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    for n in 0..10 {
        store.put(&id(&n.to_string()), &record_at(later(n), "a")).unwrap();
    }
    for n in 0..5 {
        redis::cmd("DEL").arg(format!("{prefix}:{{global/{n}}}")).exec(&mut raw).unwrap();
    }
    let plan = EvictionPlan { max_entries: Some(3), ..evict_plan(later(1_000)) };
    assert_eq!(store.evict(&plan).unwrap().least_used, 2, "the others were gone");
    assert_eq!(scanned(&*store, &ScanFilter::default()), ["7", "8", "9"].map(id));
}

#[test]
fn the_server_may_drop_the_lists() {
    let (prefix, mut raw) = (fresh_prefix(), shared().connect());
    let store = patient(shared(), &prefix);
    for n in 0..5 {
        let mut draft = draft("a");
        draft.ttl = Some(50);
        let record = draft.seal(recoup_core::entry::RecordedSources::default(), later(n)).unwrap();
        store.put(&id(&n.to_string()), &record).unwrap();
    }
    for list in ["used:{global}:result", "dead", "tally:{global}", "folded:{global}"] {
        redis::cmd("DEL").arg(format!("{prefix}:{list}")).exec(&mut raw).unwrap();
    }
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 5);
    let plan = EvictionPlan { max_entries: Some(2), ..evict_plan(later(1_000)) };
    assert_eq!(store.evict(&plan).unwrap().least_used, 0, "nobody knows of them");
    assert_eq!(store.remove(&[id("0")]).unwrap(), 1);
    store.put(&id("1"), &record("known again")).unwrap();
    let plan = EvictionPlan { max_entries: Some(0), ..evict_plan(later(1_000)) };
    assert_eq!(store.evict(&plan).unwrap().least_used, 1);
    assert_eq!(scanned(&*store, &ScanFilter::default()), ["2", "3", "4"].map(id));
}
