//! One store in front of another: who answers, for how long, and what happens
//! when either is away.

use std::sync::Arc;
use std::time::Duration;

use recoup_core::ErrorKind;
use recoup_core::base::clock::ManualClock;
use recoup_core::cache::{Cache, CacheOptions};
use recoup_core::entry::{INLINE_MAX, RecordedSources};
use recoup_core::key::{EntryId, Scope};
use recoup_core::store::{
    EvictionPlan, FileStore, InMemoryStore, ScanFilter, ScanFlow, Store, TieredStore,
};

use crate::support::Touch as _;
use crate::support::{
    Faults, START, Switched, body_of, draft, evict_plan, id, later, noise_text, record, record_at,
    scanned,
};

const MAX_AGE: u64 = 1_000;

struct Scene {
    front: Arc<Switched>,
    back: Arc<Switched>,
    clock: ManualClock,
    faults: Arc<Faults>,
    tiers: TieredStore,
}

impl Scene {
    fn new() -> Self {
        let (front, back) = (Switched::new("front"), Switched::new("back"));
        let (clock, faults) = (ManualClock::at(START), Faults::new());
        let tiers = TieredStore::new(
            front.clone(),
            back.clone(),
            MAX_AGE,
            Arc::new(clock.clone()),
            faults.clone(),
        );
        Self { front, back, clock, faults, tiers }
    }

    fn pass(&self, millis: u64) {
        self.clock.advance(Duration::from_millis(millis));
    }

    /// What is found under `key`; `-` for nothing.
    fn body(&self, key: &str) -> String {
        let found = body_of(&self.tiers, &id(key));
        found.map_or("-".to_owned(), |body| String::from_utf8(body).unwrap())
    }
}

#[test]
fn a_write_goes_through_to_both() {
    let scene = Scene::new();
    scene.tiers.put(&id("a"), &record("a")).unwrap();
    for store in [&scene.front, &scene.back] {
        assert_eq!(body_of(&**store, &id("a")), Some(b"a".to_vec()));
    }
    scene.tiers.touch(&[(id("a"), later(5))]).unwrap();
    for store in [&scene.front, &scene.back] {
        assert_eq!(store.get(&id("a")).unwrap().unwrap().head.hits, 1);
    }
    assert_eq!(scene.tiers.remove(&[id("a")]).unwrap(), 1, "one entry, though in two places");
    for store in [&scene.front, &scene.back] {
        assert!(store.get(&id("a")).unwrap().is_none());
    }
}

#[test]
fn the_front_serves_for_its_time_and_then_the_back_is_asked() {
    let scene = Scene::new();
    scene.tiers.put(&id("a"), &record("mine")).unwrap();
    scene.back.put(&id("a"), &record("another machine's")).unwrap();
    assert_eq!(scene.body("a"), "mine");
    scene.pass(MAX_AGE);
    assert_eq!(scene.body("a"), "mine", "at its last moment");
    scene.pass(1);
    assert_eq!(scene.body("a"), "another machine's");
    scene.back.put(&id("a"), &record("newer yet")).unwrap();
    scene.pass(MAX_AGE);
    assert_eq!(scene.body("a"), "another machine's", "its time began when it arrived");
    scene.pass(1);
    assert_eq!(scene.body("a"), "newer yet");
}

/// How old an entry is says nothing about how long the front has had it.
#[test]
fn an_old_entry_is_served_from_the_front_as_well() {
    let scene = Scene::new();
    let month = 30 * 86_400_000;
    scene.back.put(&id("a"), &record_at(START, "old")).unwrap();
    scene.pass(month);
    assert_eq!(scene.body("a"), "old");
    scene.back.switch_off(true);
    assert_eq!(scene.body("a"), "old");
    assert_eq!(scene.faults.count(), 0, "the back was not asked again");
    let head = scene.tiers.get(&id("a")).unwrap().unwrap().head.clone();
    assert_eq!(head.header.created, START);
}

#[test]
fn what_another_machine_removed_is_gone_after_that_time() {
    let scene = Scene::new();
    scene.tiers.put(&id("a"), &record("a")).unwrap();
    scene.back.remove(&[id("a")]).unwrap();
    assert_eq!(scene.body("a"), "a");
    scene.pass(MAX_AGE + 1);
    assert_eq!(scene.body("a"), "-");
    assert!(scene.front.get(&id("a")).unwrap().is_none(), "in front too");
}

#[test]
fn while_the_back_is_away_the_front_answers_and_it_is_told() {
    let scene = Scene::new();
    scene.tiers.put(&id("a"), &record("a")).unwrap();
    scene.back.switch_off(true);
    scene.pass(MAX_AGE * 50);
    assert_eq!(scene.body("a"), "a");
    let told = scene.faults.take();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((told[0].0.as_str(), told[0].1), ("switched:back", ErrorKind::Io));
    let error = scene.tiers.get(&id("unknown")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io, "nobody knows whether it is there");
    scene.back.switch_off(false);
    assert_eq!(scene.body("unknown"), "-");
}

#[test]
fn while_the_front_is_broken_the_back_answers_and_it_is_told() {
    let scene = Scene::new();
    scene.tiers.put(&id("a"), &record("a")).unwrap();
    scene.front.switch_off(true);
    assert_eq!(scene.body("a"), "a");
    assert_eq!(scene.body("unknown"), "-");
    let told = scene.faults.take();
    assert!(!told.is_empty());
    assert!(told.iter().all(|(url, _, _)| url == "switched:front"), "{told:?}");
    assert_eq!(scanned(&scene.tiers, &ScanFilter::default()), [id("a")]);
}

#[test]
fn a_change_that_fails_in_either_tier_fails_and_says_where() {
    type Change = fn(&dyn Store) -> recoup_core::Result<()>;
    let changes: [Change; 4] = [
        |store| store.put(&id("b"), &record("b")),
        |store| store.remove(&[id("a")]).map(drop),
        |store| store.touch(&[(id("a"), START)]),
        |store| store.evict(&evict_plan(START)).map(drop),
    ];
    for change in changes {
        for broken in ["front", "back"] {
            let scene = Scene::new();
            scene.tiers.put(&id("a"), &record("a")).unwrap();
            let (off, on) = match broken {
                "front" => (&scene.front, &scene.back),
                _ => (&scene.back, &scene.front),
            };
            off.switch_off(true);
            let error = change(&scene.tiers).unwrap_err();
            assert!(error.to_string().contains(&format!("switched:{broken}")), "{error}");
            assert!(change(&**on).is_ok());
        }
    }
}

#[test]
fn a_removal_that_fails_in_one_tier_is_done_in_the_other() {
    for front_is_off in [true, false] {
        let scene = Scene::new();
        scene.tiers.put(&id("a"), &record("a")).unwrap();
        let (off, on) =
            if front_is_off { (&scene.front, &scene.back) } else { (&scene.back, &scene.front) };
        off.switch_off(true);
        scene.tiers.remove(&[id("a")]).unwrap_err();
        assert!(on.get(&id("a")).unwrap().is_none(), "front off: {front_is_off}");
    }
}

#[test]
fn a_scan_shows_what_either_tier_has() {
    let scene = Scene::new();
    scene.tiers.put(&id("both"), &record("a")).unwrap();
    scene.back.put(&id("back"), &record("a")).unwrap();
    scene.front.put(&id("front"), &record("a")).unwrap();
    assert_eq!(scanned(&scene.tiers, &ScanFilter::default()), ["back", "both", "front"].map(id));
    scene.back.switch_off(true);
    let visit = &mut |_: &EntryId, _: recoup_core::Result<&_>| ScanFlow::Continue(());
    assert!(scene.tiers.scan(&ScanFilter::default(), visit).is_err(), "not half of it");
}

#[test]
fn an_eviction_frees_both_and_counts_the_back() {
    let scene = Scene::new();
    for n in 0..4 {
        scene.tiers.put(&id(&n.to_string()), &record_at(later(n), "a")).unwrap();
    }
    scene.front.remove(&[id("0")]).unwrap();
    let plan = EvictionPlan { max_entries: Some(1), ..evict_plan(later(10)) };
    assert_eq!(scene.tiers.evict(&plan).unwrap().least_used, 3);
    for store in [&scene.front, &scene.back] {
        assert_eq!(scanned(&**store, &ScanFilter::default()), [id("3")]);
    }
}

/// The front may be too small for what the back holds.
#[test]
fn what_does_not_fit_in_front_is_served_from_the_back() {
    let (back, faults) = (Switched::new("back"), Faults::new());
    let front = Arc::new(InMemoryStore::with_capacity(10_000));
    let clock = Arc::new(ManualClock::at(START));
    let tiers = TieredStore::new(front.clone(), back, MAX_AGE, clock, faults.clone());
    tiers.put(&id("a"), &record("small")).unwrap();
    let large = noise_text(2 * INLINE_MAX, 1);
    tiers.put(&id("a"), &record(large.clone())).unwrap();
    assert!(front.get(&id("a")).unwrap().is_none(), "and the old one is gone");
    assert_eq!(body_of(&tiers, &id("a")), Some(large.into_bytes()));
    assert_eq!(faults.count(), 0);
}

#[test]
fn a_bounded_memory_stays_within_its_bounds() {
    let memory = InMemoryStore::with_capacity(1 << 20);
    for n in 0..2_000 {
        memory.put(&id(&n.to_string()), &record(noise_text(10_000, n))).unwrap();
    }
    let left = scanned(&memory, &ScanFilter::default()).len();
    assert!((1..400).contains(&left), "{left} of 10 kB each are in one of 1 MiB");
    assert!(memory.get(&id("0")).unwrap().is_none(), "the oldest gave way");
}

#[test]
fn the_url_names_both() {
    assert_eq!(Scene::new().tiers.info().url, "switched:front + switched:back");
}

/// Two tiers in memory, and the front's name is `near`.
fn two_tiers(max_age: u64) -> (Arc<Switched>, Arc<Switched>, Cache) {
    let (near, far) = (Switched::new("near"), Switched::new("far"));
    let clock = Arc::new(ManualClock::at(START));
    let tiers = TieredStore::new(
        Arc::clone(&near) as _,
        Arc::clone(&far) as _,
        max_age,
        clock,
        Faults::new(),
    );
    (near, far, Cache::new(Arc::new(tiers), CacheOptions::default()))
}

#[test]
fn what_only_the_front_still_has_can_be_listed_and_cleared() {
    let (near, far, cache) = two_tiers(1_000);
    for store in [&near, &far] {
        store.put(&id("a"), &record("a")).unwrap();
    }
    far.remove(&[id("a")]).unwrap();
    assert_eq!(cache.clear(&Scope::global()).unwrap(), 1, "another machine removed it behind");
    assert!(near.get(&id("a")).unwrap().is_none());
}

#[test]
fn a_full_result_that_was_replaced_behind_is_not_taken_for_damage() {
    let (near, far, cache) = two_tiers(1_000);
    let with_full = |full: &str| {
        let mut draft = draft("short");
        draft.full = Some(full.to_owned().into());
        draft.seal(RecordedSources::default(), START).unwrap()
    };
    let mut old = with_full("old");
    old.full = None;
    near.put(&id("a"), &old).unwrap();
    far.put(&id("a"), &with_full("new")).unwrap();
    let full = cache.full_result(&id("a")).unwrap().unwrap();
    assert_eq!(full.to_bytes().unwrap(), "new");
}

#[test]
fn what_is_damaged_behind_is_not_hidden_by_the_front() {
    let dir = tempfile::tempdir().unwrap();
    let back = FileStore::at(dir.path(), Arc::new(ManualClock::at(START)));
    let clock = ManualClock::at(START);
    let near = Arc::new(InMemoryStore::with_capacity(1 << 20));
    let tiers =
        TieredStore::new(near, Arc::new(back), 1_000, Arc::new(clock.clone()), Faults::new());
    tiers.put(&id("a"), &record("a")).unwrap();
    let path = dir.path().join("a.json");
    let json = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, json.replace(r#""format":1"#, r#""format":"x""#)).unwrap();
    assert!(tiers.get(&id("a")).unwrap().is_some(), "it is current");
    clock.advance(Duration::from_secs(2));
    assert_eq!(tiers.get(&id("a")).unwrap_err().kind(), ErrorKind::Corrupt);
}
