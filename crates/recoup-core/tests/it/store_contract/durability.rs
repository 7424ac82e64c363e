//! Stores whose records outlive them: another one over the same medium, as the
//! next process would open it, finds everything.

use std::sync::Barrier;
use std::thread;

use recoup_core::entry::INLINE_MAX;
use recoup_core::store::ScanFilter;

use super::stores::Durable;
use crate::support::Touch as _;
use crate::support::{
    START, body_of, id, id_in, later, noise_text, record, rich_draft, rich_sources, scanned, scopes,
};

pub(super) fn everything_is_there_after_reopening<D: Durable>() {
    let factory = D::fresh();
    let store = factory.store();
    let bodies = [String::new(), "text".to_owned(), noise_text(2 * INLINE_MAX + 1, 1)];
    let mut ids = Vec::new();
    for scope in scopes() {
        for (n, body) in bodies.iter().enumerate() {
            let id = id_in(&scope, &n.to_string());
            let record = rich_draft(body.clone()).seal(rich_sources(), START).unwrap();
            store.put(&id, &record).unwrap();
            store.touch(&[(id.clone(), later(7))]).unwrap();
            ids.push((id, record.head, body.clone()));
        }
    }
    drop(store);
    let reopened = factory.reopen();
    assert!(reopened.info().durable);
    for (id, mut head, body) in ids {
        (head.hits, head.last_used) = (1, later(7));
        assert_eq!(reopened.get(&id).unwrap().unwrap().head, head);
        assert_eq!(body_of(&*reopened, &id), Some(body.into_bytes()));
    }
}

pub(super) fn a_removal_is_still_done_after_reopening<D: Durable>() {
    let factory = D::fresh();
    let store = factory.store();
    for key in ["a", "b"] {
        store.put(&id(key), &record("x")).unwrap();
    }
    store.remove(&[id("a")]).unwrap();
    let reopened = factory.reopen();
    assert!(reopened.get(&id("a")).unwrap().is_none());
    assert_eq!(scanned(&*reopened, &ScanFilter::default()), [id("b")]);
}

pub(super) fn two_open_stores_see_each_others_writes<D: Durable>() {
    let factory = D::fresh();
    let (one, two) = (factory.store(), factory.reopen());
    assert!(two.get(&id("a")).unwrap().is_none());
    one.put(&id("a"), &record("from one")).unwrap();
    assert_eq!(body_of(&*two, &id("a")), Some(b"from one".to_vec()));
    two.put(&id("b"), &record("from two")).unwrap();
    assert_eq!(body_of(&*one, &id("b")), Some(b"from two".to_vec()));
    assert_eq!(scanned(&*one, &ScanFilter::default()), ["a", "b"].map(id));
}

/// Whoever comes while another is still making the store waits for it, and
/// whoever only reads finds nothing: neither is an error.
pub(super) fn the_first_of_many_openers_all_succeed<D: Durable>() {
    for _ in 0..15 {
        let factory = D::fresh();
        let start = Barrier::new(8);
        thread::scope(|scope| {
            for n in 0..8 {
                let (store, start) = (factory.reopen(), &start);
                scope.spawn(move || {
                    start.wait();
                    store.get(&id("nothing")).unwrap();
                    store.put(&id(&n.to_string()), &record("a")).unwrap();
                });
            }
        });
        assert_eq!(scanned(&*factory.store(), &ScanFilter::default()).len(), 8);
    }
}
