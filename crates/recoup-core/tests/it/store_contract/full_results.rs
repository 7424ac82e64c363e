//! Full results: kept beside their record, counted with it, and gone with the
//! last record that has them.

use recoup_core::base::clock::Timestamp;
use recoup_core::entry::{Body, EntryRecord, INLINE_MAX, RecordedSources};
use recoup_core::key::{EntryId, Scope};
use recoup_core::store::{EvictionPlan, ScanFilter, Store};

use super::stores::Factory;
use crate::support::{
    START, draft, evict_plan, id, id_in, later, noise_text, record, scanned, scopes,
};

fn with_full_at(now: Timestamp, full: &str) -> EntryRecord {
    let mut draft = draft("short");
    draft.full = Some(Body::from(full.to_owned()));
    draft.seal(RecordedSources::default(), now).unwrap()
}

fn with_full(full: &str) -> EntryRecord {
    with_full_at(START, full)
}

/// The plain bytes of a full result; `None` when there is none.
fn full_of(store: &dyn Store, id: &EntryId) -> Option<Vec<u8>> {
    let payload = store.full_payload(id).unwrap()?;
    let info = store.get(id).unwrap()?.head.header.full.expect("the header names it");
    Some(payload.open(&info).unwrap().to_bytes().unwrap().to_vec())
}

fn bytes(store: &dyn Store) -> u64 {
    store.usage(&Scope::global()).unwrap().bytes
}

fn small_and_large() -> [String; 2] {
    [noise_text(5_000, 1), noise_text(2 * INLINE_MAX + 7, 2)]
}

pub(super) fn full_results_of_every_size_come_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert!(store.full_payload(&id("a")).unwrap().is_none(), "before the first write");
    for len in [0, 1, 5_000, INLINE_MAX, INLINE_MAX + 1, 3 * INLINE_MAX + 5] {
        let full = noise_text(len, 3);
        store.put(&id("a"), &with_full(&full)).unwrap();
        assert!(full_of(&*store, &id("a")) == Some(full.into_bytes()), "{len} bytes");
    }
    store.put(&id("b"), &record("has none")).unwrap();
    assert!(full_of(&*store, &id("b")).is_none());
    assert!(full_of(&*store, &id("missing")).is_none());
}

pub(super) fn a_shared_full_result_goes_with_the_last_that_has_it<F: Factory>() {
    for full in small_and_large() {
        let factory = F::fresh();
        let store = factory.store();
        for key in ["a", "b"] {
            store.put(&id(key), &with_full(&full)).unwrap();
        }
        store.remove(&[id("a")]).unwrap();
        assert!(full_of(&*store, &id("a")).is_none());
        assert!(full_of(&*store, &id("b")) == Some(full.clone().into_bytes()));
        store.remove(&[id("b")]).unwrap();
        assert!(full_of(&*store, &id("b")).is_none());
        assert_eq!(bytes(&*store), 0);
    }
}

pub(super) fn overwriting_replaces_the_full_result<F: Factory>() {
    for full in small_and_large() {
        let factory = F::fresh();
        let store = factory.store();
        store.put(&id("a"), &record("short")).unwrap();
        let without = bytes(&*store);
        store.put(&id("a"), &with_full(&full)).unwrap();
        assert!(bytes(&*store) > without + 3_000, "it counts");
        store.put(&id("a"), &with_full("another")).unwrap();
        assert_eq!(full_of(&*store, &id("a")), Some(b"another".to_vec()));
        store.put(&id("a"), &record("short")).unwrap();
        assert!(full_of(&*store, &id("a")).is_none());
        assert_eq!(bytes(&*store), without, "nothing of it is left");
    }
}

pub(super) fn storing_the_same_again_keeps_the_full_result<F: Factory>() {
    for full in small_and_large() {
        let factory = F::fresh();
        let store = factory.store();
        store.put(&id("a"), &with_full(&full)).unwrap();
        let once = bytes(&*store);
        store.put(&id("a"), &with_full(&full)).unwrap();
        assert!(full_of(&*store, &id("a")) == Some(full.into_bytes()));
        assert_eq!(bytes(&*store), once);
    }
}

pub(super) fn full_results_count_for_limits_and_go_by_eviction<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for n in 0..4 {
        let record = with_full_at(later(n), &noise_text(10_000, n));
        store.put(&id(&n.to_string()), &record).unwrap();
    }
    let plan = EvictionPlan { max_bytes: Some(23_000), ..evict_plan(later(100)) };
    let evicted = store.evict(&plan).unwrap();
    assert_eq!((evicted.expired, evicted.least_used), (0, 2));
    assert!(evicted.bytes > 2 * 8_000, "{evicted:?}");
    assert_eq!(scanned(&*store, &ScanFilter::default()), ["2", "3"].map(id));
    assert!(full_of(&*store, &id("0")).is_none());
    assert!(full_of(&*store, &id("3")) == Some(noise_text(10_000, 3).into_bytes()));
    store.evict(&EvictionPlan { max_entries: Some(0), ..plan }).unwrap();
    assert_eq!(bytes(&*store), 0);
}

pub(super) fn full_results_go_with_the_dead<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let mut draft = draft("short");
    (draft.full, draft.ttl) = (Some(Body::from(noise_text(INLINE_MAX + 1, 1))), Some(10));
    store.put(&id("a"), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    assert_eq!(store.evict(&evict_plan(later(10))).unwrap().expired, 1);
    assert!(full_of(&*store, &id("a")).is_none());
    assert_eq!(bytes(&*store), 0);
}

pub(super) fn full_results_are_not_shared_across_scopes<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let full = noise_text(10_000, 1);
    let ids = scopes().map(|scope| id_in(&scope, "key"));
    for id in &ids {
        store.put(id, &with_full(&full)).unwrap();
        assert!(store.usage(&id.scope).unwrap().bytes > 8_000, "each scope pays for its own");
    }
    store.remove(&ids[..3]).unwrap();
    assert!(full_of(&*store, &ids[3]) == Some(full.into_bytes()));
    for id in &ids[..3] {
        assert_eq!(store.usage(&id.scope).unwrap().bytes, 0);
    }
}

/// Where a store keeps it once for all, it also counts it once.
pub(super) fn a_shared_full_result_is_counted_once<F: Factory>() {
    for full in small_and_large() {
        let factory = F::fresh();
        let store = factory.store();
        store.put(&id("a"), &with_full(&full)).unwrap();
        let one = bytes(&*store);
        for key in ["b", "c"] {
            store.put(&id(key), &with_full(&full)).unwrap();
        }
        assert!(bytes(&*store) < one + 2_000, "{one}, then {}", bytes(&*store));
        store.remove(&[id("a"), id("b")]).unwrap();
        assert_eq!(bytes(&*store), one);
    }
}
