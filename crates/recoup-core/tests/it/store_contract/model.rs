//! Random sequences of everything a store can do, compared step by step with a
//! map that does the same the obvious way.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use recoup_core::base::clock::Timestamp;
use recoup_core::entry::{EntryRecord, RecordedSources};
use recoup_core::key::{EntryId, Kind, Scope};
use recoup_core::store::{EvictionPlan, EvictionReport, ScanFilter, Store};

use super::stores::Factory;
use crate::support::Touch as _;
use crate::support::{body_of, draft, id_in, later, noise_text, scanned, scopes};

#[derive(Debug, Clone)]
enum Step {
    Put { id: u8, kind: Kind, ttl: Option<u64>, body: String, full: Option<u8> },
    Remove(Vec<u8>),
    Touch { id: u8, at: u64 },
    Evict { scope: u8, kind: Kind, now: u64, max_entries: Option<u64> },
}

fn step() -> impl Strategy<Value = Step> {
    let kind = || prop_oneof![Just(Kind::Result), Just(Kind::AgentRun)];
    let ttl = prop_oneof![Just(None), (1u64..40_000).prop_map(Some)];
    prop_oneof![
        5 => (0u8..8, kind(), ttl, "[a-c]{0,300}", prop::option::of(0u8..3)).prop_map(
            |(id, kind, ttl, body, full)| Step::Put { id, kind, ttl, body, full }
        ),
        1 => prop::collection::vec(0u8..8, 0..3).prop_map(Step::Remove),
        2 => (0u8..8, 0u64..40).prop_map(|(id, at)| Step::Touch { id, at }),
        1 => (0u8..2, kind(), 0u64..40, prop::option::of(0u64..4)).prop_map(
            |(scope, kind, now, max_entries)| Step::Evict { scope, kind, now, max_entries }
        ),
    ]
}

#[derive(Debug, Clone, PartialEq)]
struct Row {
    kind: Kind,
    body: String,
    dead_at: Option<Timestamp>,
    hits: u64,
    last_used: Timestamp,
}

/// What is known of each record, and each as it was last stored.
#[derive(Debug, Default)]
struct Model(HashMap<EntryId, Row>, HashMap<EntryId, EntryRecord>);

impl Model {
    fn touch(&mut self, id: &EntryId, at: Timestamp) {
        if let Some(row) = self.0.get_mut(id) {
            row.hits += 1;
            row.last_used = row.last_used.max(at);
        }
    }

    fn evict(&mut self, plan: &EvictionPlan) -> (u64, u64) {
        let concerned = |id: &EntryId, row: &Row| id.scope == plan.scope && row.kind == plan.kind;
        let before = self.0.len();
        let is_dead = |row: &Row| row.dead_at.is_some_and(|at| at <= plan.now);
        self.0.retain(|_, row| !is_dead(row));
        let expired = before - self.0.len();
        let mut by_use: Vec<(Timestamp, EntryId)> = self
            .0
            .iter()
            .filter(|(id, row)| concerned(id, row))
            .map(|(id, row)| (row.last_used, id.clone()))
            .collect();
        by_use.sort();
        let limit = plan.max_entries.map_or(usize::MAX, |max| usize::try_from(max).unwrap());
        let excess = by_use.len().saturating_sub(limit);
        for (_, id) in &by_use[..excess] {
            self.0.remove(id);
        }
        (expired as u64, excess as u64)
    }
}

fn scope(n: u8) -> Scope {
    scopes()[usize::from(n)].clone()
}

fn name(n: u8) -> EntryId {
    id_in(&scope(n % 2), &format!("k{}", n / 2))
}

/// Times are such that no two entries were ever used at the same one.
fn apply(store: &dyn Store, model: &mut Model, number: u64, step: Step) {
    match step {
        Step::Put { id, kind, ttl, body, full } => {
            let now = later(number * 1_000 + 999);
            let mut draft = draft(body.clone());
            (draft.kind, draft.ttl) = (kind, ttl);
            draft.full = full.map(|seed| noise_text(500, u64::from(seed)).into());
            let record = draft.seal(RecordedSources::default(), now).unwrap();
            store.put(&name(id), &record).unwrap();
            model.1.insert(name(id), record);
            let dead_at = ttl.map(|ttl| now.plus_millis(ttl));
            model.0.insert(name(id), Row { kind, body, dead_at, hits: 0, last_used: now });
        }
        Step::Remove(ids) => {
            let ids: Vec<EntryId> = ids.into_iter().map(name).collect();
            let expected = ids.iter().filter(|id| model.0.remove(id).is_some()).count();
            assert_eq!(store.remove(&ids).unwrap(), expected);
        }
        Step::Touch { id, at } => {
            let at = later(at * 1_000 + number);
            store.touch(&[(name(id), at)]).unwrap();
            model.touch(&name(id), at);
        }
        Step::Evict { scope: of, kind, now, max_entries } => {
            let now = later(now * 1_000);
            let plan = EvictionPlan {
                scope: scope(of),
                kind,
                now,
                keep: None,
                max_entries,
                max_bytes: None,
                thorough: false,
            };
            let EvictionReport { expired, least_used, bytes, .. } = store.evict(&plan).unwrap();
            assert_eq!((expired, least_used), model.evict(&plan));
            assert!(bytes == 0 || expired + least_used > 0);
        }
    }
}

fn assert_agree(store: &dyn Store, model: &Model) {
    for id in (0..8).map(name) {
        let found = store.get(&id).unwrap().map(|record| Row {
            kind: record.head.header.kind,
            body: String::from_utf8(body_of(store, &id).unwrap()).unwrap(),
            dead_at: record.head.header.deletable_at(),
            hits: record.head.hits,
            last_used: record.head.last_used,
        });
        assert_eq!(found.as_ref(), model.0.get(&id), "{id}");
    }
    let mut expected: Vec<EntryId> = model.0.keys().cloned().collect();
    expected.sort();
    assert_eq!(scanned(store, &ScanFilter::default()), expected);
}

/// Whatever came and went, a store counts as one that was only ever given what
/// is there now.
fn assert_usage<F: Factory>(store: &dyn Store, model: &Model) {
    let factory = F::fresh();
    let other = factory.store();
    for id in model.0.keys() {
        other.put(id, &model.1[id]).unwrap();
    }
    for scope in scopes() {
        assert_eq!(store.usage(&scope).unwrap(), other.usage(&scope).unwrap(), "{scope}");
    }
}

pub(super) fn it_agrees_with_a_map<F: Factory>() {
    let config = Config { cases: 32, failure_persistence: None, ..Config::default() };
    let steps = prop::collection::vec(step(), 1..40);
    TestRunner::new(config)
        .run(&steps, |steps| {
            let factory = F::fresh();
            let (store, mut model) = (factory.store(), Model::default());
            for (number, step) in steps.into_iter().enumerate() {
                apply(&*store, &mut model, number as u64, step);
                assert_agree(&*store, &model);
            }
            assert_usage::<F>(&*store, &model);
            Ok(())
        })
        .unwrap();
}
