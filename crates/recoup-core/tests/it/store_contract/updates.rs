//! Overwriting, removing and touching: what changes, what stays, and what the
//! store says about it.

use recoup_core::entry::{INLINE_MAX, RecordedSources};
use recoup_core::store::ScanFilter;

use super::stores::Factory;
use crate::support::Touch as _;
use crate::support::{
    START, body_of, id, id_in, later, noise_text, record, record_at, rich_draft, rich_sources,
    scanned, scopes,
};

pub(super) fn overwriting_replaces_everything<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let rich = rich_draft("rich").seal(rich_sources(), START).unwrap();
    store.put(&id("key"), &rich).unwrap();
    store.touch(&[(id("key"), later(9))]).unwrap();
    let plain = record_at(later(1), "plain");
    store.put(&id("key"), &plain).unwrap();
    let found = store.get(&id("key")).unwrap().unwrap();
    assert_eq!(found.head.header, plain.head.header, "kind, sources, tags: all of it");
    assert_eq!((found.head.hits, found.head.last_used), (0, later(1)));
    assert_eq!(body_of(&*store, &id("key")), Some(b"plain".to_vec()));
    assert_eq!(scanned(&*store, &ScanFilter::default()), [id("key")]);
}

pub(super) fn large_and_small_bodies_replace_each_other<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for (round, len) in [3, INLINE_MAX * 2, INLINE_MAX + 1, 3, INLINE_MAX, 0].iter().enumerate() {
        let text = noise_text(*len, round as u64);
        store.put(&id("key"), &record(text.clone())).unwrap();
        assert_eq!(body_of(&*store, &id("key")), Some(text.into_bytes()), "round {round}");
    }
}

pub(super) fn removing_counts_what_was_there<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for key in ["a", "b", "c"] {
        store.put(&id(key), &record("x".repeat(INLINE_MAX + 1))).unwrap();
    }
    assert_eq!(store.remove(&[id("a"), id("missing"), id("b"), id("a")]).unwrap(), 2);
    assert_eq!(scanned(&*store, &ScanFilter::default()), [id("c")]);
    assert_eq!(store.remove(&[]).unwrap(), 0);
    assert_eq!(store.remove(&[id("c")]).unwrap(), 1);
    assert!(store.get(&id("c")).unwrap().is_none());
}

pub(super) fn removing_what_is_absent_is_no_error<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert_eq!(store.remove(&[id("a")]).unwrap(), 0, "before the first write");
    store.put(&id("b"), &record("b")).unwrap();
    assert_eq!(store.remove(&[id("a")]).unwrap(), 0);
    assert_eq!(scanned(&*store, &ScanFilter::default()), [id("b")]);
}

pub(super) fn touching_changes_hits_and_last_use_alone<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for body in ["small".to_owned(), noise_text(INLINE_MAX + 77, 5)] {
        let stored = rich_draft(body.clone()).seal(rich_sources(), START).unwrap();
        store.put(&id("key"), &stored).unwrap();
        store.put(&id("other"), &stored).unwrap();
        store.touch(&[(id("key"), later(10)), (id("key"), later(30))]).unwrap();
        store.touch(&[(id("key"), later(40))]).unwrap();
        let mut expected = stored.head.clone();
        (expected.hits, expected.last_used) = (3, later(40));
        assert_eq!(store.get(&id("key")).unwrap().unwrap().head, expected);
        assert_eq!(store.get(&id("other")).unwrap().unwrap().head, stored.head);
        assert_eq!(body_of(&*store, &id("key")), Some(body.into_bytes()));
    }
}

pub(super) fn last_use_never_moves_back<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record_at(later(100), "a")).unwrap();
    store.touch(&[(id("key"), START)]).unwrap();
    let head = store.get(&id("key")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used), (1, later(100)));
}

pub(super) fn touching_what_is_absent_creates_nothing<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.touch(&[(id("key"), START)]).unwrap();
    assert!(store.get(&id("key")).unwrap().is_none(), "before the first write");
    store.put(&id("other"), &record("a")).unwrap();
    store.touch(&[(id("key"), START), (id("other"), later(1))]).unwrap();
    assert_eq!(scanned(&*store, &ScanFilter::default()), [id("other")]);
    assert_eq!(store.get(&id("other")).unwrap().unwrap().head.hits, 1);
}

pub(super) fn the_same_key_in_four_scopes_is_four_entries<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let ids = scopes().map(|scope| id_in(&scope, "key"));
    for id in &ids {
        store.put(id, &record(id.to_string())).unwrap();
    }
    for id in &ids {
        assert_eq!(body_of(&*store, id), Some(id.to_string().into_bytes()));
    }
    store.touch(&[(ids[1].clone(), later(1))]).unwrap();
    assert_eq!(store.remove(&ids[..1]).unwrap(), 1);
    let hits = ids.each_ref().map(|id| store.get(id).unwrap().map(|record| record.head.hits));
    assert_eq!(hits, [None, Some(1), Some(0), Some(0)]);
    let rest = rich_draft("again").seal(RecordedSources::default(), START).unwrap();
    store.put(&ids[2], &rest).unwrap();
    assert_eq!(body_of(&*store, &ids[3]), Some(ids[3].to_string().into_bytes()));
}

pub(super) fn clearing_removes_one_scope_and_names_what_went<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let scopes = scopes();
    for n in 0..20 {
        store
            .put(&id_in(&scopes[usize::from(n % 4 == 0)], &format!("k{n}")), &record("a"))
            .unwrap();
    }
    let mut named = std::collections::BTreeSet::new();
    let removed = store.clear(&scopes[0], &mut |id, _| named.extend([id])).unwrap();
    assert_eq!((removed, named.len()), (15, 15));
    assert!(named.iter().all(|id| id.scope == scopes[0]));
    assert_eq!(store.usage(&scopes[0]).unwrap().entries, 0);
    assert_eq!(store.usage(&scopes[1]).unwrap().entries, 5);
    assert_eq!(store.clear(&scopes[0], &mut |_, _| {}).unwrap(), 0);
}
