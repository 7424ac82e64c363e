//! When the work for an entry began: what began later is not overwritten, and a
//! reader's limit on the age counts from there.

use recoup_core::cache::{
    CacheMode, FillOutcome, FillRefusal, LookupRequest, MissReason, Outcome, PeekOutcome, Permit,
};
use recoup_core::key::Kind;

use super::{Scene, second, text};
use crate::support::{draft, id};

impl Scene {
    fn work(&self, mode: CacheMode) -> Permit {
        let (id, view) = (id("a"), self.view());
        let request = LookupRequest { mode, ..LookupRequest::new(Kind::Result, &id, &view) };
        let Outcome::Miss(permit, _) = self.cache.lookup(&request).unwrap() else { panic!() };
        permit
    }

    fn body(&self) -> String {
        let Outcome::Hit(entry) = self.lookup("a") else { panic!("no hit") };
        text(&entry)
    }
}

#[test]
fn work_that_began_earlier_and_took_longer_does_not_replace_what_began_later() {
    let scene = Scene::new();
    let slow = scene.work(CacheMode::Use);
    scene.pass(10);
    let refreshing = scene.work(CacheMode::Refresh);
    scene.pass(10);
    assert!(matches!(refreshing.fill(draft("new"), second()).unwrap(), FillOutcome::Stored(_)));
    scene.pass(10);
    let filled = slow.fill(draft("old"), second()).unwrap();
    assert!(matches!(filled, FillOutcome::Refused(FillRefusal::Overtaken)), "{filled:?}");
    assert_eq!(scene.body(), "new");
}

#[test]
fn work_that_began_later_replaces_what_is_there() {
    let scene = Scene::new();
    let slow = scene.work(CacheMode::Use);
    scene.pass(10);
    let refreshing = scene.work(CacheMode::Refresh);
    assert!(matches!(slow.fill(draft("old"), second()).unwrap(), FillOutcome::Stored(_)));
    assert!(matches!(refreshing.fill(draft("new"), second()).unwrap(), FillOutcome::Stored(_)));
    assert_eq!(scene.body(), "new");
}

#[test]
fn what_began_later_and_is_dead_is_replaced() {
    let scene = Scene::new();
    let slow = scene.work(CacheMode::Use);
    scene.pass(10);
    assert!(matches!(
        scene.work(CacheMode::Refresh).fill(draft("new"), second()).unwrap(),
        FillOutcome::Stored(_)
    ));
    scene.pass(2_000);
    assert!(matches!(slow.fill(draft("old"), second()).unwrap(), FillOutcome::Stored(_)));
    assert_eq!(scene.body(), "old");
}

/// A `set` is somebody's word, not the end of work that was begun here.
#[test]
fn what_is_set_replaces_whatever_is_there() {
    let scene = Scene::new();
    let permit = scene.permit(&id("a"), &[]);
    scene.pass(10);
    assert!(matches!(
        scene.work(CacheMode::Use).fill(draft("new"), second()).unwrap(),
        FillOutcome::Stored(_)
    ));
    assert!(matches!(permit.fill(draft("set"), second()).unwrap(), FillOutcome::Stored(_)));
    assert_eq!(scene.body(), "set");
}

#[test]
fn a_limit_on_the_age_counts_from_the_beginning_of_the_work_and_a_ttl_from_its_end() {
    let scene = Scene::new();
    let permit = scene.work(CacheMode::Use);
    scene.pass(600);
    assert!(matches!(permit.fill(draft("body"), second()).unwrap(), FillOutcome::Stored(_)));
    scene.pass(100);
    let (id, view) = (id("a"), scene.view());
    let plain = LookupRequest::new(Kind::Result, &id, &view);
    let peek = |request: &LookupRequest<'_>| scene.cache.peek(request);
    assert!(matches!(
        peek(&LookupRequest { max_age: Some(700), ..plain.clone() }),
        PeekOutcome::Hit(_)
    ));
    assert!(matches!(
        peek(&LookupRequest { max_age: Some(699), ..plain.clone() }),
        PeekOutcome::Miss(MissReason::Expired { age: 700, limit: 699 })
    ));
    assert!(matches!(
        peek(&LookupRequest { ttl: Some(101), ..plain.clone() }),
        PeekOutcome::Hit(_)
    ));
    assert!(matches!(
        peek(&LookupRequest { ttl: Some(100), ..plain.clone() }),
        PeekOutcome::Miss(MissReason::Expired { age: 100, limit: 100 })
    ));
    assert!(matches!(peek(&LookupRequest { ttl: Some(u64::MAX), ..plain }), PeekOutcome::Hit(_)));
}
