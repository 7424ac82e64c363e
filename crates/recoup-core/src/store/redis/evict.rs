//! Execution of an eviction plan. Limits in bytes are left to the server, which knows its memory
//! (`maxmemory`, `maxmemory-policy`). It also expires records by itself: here they are only taken
//! off the lists.

use redis::Value;

use super::RedisShared;
use super::keys::parse_id;
use super::read::ReplyFields;
use super::scripts::{self, eval};
use super::write::{BATCH, RecordRemoval, RemovalOutcome, remove_by};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{EntryId, Key};
use crate::store::{EvictionCause, EvictionLimit, EvictionPlan, EvictionReport};

pub(super) fn carry_out(shared: &RedisShared, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    loop {
        let dead = take_dead(shared, plan.now)?;
        let removed = remove_by(shared, &dead, scripts::REMOVE_DEAD)?;
        for ((id, _), RecordRemoval { outcome, kind }) in dead.iter().zip(removed) {
            match outcome {
                RemovalOutcome::Gone(bytes) => evicted.bytes = evicted.bytes.saturating_add(bytes),
                // The server was faster.
                RemovalOutcome::Absent => {}
                RemovalOutcome::Kept => continue,
            }
            evicted.count_entry(EvictionCause::Dead);
            if let Some(kind) = kind {
                evicted.list_entry(id.clone(), kind, EvictionCause::Dead);
            }
        }
        if dead.len() < BATCH {
            break;
        }
    }
    if let Some(max) = plan.max_entries {
        remove_least_used(shared, plan, max, &mut evicted)?;
    }
    Ok(evicted)
}

fn take_dead(shared: &RedisShared, now: Timestamp) -> Result<Vec<(EntryId, Option<Timestamp>)>> {
    let mut command = eval(scripts::TAKE_DEAD, &[&shared.keys.dead()]);
    command.arg(now.as_millis()).arg(BATCH);
    let members = shared.line.query_one("evicting records", command)?;
    Ok(texts_in(members).filter_map(|id| Some((parse_id(&id)?, Some(now)))).collect())
}

/// Removes by the list. Members that the server has dropped by itself are taken off the list, and
/// not counted.
fn remove_least_used(
    shared: &RedisShared,
    plan: &EvictionPlan,
    max: u64,
    evicted: &mut EvictionReport,
) -> Result<()> {
    loop {
        let excess = entries(shared, plan)?.saturating_sub(max);
        let ids = least_used(shared, plan, excess.min(BATCH as u64))?;
        if ids.is_empty() {
            return Ok(());
        }
        let removed = remove_by(shared, &ids, scripts::REMOVE)?;
        for ((id, _), removal) in ids.iter().zip(removed) {
            if let RemovalOutcome::Gone(bytes) = removal.outcome {
                let cause = EvictionCause::Over(EvictionLimit::Entries);
                evicted.count_entry(cause);
                evicted.list_entry(id.clone(), plan.kind, cause);
                evicted.bytes = evicted.bytes.saturating_add(bytes);
            }
        }
    }
}

fn entries(shared: &RedisShared, plan: &EvictionPlan) -> Result<u64> {
    let mut command = redis::cmd("ZCARD");
    command.arg(shared.keys.used(&plan.scope, plan.kind));
    let count = shared.line.query_one("evicting records", command)?;
    Ok(ReplyFields::of(Value::Array(vec![count])).number().unwrap_or(0).max(0).cast_unsigned())
}

fn least_used(
    shared: &RedisShared,
    plan: &EvictionPlan,
    count: u64,
) -> Result<Vec<(EntryId, Option<Timestamp>)>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut command = redis::cmd("ZRANGE");
    // One more, in case the spared one is among them.
    command.arg(shared.keys.used(&plan.scope, plan.kind)).arg(0).arg(count);
    let members = shared.line.query_one("evicting records", command)?;
    let keys = texts_in(members).filter_map(|key| Key::parse(&key).ok());
    let others = keys.filter(|key| plan.keep.as_ref() != Some(key));
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(others.take(count).map(|key| (EntryId::new(plan.scope.clone(), key), None)).collect())
}

fn texts_in(members: Value) -> impl Iterator<Item = String> {
    let members = members.into_sequence().unwrap_or_default().into_iter();
    members.filter_map(|member| redis::from_redis_value(member).ok())
}
