//! Eviction: what is dead goes first, then what was used least recently, and
//! only as much as the plan asks for, only where it asks for it.

use recoup_core::base::clock::Timestamp;
use recoup_core::entry::{EntryRecord, RecordedSources};
use recoup_core::key::{EntryId, Kind};
use recoup_core::store::{
    EvictedEntry, EvictionCause, EvictionLimit, EvictionPlan, EvictionReport, ScanFilter, Store,
};

use super::stores::Factory;
use crate::support::Touch as _;
use crate::support::{
    START, draft, evict_plan, id, id_in, later, noise_text, record, record_at, scanned, scopes,
};

fn mortal(now: Timestamp, ttl: u64, grace: u64) -> EntryRecord {
    let mut draft = draft("mortal");
    (draft.ttl, draft.grace) = (Some(ttl), grace);
    draft.seal(RecordedSources::default(), now).unwrap()
}

/// Entries `0`, `1`, … that were stored in that order.
fn fill(store: &dyn Store, count: u64, body: &str) {
    for n in 0..count {
        store.put(&id(&n.to_string()), &record_at(later(n), body.to_owned())).unwrap();
    }
}

fn left(store: &dyn Store) -> Vec<EntryId> {
    scanned(store, &ScanFilter::default())
}

fn counts(evicted: &EvictionReport) -> (u64, u64) {
    (evicted.expired, evicted.least_used)
}

pub(super) fn nothing_goes_while_all_is_within_limits<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let plan = |max_entries, max_bytes| EvictionPlan {
        max_entries,
        max_bytes,
        ..evict_plan(later(1_000_000))
    };
    assert_eq!(
        store.evict(&plan(Some(0), Some(0))).unwrap(),
        EvictionReport::default(),
        "not there yet"
    );
    fill(&*store, 5, "body");
    store.put(&id("mortal"), &mortal(START, 1_000_000, 1)).unwrap();
    for (entries, bytes) in [(None, None), (Some(6), None), (None, Some(1 << 20))] {
        assert_eq!(store.evict(&plan(entries, bytes)).unwrap(), EvictionReport::default());
    }
    assert_eq!(left(&*store).len(), 6);
}

pub(super) fn the_dead_go_first_and_may_be_enough<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 3, "body");
    // Used last of all, but dead.
    store.put(&id("dead"), &mortal(later(50), 10, 5)).unwrap();
    store.put(&id("deader"), &mortal(later(51), 1, 0)).unwrap();
    let plan = EvictionPlan { max_entries: Some(3), ..evict_plan(later(100)) };
    let evicted = store.evict(&plan).unwrap();
    assert_eq!(counts(&evicted), (2, 0));
    assert!(evicted.bytes > 0);
    assert_eq!(left(&*store), ["0", "1", "2"].map(id));
}

/// Sorted by id: which goes first of those that go together is the store's business.
fn gone(evicted: EvictionReport) -> Vec<EvictedEntry> {
    let mut gone = evicted.gone;
    gone.sort_by(|a, b| a.id.cmp(&b.id));
    gone
}

pub(super) fn what_went_is_named_with_its_kind_and_cause<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 4, "body");
    let scope = scopes()[1].clone();
    let mut dead = draft("mortal");
    (dead.kind, dead.ttl) = (Kind::AgentRun, Some(1));
    let dead = dead.seal(RecordedSources::default(), later(5)).unwrap();
    store.put(&id_in(&scope, "dead"), &dead).unwrap();
    let plan = EvictionPlan { max_entries: Some(2), ..evict_plan(later(100)) };
    let over = |key: &str| EvictedEntry {
        id: id(key),
        kind: Kind::Result,
        cause: EvictionCause::Over(EvictionLimit::Entries),
    };
    let dead = EvictedEntry {
        id: id_in(&scope, "dead"),
        kind: Kind::AgentRun,
        cause: EvictionCause::Dead,
    };
    assert_eq!(gone(store.evict(&plan).unwrap()), [over("0"), over("1"), dead]);
    assert_eq!(gone(store.evict(&plan).unwrap()), []);
}

pub(super) fn an_entry_is_dead_from_its_last_moment_on<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("a"), &mortal(START, 10, 5)).unwrap();
    assert_eq!(
        store.evict(&evict_plan(later(14))).unwrap(),
        EvictionReport::default(),
        "in its grace"
    );
    assert_eq!(counts(&store.evict(&evict_plan(later(15))).unwrap()), (1, 0));
    store.put(&id("b"), &mortal(START, u64::MAX, u64::MAX)).unwrap();
    assert_eq!(store.evict(&evict_plan(later(1 << 60))).unwrap(), EvictionReport::default());
    assert_eq!(left(&*store), [id("b")]);
}

pub(super) fn then_the_least_recently_used_go_by_count<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 6, "body");
    store.put(&id("dead"), &mortal(later(50), 1, 0)).unwrap();
    let plan = EvictionPlan { max_entries: Some(4), ..evict_plan(later(100)) };
    assert_eq!(counts(&store.evict(&plan).unwrap()), (1, 2));
    assert_eq!(left(&*store), ["2", "3", "4", "5"].map(id));
    assert_eq!(store.evict(&plan).unwrap(), EvictionReport::default(), "once is enough");
    let plan = EvictionPlan { max_entries: Some(0), ..plan };
    assert_eq!(counts(&store.evict(&plan).unwrap()), (0, 4));
    assert_eq!(left(&*store), []);
}

/// Bodies of 10,000 bytes: whether a store counts them packed or plain, with
/// their headers or without, three of them fit and a fourth does not.
pub(super) fn the_least_recently_used_go_by_bytes<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 6, &noise_text(10_000, 1));
    let plan = EvictionPlan { max_bytes: Some(31_500), ..evict_plan(later(100)) };
    let evicted = store.evict(&plan).unwrap();
    assert_eq!(counts(&evicted), (0, 3));
    assert!(
        evicted.gone.iter().all(|gone| gone.cause == EvictionCause::Over(EvictionLimit::Bytes))
    );
    assert!((3 * 8_000..3 * 11_000).contains(&evicted.bytes), "{evicted:?}");
    assert_eq!(left(&*store), ["3", "4", "5"].map(id));
    assert_eq!(store.evict(&plan).unwrap(), EvictionReport::default(), "once is enough");
}

pub(super) fn a_touched_entry_outlives_a_newer_one<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 4, "body");
    store.touch(&[(id("0"), later(20)), (id("2"), later(21))]).unwrap();
    let plan = EvictionPlan { max_entries: Some(2), ..evict_plan(later(100)) };
    assert_eq!(counts(&store.evict(&plan).unwrap()), (0, 2));
    assert_eq!(left(&*store), ["0", "2"].map(id));
}

pub(super) fn other_scopes_and_kinds_neither_count_nor_go<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for scope in scopes() {
        for kind in Kind::ALL {
            for n in 0..3 {
                let mut draft = draft("body");
                draft.kind = kind;
                let record = draft.seal(RecordedSources::default(), later(n)).unwrap();
                store.put(&id_in(&scope, &format!("{kind}-{n}")), &record).unwrap();
            }
        }
    }
    let scope = scopes()[2].clone();
    let plan = EvictionPlan {
        scope: scope.clone(),
        kind: Kind::AgentRun,
        max_entries: Some(1),
        ..evict_plan(later(100))
    };
    assert_eq!(counts(&store.evict(&plan).unwrap()), (0, 2));
    let kept = scanned(
        &*store,
        &ScanFilter { kind: Some(Kind::AgentRun), ..ScanFilter::of_scope(&scope) },
    );
    assert_eq!(kept.iter().map(|id| id.key.as_str()).collect::<Vec<_>>(), ["agent-run-2"]);
    assert_eq!(left(&*store).len(), 4 * Kind::ALL.len() * 3 - 2);
}

/// Nobody may ever come back to that scope.
pub(super) fn the_dead_go_in_every_scope<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for scope in scopes() {
        store.put(&id_in(&scope, "dead"), &mortal(START, 1, 0)).unwrap();
        store.put(&id_in(&scope, "alive"), &mortal(START, 1_000, 0)).unwrap();
    }
    assert_eq!(counts(&store.evict(&evict_plan(later(10))).unwrap()), (4, 0));
    let mut alive = scopes().map(|scope| id_in(&scope, "alive"));
    alive.sort();
    assert_eq!(left(&*store), alive);
}

pub(super) fn more_than_a_batch_can_go_at_once<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    fill(&*store, 1_203, "b");
    let plan = EvictionPlan { max_entries: Some(2), ..evict_plan(later(9_999)) };
    let evicted = store.evict(&plan).unwrap();
    assert_eq!(counts(&evicted), (0, 1_201));
    assert_eq!(evicted.gone.len(), EvictionReport::NAMED, "no more are named than anyone reads");
    assert_eq!(left(&*store), ["1201", "1202"].map(id));
}

pub(super) fn a_replaced_entry_counts_once_with_its_new_size<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for seed in 0..20 {
        store.put(&id("big"), &record(noise_text(10_000, seed))).unwrap();
    }
    store.put(&id("big"), &record("small now")).unwrap();
    store.put(&id("other"), &record("small too")).unwrap();
    let plan =
        EvictionPlan { max_entries: Some(2), max_bytes: Some(5_000), ..evict_plan(later(9_999)) };
    assert_eq!(store.evict(&plan).unwrap(), EvictionReport::default());
    assert_eq!(left(&*store).len(), 2);
}
