//! `lookup_or_compute`: who computes, what is kept, and what an error does.

use std::sync::Arc;
use std::time::Duration;

use recoup_core::cache::{
    Cache, CacheMode, CacheOptions, ComputedResult, FillOutcome, LookupRequest, MissReason,
    ResultOrigin, Ttl,
};
use recoup_core::entry::Draft;
use recoup_core::key::Kind;
use recoup_core::store::ThreadClaims;
use recoup_core::{Error, ErrorKind, Result};

use super::meetings::{InOneProcess, Meeting, assemble};
use super::{Counted, compute, made, nowhere, text};
use crate::support::{Switched, draft, id};

fn failure() -> Error {
    Error::new(ErrorKind::Invalid, "it did not work")
}

fn graceful(body: &str) -> (Draft, Ttl) {
    (Draft { grace: 1_000, ..draft(body.to_owned()) }, Ttl::seconds(1))
}

fn in_mode(cache: &Cache, mode: CacheMode, body: &str) -> Result<ComputedResult> {
    let (id, view) = (id("key"), nowhere());
    let request = LookupRequest { mode, ..LookupRequest::new(Kind::Result, &id, &view) };
    cache.lookup_or_compute(&request, || Ok(made(body)))
}

#[test]
fn the_first_computes_and_the_second_is_served() {
    let cache = InOneProcess::fresh().cache();
    let first = compute(&cache, "key", || Ok(made("answer"))).unwrap();
    assert!(matches!(first.how, ResultOrigin::Computed(Ok(FillOutcome::Stored(_)))), "{first:?}");
    let second = compute(&cache, "key", || unreachable!("it is there")).unwrap();
    assert!(matches!(second.how, ResultOrigin::Hit), "{second:?}");
    assert_eq!((text(&first.body), text(&second.body)), ("answer".into(), "answer".into()));
}

#[test]
fn an_error_is_the_callers_and_nothing_is_kept() {
    let cache = InOneProcess::fresh().cache();
    let error = compute(&cache, "key", || Err(failure())).unwrap_err();
    assert_eq!(error.to_string(), "it did not work");
    let next = compute(&cache, "key", || Ok(made("answer"))).unwrap();
    assert!(matches!(next.how, ResultOrigin::Computed(_)), "nobody has it, and nobody claims it");
}

#[test]
fn what_must_not_be_kept_is_not() {
    let cache = InOneProcess::fresh().cache();
    for body in ["one", "two"] {
        let computed = compute(&cache, "key", || Ok((draft(body), Ttl::Off))).unwrap();
        assert!(
            matches!(computed.how, ResultOrigin::Computed(Ok(FillOutcome::Off))),
            "{computed:?}"
        );
        assert_eq!(text(&computed.body), body);
    }
}

#[test]
fn a_stale_entry_is_made_anew_by_the_one_who_may() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let _ = compute(&cache, "key", || Ok(graceful("old"))).unwrap();
    meeting.clock().advance(Duration::from_millis(1_500));
    let new = compute(&cache, "key", || {
        let other = compute(&cache, "key", || unreachable!("somebody is at it")).unwrap();
        assert!(matches!(other.how, ResultOrigin::Stale(None)), "{other:?}");
        assert_eq!(text(&other.body), "old");
        Ok(made("new"))
    });
    assert_eq!(text(&new.unwrap().body), "new");
    let last = compute(&cache, "key", || unreachable!("it is there")).unwrap();
    assert!(matches!(last.how, ResultOrigin::Hit) && text(&last.body) == "new");
}

#[test]
fn a_stale_entry_stands_in_for_an_error() {
    let meeting = InOneProcess::fresh();
    let cache = meeting.cache();
    let _ = compute(&cache, "key", || Ok(graceful("old"))).unwrap();
    meeting.clock().advance(Duration::from_millis(1_500));
    for _ in 0..2 {
        let served = compute(&cache, "key", || Err(failure())).unwrap();
        let ResultOrigin::Stale(Some(error)) = &served.how else { panic!("{served:?}") };
        assert_eq!((error.to_string().as_str(), &*text(&served.body)), ("it did not work", "old"));
    }
    meeting.clock().advance(Duration::from_millis(500));
    compute(&cache, "key", || Err(failure())).unwrap_err();
}

#[test]
fn a_store_that_fails_takes_nothing_from_the_result() {
    let store = Switched::new("store");
    store.switch_off(true);
    let cache = Cache::new(store, CacheOptions::default());
    let computed = compute(&cache, "key", || Ok(made("answer"))).unwrap();
    assert!(
        matches!(&computed.how, ResultOrigin::Computed(Err(error)) if error.kind() == ErrorKind::Io)
    );
    assert_eq!(text(&computed.body), "answer");
}

#[test]
fn each_mode_does_what_it_says() {
    let cache = InOneProcess::fresh().cache();
    let bypassed = in_mode(&cache, CacheMode::NoStore, "one").unwrap();
    assert!(matches!(bypassed.how, ResultOrigin::Bypassed(MissReason::Absent)), "{bypassed:?}");
    let error = in_mode(&cache, CacheMode::OnlyIfCached, "two").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Usage, "{error}");
    let refreshed = in_mode(&cache, CacheMode::Refresh, "three").unwrap();
    assert!(
        matches!(refreshed.how, ResultOrigin::Computed(Ok(FillOutcome::Stored(_)))),
        "{refreshed:?}"
    );
    let cached = in_mode(&cache, CacheMode::OnlyIfCached, "four").unwrap();
    assert!(matches!(cached.how, ResultOrigin::Hit) && text(&cached.body) == "three");
    let bypassed = in_mode(&cache, CacheMode::Bypass, "five").unwrap();
    assert!(
        matches!(bypassed.how, ResultOrigin::Bypassed(MissReason::Asked))
            && text(&bypassed.body) == "five"
    );
}

#[test]
fn only_who_may_fill_claims() {
    let meeting = InOneProcess::fresh();
    let claims = Counted::over(Arc::new(ThreadClaims::default()));
    let (store, _) = meeting.parts();
    let cache = assemble(store, claims.clone(), meeting.clock(), CacheOptions::default());
    for mode in [CacheMode::NoStore, CacheMode::OnlyIfCached, CacheMode::Bypass] {
        let _ = in_mode(&cache, mode, "a");
    }
    drop(cache.permit(&id("key"), &nowhere(), &[]).unwrap());
    assert_eq!(claims.tries(), 0);
    let _ = in_mode(&cache, CacheMode::Refresh, "b").unwrap();
    assert_eq!(claims.tries(), 1);
    let _ = in_mode(&cache, CacheMode::Use, "c").unwrap();
    assert_eq!(claims.tries(), 1, "a hit claims nothing");
}
