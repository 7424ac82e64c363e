//! Scans: the heads of what a filter lets through, each once, for as long as
//! the visitor wants more.

use std::collections::BTreeSet;

use recoup_core::base::clock::Timestamp;
use recoup_core::cache::EntrySelection;
use recoup_core::entry::{Draft, EntryHead, RecordedSources};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{ScanFilter, ScanFlow};

use super::stores::Factory;
use crate::support::Touch as _;
use crate::support::{
    START, draft, id, id_in, later, record, rich_draft, rich_sources, scanned, scopes,
};

pub(super) fn a_scan_filters_by_scope_and_kind<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let mut all = Vec::new();
    for scope in scopes() {
        for (key, kind) in [("a", Kind::Result), ("b", Kind::AgentRun), ("c", Kind::Result)] {
            let mut draft = draft("body");
            draft.kind = kind;
            let id = id_in(&scope, key);
            store.put(&id, &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
            all.push((id, kind));
        }
    }
    let scope_choices = scopes().map(Some).into_iter().chain([None]);
    for scope in scope_choices {
        for kind in [None, Some(Kind::Result), Some(Kind::AgentRun)] {
            let wanted = |(id, its): &&(EntryId, Kind)| {
                scope.as_ref().is_none_or(|scope| *scope == id.scope)
                    && kind.is_none_or(|kind| kind == *its)
            };
            let mut expected: Vec<EntryId> =
                all.iter().filter(wanted).map(|(id, _)| id.clone()).collect();
            expected.sort();
            assert!(!expected.is_empty());
            let filter = ScanFilter { scope: scope.clone(), kind, ..ScanFilter::default() };
            assert_eq!(scanned(&*store, &filter), expected, "{filter:?}");
        }
    }
}

pub(super) fn the_newest_come_first_and_no_more_than_asked_for<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for n in [3, 0, 4, 1, 2] {
        let sealed = draft("body").seal(RecordedSources::default(), later(n * 1_000)).unwrap();
        store.put(&id(&format!("k{n}")), &sealed).unwrap();
    }
    store.put(&id_in(&scopes()[1], "other"), &record("other")).unwrap();
    for (most, expected) in [(2, 2), (5, 5), (usize::MAX, 5), (0, 0)] {
        let filter = ScanFilter { newest: Some(most), ..ScanFilter::of_scope(&id("k0").scope) };
        let mut seen: Vec<Timestamp> = Vec::new();
        let visit = &mut |_: &EntryId, head: recoup_core::Result<&EntryHead>| {
            seen.push(head.unwrap().stored_at);
            ScanFlow::Continue(())
        };
        store.scan(&filter, visit).unwrap();
        assert_eq!(seen.len(), expected);
        assert!(seen.is_sorted_by(|a, b| a >= b), "{seen:?}");
    }
}

pub(super) fn a_scan_filters_by_key_use_and_marks<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for (key, tag) in [("abc", "x"), ("abd", "y"), ("b", "x")] {
        let draft = Draft { tags: vec![tag.to_owned()], ..draft("body") };
        store.put(&id(key), &draft.seal(RecordedSources::default(), START).unwrap()).unwrap();
    }
    store.touch(&[(id("abd"), later(3))]).unwrap();
    let keys = |filter: ScanFilter| {
        let ids = scanned(&*store, &filter).into_iter();
        ids.map(|id| id.key.to_string()).collect::<Vec<_>>()
    };
    let all = ScanFilter::of_scope(&id("b").scope);
    let prefixed = |prefix: &str| ScanFilter { key_prefix: Some(prefix.to_owned()), ..all.clone() };
    assert_eq!(keys(prefixed("ab")), ["abc", "abd"]);
    assert_eq!(keys(prefixed("abd")), ["abd"]);
    assert!(keys(prefixed("c")).is_empty());
    assert_eq!(keys(ScanFilter { served: true, ..all.clone() }), ["abd"]);
    let selection = EntrySelection::from_criteria(None, Some("x"), None).unwrap();
    assert_eq!(keys(ScanFilter { selection: selection.clone(), ..all.clone() }), ["abc", "b"]);
    assert_eq!(keys(ScanFilter { selection, newest: Some(9), ..prefixed("ab") }), ["abc"]);
}

pub(super) fn a_scan_stops_when_told<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for n in 0..10 {
        store.put(&id(&format!("k{n}")), &record("a")).unwrap();
    }
    let mut seen = 0;
    let visit = &mut |_: &EntryId, _: recoup_core::Result<&_>| {
        seen += 1;
        if seen == 4 { ScanFlow::Break(()) } else { ScanFlow::Continue(()) }
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    assert_eq!(seen, 4);
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 10, "the next one starts over");
}

pub(super) fn a_scan_of_ten_thousand_shows_each_once<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let scopes = scopes();
    let ids: Vec<EntryId> =
        (0..10_000).map(|n| id_in(&scopes[usize::from(n % 5 == 0)], &format!("key-{n}"))).collect();
    store.put(&ids[0], &record("a")).unwrap();
    factory.multiply(&ids[0], &ids[1..]);
    let mut seen = BTreeSet::new();
    let visit = &mut |id: &EntryId, head: recoup_core::Result<&_>| {
        head.unwrap();
        assert!(seen.insert(id.clone()), "{id} was shown twice");
        ScanFlow::Continue(())
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    assert_eq!(seen, ids.iter().cloned().collect());
    let filter = ScanFilter::of_scope(&scopes[1]);
    assert_eq!(scanned(&*store, &filter).len(), 2_000);
}

pub(super) fn a_scan_shows_the_heads_as_stored<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let rich = rich_draft("body").seal(rich_sources(), START).unwrap();
    store.put(&id("key"), &rich).unwrap();
    store.touch(&[(id("key"), later(3))]).unwrap();
    let mut expected = rich.head.clone();
    (expected.hits, expected.last_used) = (1, later(3));
    let mut heads = Vec::new();
    let visit = &mut |_: &EntryId, head: recoup_core::Result<&_>| {
        heads.push(head.cloned().unwrap());
        ScanFlow::Continue(())
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    assert_eq!(heads, [expected]);
}

/// Listing and then removing, fetching or adding is what callers do with it.
pub(super) fn a_scan_lets_the_visitor_use_the_store<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for key in ["a", "b", "c"] {
        store.put(&id(key), &record(key.to_owned())).unwrap();
    }
    let visit = &mut |shown: &EntryId, _: recoup_core::Result<&_>| {
        if let Some(found) = store.get(shown).unwrap() {
            assert!(found.open().is_ok());
            store.remove(std::slice::from_ref(shown)).unwrap();
        }
        ScanFlow::Continue(())
    };
    store.scan(&ScanFilter::default(), visit).unwrap();
    assert_eq!(scanned(&*store, &ScanFilter::default()), []);
}

pub(super) fn an_empty_store_has_nothing_to_show<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert_eq!(scanned(&*store, &ScanFilter::default()), [], "before the first write");
    store.put(&id("a"), &record("a")).unwrap();
    store.remove(&[id("a")]).unwrap();
    assert_eq!(scanned(&*store, &ScanFilter::default()), []);
}
