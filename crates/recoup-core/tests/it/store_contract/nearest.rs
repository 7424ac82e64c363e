//! Which records are most like one that is not there.

use std::collections::BTreeSet;

use recoup_core::entry::{Draft, RecordedSources};
use recoup_core::key::{KeyPart, Kind, Scope};
use recoup_core::store::{SimilarityProbe, Store};

use super::stores::Factory;
use crate::support::{draft, id, id_in, later, scopes};

/// One shown, one hidden, and so on, with these values.
fn parts(values: &[&str]) -> Vec<KeyPart> {
    let part = |(at, value): (usize, &&str)| {
        let name = format!("part{at}");
        if at % 2 == 0 { KeyPart::shown(&name, value) } else { KeyPart::hidden(&name, value) }
    };
    values.iter().enumerate().map(part).collect()
}

fn put(store: &dyn Store, key: &str, values: &[&str], at: u64) {
    put_in(store, &Scope::global(), Kind::Result, key, values, at);
}

fn put_in(store: &dyn Store, scope: &Scope, kind: Kind, key: &str, values: &[&str], at: u64) {
    let draft = Draft { kind, parts: parts(values), ..draft("body") };
    store
        .put(&id_in(scope, key), &draft.seal(RecordedSources::default(), later(at)).unwrap())
        .unwrap();
}

fn near(store: &dyn Store, values: &[&str], most: usize) -> BTreeSet<String> {
    let parts = parts(values);
    let probe =
        SimilarityProbe { scope: &Scope::global(), kind: Kind::Result, parts: &parts, most };
    let found = store.nearest(&probe).unwrap();
    found
        .into_iter()
        .map(|(id, head)| {
            assert_eq!(store.get(&id).unwrap().unwrap().head, head);
            id.key.to_string()
        })
        .collect()
}

fn named(keys: &[&str]) -> BTreeSet<String> {
    keys.iter().map(|&key| key.to_owned()).collect()
}

pub(super) fn what_has_most_in_common_is_nearest<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert_eq!(near(&*store, &["a", "b", "c"], 8), named(&[]));
    put(&*store, "three", &["a", "b", "c"], 1);
    put(&*store, "two", &["a", "b", "x"], 2);
    put(&*store, "one", &["a", "x", "x"], 3);
    put(&*store, "none", &["x", "x", "x"], 4);
    put(&*store, "shifted", &["b", "c", "a"], 5);
    put(&*store, "bare", &[], 6);
    assert_eq!(near(&*store, &["a", "b", "c"], 1), named(&["three"]));
    assert_eq!(near(&*store, &["a", "b", "c"], 2), named(&["three", "two"]));
    assert_eq!(near(&*store, &["a", "b", "c"], 8), named(&["three", "two", "one"]));
    assert_eq!(near(&*store, &["a", "b", "c", "d"], 1), named(&["three"]));
    // What is replaced is judged by what it is now.
    put(&*store, "three", &["x", "x", "x"], 7);
    assert_eq!(near(&*store, &["a", "b", "c"], 1), named(&["two"]));
    store.remove(&[id("two")]).unwrap();
    assert_eq!(near(&*store, &["a", "b", "c"], 1), named(&["one"]));
}

pub(super) fn other_scopes_and_kinds_are_not_near<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for (at, scope) in scopes().iter().enumerate().skip(1) {
        put_in(&*store, scope, Kind::Result, &format!("scope{at}"), &["a", "b"], 1);
    }
    put_in(&*store, &Scope::global(), Kind::Command, "command", &["a", "b"], 1);
    put(&*store, "here", &["a", "x"], 1);
    assert_eq!(near(&*store, &["a", "b"], 8), named(&["here"]));
}

pub(super) fn of_many_that_are_alike_the_youngest_are_shown<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for at in 0..50u32 {
        put(&*store, &format!("key{at}"), &["a", &at.to_string()], u64::from(at));
    }
    assert_eq!(near(&*store, &["a", "x"], 3), named(&["key47", "key48", "key49"]));
    assert_eq!(near(&*store, &["a", "7"], 1), named(&["key7"]));
}
