//! Limits: what is too large is refused, what is too much makes the least
//! recently used give way, for each kind within a scope.

use std::sync::Arc;

use recoup_core::cache::{
    Cache, CacheLimits, CacheOptions, CacheParts, FillOutcome, FillRefusal, Outcome, Ttl,
};
use recoup_core::entry::{Draft, INLINE_MAX, RecordedSources};
use recoup_core::key::Kind;
use recoup_core::ledger::Ledger;
use recoup_core::store::{InMemoryStore, ScanFilter, Store, ThreadClaims};

use super::{Scene, second};
use crate::store_contract::stores::{Factory as _, InSqlite};
use crate::support::Touch as _;
use crate::support::{START, draft, id, id_in, noise, noise_text, scanned, scopes};

fn scene(store: Arc<dyn Store>, max_entries: Option<u64>, max_bytes: Option<u64>) -> Scene {
    Scene::with(
        store,
        CacheOptions { limits: CacheLimits { max_entries, max_bytes }, ..CacheOptions::default() },
    )
}

fn memory() -> Arc<dyn Store> {
    Arc::new(InMemoryStore::with_capacity(64 << 20))
}

fn left(scene: &Scene) -> usize {
    scanned(&*scene.store, &ScanFilter::default()).len()
}

#[test]
fn an_entry_above_the_limit_is_refused() {
    for body in [noise(5_001, 1), noise(INLINE_MAX + 1, 1)] {
        let scene = scene(memory(), None, Some(5_000));
        scene.fill("small", "small", second(), &[]);
        let bytes = body.len() as u64;
        let filled = scene.permit(&id("a"), &[]).fill(draft(body), second()).unwrap();
        let FillOutcome::Refused(refusal @ FillRefusal::TooLarge { .. }) = filled else { panic!() };
        let FillRefusal::TooLarge { bytes: takes, limit } = refusal else { panic!() };
        assert!(takes >= bytes && limit == 5_000, "{takes}, {limit}");
        assert_eq!(left(&scene), 1);
    }
}

#[test]
fn what_compresses_below_the_limit_is_taken() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let scene = scene(store, None, Some(5_000));
        scene.fill("other", "other", second(), &[]);
        scene.fill("a", &"a".repeat(100_000), second(), &[]);
        assert!(scene.hits("a"), "{}", scene.store.info().url);
        assert!(scene.hits("other"), "it took no room that others needed");
    }
}

/// Headers take room as well: what fits only without its own would push out
/// everything else, and then itself.
#[test]
fn what_fills_the_limit_to_the_brim_does_not_empty_the_cache() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let scene = scene(store, None, Some(5_000));
        scene.fill("other", "other", second(), &[]);
        scene.pass(1);
        for len in [4_400, 4_600, 4_700, 4_800, 4_900, 4_999, 5_000] {
            let filled = scene.permit(&id("a"), &[]).fill(draft(noise(len, 1)), second()).unwrap();
            match filled {
                FillOutcome::Stored(_) => assert!(scene.hits("a"), "{len}: stored, and not there"),
                FillOutcome::Refused(FillRefusal::TooLarge { .. }) => {}
                other => panic!("{len}: {other:?}"),
            }
            assert!(left(&scene) > 0, "{len}: the cache is empty");
        }
    }
}

#[test]
fn filling_makes_the_least_recently_used_give_way() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let scene = scene(store, Some(3), None);
        for n in 0..5 {
            scene.fill(&n.to_string(), "body", Ttl::Forever, &[]);
            scene.pass(10);
        }
        assert_eq!(scanned(&*scene.store, &ScanFilter::default()), ["2", "3", "4"].map(id));
        scene.store.touch(&[(id("2"), scene.cache.clock().now())]).unwrap();
        scene.pass(10);
        let filled = scene.permit(&id("5"), &[]).fill(draft("body"), Ttl::Forever).unwrap();
        let FillOutcome::Stored(evicted) = filled else { panic!("{filled:?}") };
        assert_eq!((evicted.expired, evicted.least_used), (0, 1));
        assert_eq!(scanned(&*scene.store, &ScanFilter::default()), ["2", "4", "5"].map(id));
    }
}

#[test]
fn the_dead_give_way_before_the_living() {
    let scene = scene(memory(), Some(2), None);
    scene.fill("forever", "body", Ttl::Forever, &[]);
    scene.pass(10);
    scene.fill("mortal", "body", second(), &[]);
    scene.pass(1_000);
    let filled = scene.permit(&id("new"), &[]).fill(draft("body"), Ttl::Forever).unwrap();
    let FillOutcome::Stored(evicted) = filled else { panic!("{filled:?}") };
    assert_eq!((evicted.expired, evicted.least_used), (1, 0));
    assert_eq!(scanned(&*scene.store, &ScanFilter::default()), ["forever", "new"].map(id));
}

#[test]
fn no_kind_and_no_scope_evicts_anothers() {
    let scene = scene(memory(), Some(1), None);
    for scope in scopes() {
        for kind in Kind::ALL {
            for n in 0..2 {
                let mut draft = draft("body");
                draft.kind = kind;
                let id = id_in(&scope, &format!("{kind}-{n}"));
                let _ = scene.permit(&id, &[]).fill(draft, Ttl::Forever).unwrap();
                scene.pass(1);
            }
        }
    }
    assert_eq!(left(&scene), 4 * Kind::ALL.len(), "one of each");
}

/// Through the ledger, as a real cache is used: what was read stays.
#[test]
fn what_was_read_outlives_what_was_not() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let limits = CacheLimits { max_entries: None, max_bytes: Some(31_500) };
        let options = CacheOptions { limits, ..CacheOptions::default() };
        let scene = Scene::with(store.clone(), options);
        let ledger = Some(Ledger::at(scene.path("ledger")));
        let clock = Arc::new(scene.clock.clone());
        let claims = Arc::new(ThreadClaims::default());
        let cache = Cache::from_parts(CacheParts { store, clock, ledger, claims, options });
        let scene = Scene { cache, ..scene };
        for key in ["a", "b", "c"] {
            scene.fill(key, &noise_text(10_000, 1), Ttl::Forever, &[]);
            scene.pass(10);
        }
        assert!(matches!(scene.lookup("a"), Outcome::Hit(_)));
        scene.pass(10);
        for (key, left) in [("d", ["a", "c", "d"]), ("e", ["a", "d", "e"])] {
            scene.fill(key, &noise_text(10_000, 1), Ttl::Forever, &[]);
            scene.pass(10);
            assert_eq!(scanned(&*scene.store, &ScanFilter::default()), left.map(id));
        }
    }
}

#[test]
fn a_full_result_counts_for_the_limit() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let scene = scene(store, None, Some(5_000));
        let mut draft = draft("short");
        draft.full = Some(noise(5_001, 1).into());
        let filled = scene.permit(&id("a"), &[]).fill(draft, second()).unwrap();
        let FillOutcome::Refused(refusal) = filled else { panic!("{filled:?}") };
        assert!(refusal.to_string().contains("more than the limit of 5000"), "{refusal}");
        assert_eq!(left(&scene), 0);
    }
}

/// The others seem to have been used in the future: a clock was ahead.
#[test]
fn what_was_just_written_is_not_what_goes() {
    let stored = InSqlite::fresh();
    for store in [memory(), stored.store()] {
        let scene = scene(store, Some(2), None);
        for key in ["a", "b"] {
            scene.fill(key, key, Ttl::Forever, &[]);
            scene.store.touch(&[(id(key), crate::support::later(1_000_000_000))]).unwrap();
        }
        scene.fill("new", "new", Ttl::Forever, &[]);
        assert!(scene.hits("new"), "{}", scene.store.info().url);
        assert_eq!(left(&scene), 2);
    }
}

/// The default of contract 2, which the user's own limit replaces.
#[test]
fn of_tool_calls_5000_are_kept_unless_the_user_says_otherwise() {
    let fill = |kind: Kind, max_entries: Option<u64>| {
        let scene = scene(memory(), max_entries, None);
        let draft = |at: u32| Draft::new(kind, format!("{at}"));
        for at in 0..5_002 {
            let record = draft(at).seal(RecordedSources::default(), START).unwrap();
            scene.store.put(&id(&format!("key-{at}")), &record).unwrap();
        }
        scene.pass(1);
        let filled = scene.permit(&id("last"), &[]).fill(draft(0), Ttl::Forever).unwrap();
        assert!(matches!(filled, FillOutcome::Stored(_)), "{filled:?}");
        scene.cache.clean_up(&id("last").scope, scene.cache.limits()).unwrap();
        left(&scene)
    };
    assert_eq!(fill(Kind::Tool, None), 5_000);
    assert_eq!(fill(Kind::Tool, Some(3)), 3);
    assert_eq!(fill(Kind::Command, None), 5_003);
}
