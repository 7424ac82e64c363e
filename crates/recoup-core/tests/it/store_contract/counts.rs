//! What a store is told about its records: each batch counts once, and what it
//! says happens to those records and to no others.

use recoup_core::base::clock::{Clock as _, SystemClock, Timestamp};
use recoup_core::base::name::SafeName;
use recoup_core::entry::{
    CostSavings, EntryEvent, EntryEventKind, EventBatch, EventDetail, EventTally, ProductionCost,
    day_number,
};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::{ScanFilter, Store};

use super::stores::Factory;
use crate::support::{START, id, id_in, later, noise_text, record, scanned, scopes};

const DAY: u64 = 86_400_000;

fn event(id: &EntryId, at: Timestamp, what: EntryEventKind, count: u64) -> EntryEvent {
    EntryEvent {
        at,
        id: id.clone(),
        kind: Kind::Result,
        what,
        count,
        detail: EventDetail::default(),
    }
}

fn batch(name: &str, events: Vec<EntryEvent>) -> EventBatch {
    EventBatch { name: SafeName::parse("batch", name).unwrap(), events }
}

fn before(millis: i64) -> Timestamp {
    Timestamp::from_millis(START.as_millis() - millis)
}

/// What was counted, in an order of its own.
fn counted(store: &dyn Store, scope: &Scope) -> Vec<(Kind, i64, EntryEventKind, u64)> {
    let mut tallies: Vec<_> = store
        .tallies(Some(scope))
        .unwrap()
        .into_iter()
        .map(|EventTally { scope: of, kind, day, what, by, count, saved }| {
            assert_eq!((of, by.as_str(), saved), (scope.clone(), "", CostSavings::default()));
            (kind, day, what, count)
        })
        .collect();
    tallies.sort_unstable();
    tallies
}

pub(super) fn a_batch_counts_once_however_often_it_is_told<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record("a")).unwrap();
    let hit = |count| event(&id("key"), later(5), EntryEventKind::Hit, count);
    let (first, second) = (batch("1", vec![hit(2), hit(1)]), batch("2", vec![hit(4)]));
    for batch in [&first, &first, &second, &first, &second] {
        store.fold_batch(batch).unwrap();
    }
    let head = store.get(&id("key")).unwrap().unwrap().head.clone();
    assert_eq!((head.hits, head.last_used), (7, later(5)));
    let expected = [(Kind::Result, day_number(START), EntryEventKind::Hit, 7)];
    assert_eq!(counted(&*store, &Scope::global()), expected);
}

pub(super) fn everything_that_happens_is_counted_by_scope_kind_and_day<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let mut events = Vec::new();
    for (n, scope) in scopes().iter().enumerate() {
        for what in EntryEventKind::ALL {
            for at in [START, later(DAY), later(DAY + 1)] {
                events.push(event(&id_in(scope, "key"), at, what, n as u64 + 1));
            }
        }
        let mut other = event(&id_in(scope, "key"), START, EntryEventKind::Hit, 100);
        other.kind = Kind::AgentRun;
        events.push(other);
    }
    store.fold_batch(&batch("all", events)).unwrap();
    let today = day_number(START);
    for (n, scope) in scopes().iter().enumerate() {
        let count = n as u64 + 1;
        let mut expected = vec![(Kind::AgentRun, today, EntryEventKind::Hit, 100)];
        for what in EntryEventKind::ALL {
            expected.push((Kind::Result, today, what, count));
            expected.push((Kind::Result, today + 1, what, 2 * count));
        }
        expected.sort_unstable();
        assert_eq!(counted(&*store, scope), expected, "{scope}");
    }
}

fn hit_by(name: &str, count: u64, cost: ProductionCost) -> EntryEvent {
    let detail = EventDetail { by: Some(name.to_owned()), cost, ..EventDetail::default() };
    EntryEvent { detail, ..event(&id("key"), START, EntryEventKind::Hit, count) }
}

pub(super) fn what_hits_saved_is_summed_up_by_name<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    let cost = |millis, tokens, dollars| ProductionCost {
        millis: Some(millis),
        input_tokens: Some(tokens),
        output_tokens: None,
        micro_dollars: Some(dollars),
    };
    let odd = "a/b \"ü\" '%_\\ 1";
    let first = batch("1", vec![hit_by("a", 2, cost(10, 3, 5)), hit_by(odd, 1, cost(7, 0, 0))]);
    let second = batch(
        "2",
        vec![hit_by("a", 1, cost(u64::MAX, 1, 1)), hit_by("a", 1, ProductionCost::default())],
    );
    for batch in [&first, &second, &second, &first] {
        store.fold_batch(batch).unwrap();
    }
    let mut tallies = store.tallies(Some(&Scope::global())).unwrap();
    tallies.sort_by(|a, b| a.by.cmp(&b.by));
    let [a, other] = &tallies[..] else { panic!("{tallies:?}") };
    assert_eq!((a.by.as_str(), a.count), ("a", 4));
    assert!(a.saved.millis > 1 << 59, "as many as can be counted: {a:?}");
    assert_eq!((a.saved.input_tokens, a.saved.micro_dollars), (7, 11));
    assert_eq!((other.by.as_str(), other.count), (odd, 1));
    assert_eq!(other.saved, CostSavings { millis: 7, ..CostSavings::default() });
}

pub(super) fn very_many_names_are_the_others<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for round in 0..3 {
        let names = (0..250).map(|n| format!("name-{n}"));
        let hits = names.map(|name| hit_by(&name, 1, ProductionCost::default()));
        store.fold_batch(&batch(&round.to_string(), hits.collect())).unwrap();
    }
    let tallies = store.tallies(Some(&Scope::global())).unwrap();
    assert!((100..=101).contains(&tallies.len()), "{}", tallies.len());
    assert_eq!(tallies.iter().map(|tally| tally.count).sum::<u64>(), 750, "none is lost");
    let others = tallies.iter().find(|tally| tally.by == "(others)").unwrap();
    assert!(others.count >= 3 * 149, "{others:?}");
}

pub(super) fn counts_of_all_scopes_can_be_asked_for_at_once<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert_eq!(store.tallies(None).unwrap(), []);
    let events =
        scopes().map(|scope| event(&id_in(&scope, "key"), START, EntryEventKind::Absent, 2));
    store.fold_batch(&batch("1", events.to_vec())).unwrap();
    let mut found: Vec<_> =
        store.tallies(None).unwrap().into_iter().map(|tally| (tally.scope, tally.count)).collect();
    found.sort();
    let mut expected = scopes().map(|scope| (scope, 2));
    expected.sort();
    assert_eq!(found, expected);
}

pub(super) fn counts_of_long_ago_go<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    // By the machine's own time: what a wrong clock says must not make everything old.
    let now = SystemClock.now().as_millis();
    let before = |days: i64| Timestamp::from_millis(now - days * DAY.cast_signed());
    let at = |days: i64, count| event(&id("key"), before(days), EntryEventKind::Hit, count);
    let counts = || -> Vec<_> {
        counted(&*store, &Scope::global()).iter().map(|row| (row.1, row.3)).collect()
    };
    let today = day_number(Timestamp::from_millis(now));
    store.fold_batch(&batch("1", vec![at(401, 1), at(400, 2)])).unwrap();
    store.fold_batch(&batch("2", vec![at(0, 3)])).unwrap();
    assert_eq!(counts(), [(today - 400, 2), (today, 3)]);
    store.fold_batch(&batch("3", vec![at(-500, 4)])).unwrap();
    assert_eq!(counts(), [(today - 400, 2), (today, 3), (today + 500, 4)]);
}

pub(super) fn nothing_told_is_nothing_counted<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    assert_eq!(counted(&*store, &Scope::global()), [], "before the first write");
    store.fold_batch(&batch("empty", Vec::new())).unwrap();
    store.put(&id("key"), &record("a")).unwrap();
    assert_eq!(counted(&*store, &Scope::global()), []);
}

pub(super) fn counts_outlive_their_entries<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record("a")).unwrap();
    store.fold_batch(&batch("1", vec![event(&id("key"), START, EntryEventKind::Hit, 3)])).unwrap();
    store.remove(&[id("key")]).unwrap();
    let expected = [(Kind::Result, day_number(START), EntryEventKind::Hit, 3)];
    assert_eq!(counted(&*store, &Scope::global()), expected);
}

pub(super) fn what_was_found_damaged_goes<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for key in ["bad", "good"] {
        store.put(&id(key), &record("a")).unwrap();
        store.put(&id_in(&scopes()[1], key), &record("a")).unwrap();
    }
    factory.spoil(&id("bad"));
    let found = batch("1", vec![event(&id("bad"), later(1), EntryEventKind::Corrupt, 1)]);
    store.fold_batch(&found).unwrap();
    assert!(store.get(&id("bad")).unwrap().is_none());
    assert_eq!(scanned(&*store, &ScanFilter::default()).len(), 3, "and nothing else went");
    store.put(&id("bad"), &record("sound again")).unwrap();
    store.fold_batch(&found).unwrap();
    assert!(store.get(&id("bad")).unwrap().is_some(), "told again, it means nothing");
}

pub(super) fn what_was_stored_anew_since_it_was_found_damaged_stays<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record("stored at the start")).unwrap();
    store
        .fold_batch(&batch("1", vec![event(&id("key"), before(1), EntryEventKind::Corrupt, 1)]))
        .unwrap();
    assert!(store.get(&id("key")).unwrap().is_some());
}

pub(super) fn other_happenings_change_no_record<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    store.put(&id("key"), &record("a")).unwrap();
    let before = store.get(&id("key")).unwrap().unwrap().head.clone();
    let others = EntryEventKind::ALL
        .into_iter()
        .filter(|what| !matches!(what, EntryEventKind::Hit | EntryEventKind::Corrupt))
        .map(|what| event(&id("key"), later(9), what, 1));
    store.fold_batch(&batch("1", others.collect())).unwrap();
    assert_eq!(store.get(&id("key")).unwrap().unwrap().head, before);
}

pub(super) fn usage_is_counted_for_each_scope<F: Factory>() {
    let factory = F::fresh();
    let store = factory.store();
    for (n, scope) in scopes().iter().enumerate() {
        let usage = store.usage(scope).unwrap();
        assert_eq!((usage.entries, usage.bytes), (0, 0), "nothing is there yet");
        for key in 0..=n {
            let body = noise_text(10_000, 1);
            store.put(&id_in(scope, &key.to_string()), &record(body)).unwrap();
        }
    }
    for (n, scope) in scopes().iter().enumerate() {
        let (usage, count) = (store.usage(scope).unwrap(), n as u64 + 1);
        assert_eq!(usage.entries, count);
        // Packed or plain, with headers or without.
        assert!((count * 8_000..count * 11_000).contains(&usage.bytes), "{usage:?}");
        let ids: Vec<EntryId> = (0..=n).map(|key| id_in(scope, &key.to_string())).collect();
        store.remove(&ids).unwrap();
        let usage = store.usage(scope).unwrap();
        assert_eq!((usage.entries, usage.bytes), (0, 0), "everything is gone again");
    }
}
