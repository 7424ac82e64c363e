//! What happens is noted with its reason: in the ledger, and hits in their log.

use std::fs;
use std::sync::Arc;

use recoup_core::cache::{
    CacheLimits, CacheOptions, CacheParts, EntrySelection, FillOutcome, LookupRequest, Outcome, Ttl,
};
use recoup_core::entry::{
    EntryEvent, EntryEventKind, EventDetail, EventReason, ProducerIdentity, ProductionCost,
};
use recoup_core::key::{Kind, Scope};
use recoup_core::ledger::{AppendMode, HitLog, Ledger};
use recoup_core::store::{InMemoryStore, ThreadClaims};

use super::{Cache, Scene, second};
use crate::support::{draft, id, noise_text};

/// A scene whose cache notes what happens.
fn scene(max_entries: Option<u64>, max_bytes: Option<u64>) -> (Scene, Ledger) {
    let store = Arc::new(InMemoryStore::with_capacity(64 << 20));
    let options =
        CacheOptions { limits: CacheLimits { max_entries, max_bytes }, ..CacheOptions::default() };
    let scene = Scene::with(store.clone(), options);
    let hits = Some(HitLog::in_dir(scene.path("logs")));
    let ledger = Ledger::open(scene.path("ledger"), hits, AppendMode::AtOnce);
    let clock = Arc::new(scene.clock.clone());
    let claims = Arc::new(ThreadClaims::default());
    let noting = Some(ledger.clone());
    let cache = Cache::from_parts(CacheParts { store, clock, ledger: noting, claims, options });
    (Scene { cache, ..scene }, ledger)
}

/// What became of `key`, in words, the latest first.
fn story(ledger: &Ledger, key: &str) -> Vec<String> {
    ledger.history(&id(key)).unwrap().iter().map(ToString::to_string).collect()
}

fn noted(ledger: &Ledger) -> Vec<EntryEvent> {
    let mut events = Vec::new();
    ledger
        .fold(|batch| {
            events.extend(batch.events.clone());
            Ok(())
        })
        .unwrap();
    events
}

fn misses(scene: &Scene) -> u64 {
    scene.cache.stats(&Scope::global()).unwrap().misses()
}

#[test]
fn what_gives_way_says_to_which_limit() {
    let (scene, ledger) = scene(Some(2), None);
    for key in ["a", "b", "c"] {
        scene.fill(key, key, Ttl::Forever, &[]);
        scene.pass(1);
    }
    assert_eq!(story(&ledger, "a"), ["evicted: over 2 entries", "stored"]);
    assert_eq!(story(&ledger, "c"), ["stored"]);
    assert_eq!(misses(&scene), 0);
    let (scene, ledger) = self::scene(None, Some(20_480));
    for key in ["a", "b", "c"] {
        scene.fill(key, &noise_text(10_000, 1), Ttl::Forever, &[]);
        scene.pass(1);
    }
    assert_eq!(story(&ledger, "a"), ["evicted: over 20 KB", "stored"]);
}

#[test]
fn what_is_dead_is_purged_by_the_next_write_and_by_cleaning_up() {
    let (scene, ledger) = scene(None, None);
    scene.fill("a", "a", second(), &[]);
    scene.pass(1_000);
    scene.fill("b", "b", second(), &[]);
    assert_eq!(story(&ledger, "a"), ["purged", "stored"]);
    scene.pass(1_000);
    scene.cache.clean_up(&Scope::global(), CacheLimits::default()).unwrap();
    assert_eq!(story(&ledger, "b"), ["purged", "stored"]);
    assert_eq!(misses(&scene), 0);
}

#[test]
fn refusals_say_why_and_count_as_no_miss() {
    let (scene, ledger) = scene(None, Some(1_000));
    let refused = |key: &str, body: &str, sources: &[&str], meanwhile: &dyn Fn()| {
        let permit = scene.permit(&id(key), sources);
        meanwhile();
        let filled = permit.fill(draft(body.to_owned()), second()).unwrap();
        assert!(matches!(filled, FillOutcome::Refused(_)), "{filled:?}");
    };
    fs::write(scene.path("a.rs"), "before").unwrap();
    refused("large", &noise_text(2_000, 1), &[], &|| {});
    let token = format!("{{\"found\": \"ghp_{}\"}}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    refused("secret", &token, &[], &|| {});
    refused("changed", "body", &["a.rs"], &|| fs::write(scene.path("a.rs"), "after!!").unwrap());
    assert!(story(&ledger, "large")[0].starts_with("refused: 1 KB is over the limit of 1000 B"));
    let secret = &story(&ledger, "secret")[0];
    assert!(secret.starts_with("refused: secret (") && !secret.contains("ghp_"), "{secret}");
    assert_eq!(story(&ledger, "changed"), ["refused: a.rs changed"]);
    assert_eq!(misses(&scene), 0);
}

#[test]
fn a_token_for_another_state_is_a_refusal_too() {
    let (scene, ledger) = scene(None, None);
    fs::write(scene.path("a.rs"), "before").unwrap();
    let since = scene.cache.issue_since_token(&scene.view(), &["a.rs".to_owned()]).unwrap();
    fs::write(scene.path("a.rs"), "after!!").unwrap();
    scene.permit(&id("a"), &["a.rs"]).require_unchanged_since(&since).unwrap_err();
    assert_eq!(story(&ledger, "a").len(), 1);
    assert!(story(&ledger, "a")[0].starts_with("refused: "));
}

#[test]
fn a_miss_says_which_source_or_how_old() {
    let (scene, ledger) = scene(None, None);
    fs::write(scene.path("a.rs"), "before").unwrap();
    scene.fill("a", "body", second(), &["a.rs"]);
    fs::write(scene.path("a.rs"), "after!!").unwrap();
    drop(scene.lookup("a"));
    scene.fill("b", "body", second(), &[]);
    scene.pass(1_500);
    drop(scene.lookup("b"));
    assert_eq!(story(&ledger, "a")[0], "invalidated: a.rs changed");
    assert_eq!(story(&ledger, "b")[0], "expired: 1 s old, limit 1 s");
    assert_eq!(misses(&scene), 2);
}

#[test]
fn what_is_invalidated_by_hand_is_noted_one_by_one_and_counted() {
    let (scene, ledger) = scene(None, None);
    for key in ["a", "b"] {
        let mut draft = draft("body");
        draft.tags = vec!["t".to_owned()];
        let _ = scene.permit(&id(key), &[]).fill(draft, second()).unwrap();
    }
    let selection = EntrySelection::default().with_tag("t");
    assert_eq!(scene.cache.invalidate(&Scope::global(), &selection).unwrap(), 2);
    for key in ["a", "b"] {
        assert_eq!(story(&ledger, key), ["removed", "stored"]);
    }
    assert_eq!(scene.cache.stats(&Scope::global()).unwrap().invalidations(), 2);
}

#[test]
fn a_hit_says_who_asked_who_made_it_its_age_and_what_it_saved() {
    let (scene, ledger) = scene(None, None);
    let named = |name: &str| ProducerIdentity {
        name: Some(name.to_owned()),
        ..ProducerIdentity::default()
    };
    let cost = ProductionCost {
        millis: Some(900),
        micro_dollars: Some(20_000),
        ..ProductionCost::default()
    };
    let made = recoup_core::entry::Draft { identity: named("then"), cost, ..draft("body") };
    let _ = scene.permit(&id("a"), &[]).fill(made, second()).unwrap();
    noted(&ledger);
    scene.pass(70);
    let long = named(&format!("now {}", "x".repeat(10_000)));
    for identity in [None, Some(named("then")), Some(named("now")), Some(long)] {
        let (id, view) = (id("a"), scene.view());
        let identity = identity.as_ref();
        let request = LookupRequest { identity, ..LookupRequest::new(Kind::Result, &id, &view) };
        assert!(matches!(scene.cache.lookup(&request).unwrap(), Outcome::Hit(_)));
    }
    let events = noted(&ledger);
    let expected = |by: &str, stored_by: Option<&str>| EventDetail {
        by: Some(by.to_owned()),
        stored_by: stored_by.map(str::to_owned),
        age: Some(70),
        cost,
        ..EventDetail::default()
    };
    let details: Vec<&EventDetail> = events.iter().map(|event| &event.detail).collect();
    assert_eq!(
        details[..3],
        [&expected("then", None), &expected("then", None), &expected("now", Some("then"))]
    );
    assert!(details[3].by.as_ref().unwrap().chars().count() < 130);
    let hits = fs::read_to_string(scene.path("logs/hits.jsonl")).unwrap();
    let line: serde_json::Value = serde_json::from_str(hits.lines().nth(2).unwrap()).unwrap();
    assert_eq!(
        (&line["current"]["name"], &line["stored"]["name"]),
        (&"now".into(), &"then".into())
    );
    assert_eq!((&line["age_ms"], &line["saved"]["millis"]), (&70.into(), &900.into()));
    assert!(!hits.contains("body"));
}

#[test]
fn a_secret_in_a_name_is_noted_nowhere() {
    let (scene, ledger) = scene(None, None);
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let name = Some(format!("curl -H {token}"));
    let identity = ProducerIdentity { namespace: name.clone(), name, hash: None };
    let made = recoup_core::entry::Draft { identity: identity.clone(), ..draft("body") };
    let _ = scene.permit(&id("a"), &[]).fill(made, second()).unwrap();
    let (id, view) = (id("a"), scene.view());
    let request =
        LookupRequest { identity: Some(&identity), ..LookupRequest::new(Kind::Result, &id, &view) };
    assert!(matches!(scene.cache.lookup(&request).unwrap(), Outcome::Hit(_)));
    for file in ["ledger/open.log", "logs/hits.jsonl"] {
        let text = fs::read_to_string(scene.path(file)).unwrap();
        assert!(text.contains("curl") && !text.contains("ghp_"), "{text}");
    }
    assert!(noted(&ledger).iter().any(|event| event.what == EntryEventKind::Hit));
    assert!(matches!(EventReason::Secret(String::new()).code(), "secret"));
}
