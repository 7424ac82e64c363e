//! How far a caller wants the cache to be used, on one look-up.

use recoup_core::cache::{CacheMode, FillOutcome, LookupRequest, MissReason, Outcome};
use recoup_core::entry::Draft;
use recoup_core::key::Kind;

use super::{Scene, second, text};
use crate::support::{draft, id};

impl Scene {
    fn lookup_in(&self, mode: CacheMode, key: &str) -> Outcome {
        let (id, view) = (id(key), self.view());
        let request = LookupRequest { mode, ..LookupRequest::new(Kind::Result, &id, &view) };
        self.cache.lookup(&request).unwrap()
    }
}

#[test]
fn refresh_passes_over_what_is_there_and_replaces_it() {
    let scene = Scene::new();
    scene.fill("a", "old", second(), &[]);
    let Outcome::Miss(permit, MissReason::Asked) = scene.lookup_in(CacheMode::Refresh, "a") else {
        panic!("no permit")
    };
    assert!(matches!(permit.fill(draft("new"), second()).unwrap(), FillOutcome::Stored(_)));
    let Outcome::Hit(entry) = scene.lookup("a") else { panic!("no hit") };
    assert_eq!(text(&entry), "new");
}

#[test]
fn no_store_takes_what_is_there_and_gives_no_permit() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    assert!(matches!(scene.lookup_in(CacheMode::NoStore, "a"), Outcome::Hit(_)));
    assert!(matches!(
        scene.lookup_in(CacheMode::NoStore, "b"),
        Outcome::Bypass(MissReason::Absent)
    ));
}

#[test]
fn only_if_cached_says_why_there_is_nothing() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    assert!(matches!(scene.lookup_in(CacheMode::OnlyIfCached, "a"), Outcome::Hit(_)));
    scene.pass(1_000);
    let outcome = scene.lookup_in(CacheMode::OnlyIfCached, "a");
    assert!(matches!(outcome, Outcome::Bypass(MissReason::Expired { .. })), "{outcome:?}");
}

#[test]
fn a_stale_entry_comes_without_a_permit_where_nothing_may_be_stored() {
    let scene = Scene::new();
    let graceful = Draft { grace: 500, ..draft("old") };
    let _ = scene.permit(&id("a"), &[]).fill(graceful, second()).unwrap();
    scene.pass(1_000);
    for mode in [CacheMode::NoStore, CacheMode::OnlyIfCached] {
        assert!(matches!(scene.lookup_in(mode, "a"), Outcome::Stale(_, None)), "{mode:?}");
    }
}

#[test]
fn bypass_does_not_even_look() {
    let scene = Scene::new();
    scene.fill("a", "body", second(), &[]);
    assert!(matches!(scene.lookup_in(CacheMode::Bypass, "a"), Outcome::Bypass(MissReason::Asked)));
}
