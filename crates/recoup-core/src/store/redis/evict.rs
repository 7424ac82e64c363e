//! Execution of an eviction plan. Limits in bytes are left to the server, which knows its memory
//! (`maxmemory`, `maxmemory-policy`). It also expires records by itself: here they are only taken
//! off the lists.

use redis::Value;

use super::Shared;
use super::keys::parse_id;
use super::read::Fields;
use super::scripts::{self, eval};
use super::write::{BATCH, Removal, Removed, remove_by};
use crate::base::clock::Timestamp;
use crate::error::Result;
use crate::key::{Id, Key};
use crate::store::{Cause, Evicted, EvictionPlan, Limit};

pub(super) fn carry_out(shared: &Shared, plan: &EvictionPlan) -> Result<Evicted> {
    let mut evicted = Evicted::default();
    loop {
        let dead = take_dead(shared, plan.now)?;
        let removed = remove_by(shared, &dead, scripts::REMOVE_DEAD)?;
        for ((id, _), Removal { outcome, kind }) in dead.iter().zip(removed) {
            match outcome {
                Removed::Gone(bytes) => evicted.bytes = evicted.bytes.saturating_add(bytes),
                // The server was faster.
                Removed::Absent => {}
                Removed::Kept => continue,
            }
            evicted.add(Cause::Dead);
            if let Some(kind) = kind {
                evicted.name(id.clone(), kind, Cause::Dead);
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

fn take_dead(shared: &Shared, now: Timestamp) -> Result<Vec<(Id, Option<Timestamp>)>> {
    let mut command = eval(scripts::TAKE_DEAD, &[&shared.keys.dead()]);
    command.arg(now.as_millis()).arg(BATCH);
    let members = shared.line.ask_one("evicting records", command)?;
    Ok(texts_in(members).filter_map(|id| Some((parse_id(&id)?, Some(now)))).collect())
}

/// Removes by the list. Members that the server has dropped by itself are taken off the list, and
/// not counted.
fn remove_least_used(
    shared: &Shared,
    plan: &EvictionPlan,
    max: u64,
    evicted: &mut Evicted,
) -> Result<()> {
    loop {
        let excess = entries(shared, plan)?.saturating_sub(max);
        let ids = least_used(shared, plan, excess.min(BATCH as u64))?;
        if ids.is_empty() {
            return Ok(());
        }
        let removed = remove_by(shared, &ids, scripts::REMOVE)?;
        for ((id, _), removal) in ids.iter().zip(removed) {
            if let Removed::Gone(bytes) = removal.outcome {
                let cause = Cause::Over(Limit::Entries);
                evicted.add(cause);
                evicted.name(id.clone(), plan.kind, cause);
                evicted.bytes = evicted.bytes.saturating_add(bytes);
            }
        }
    }
}

fn entries(shared: &Shared, plan: &EvictionPlan) -> Result<u64> {
    let mut command = redis::cmd("ZCARD");
    command.arg(shared.keys.used(&plan.scope, plan.kind));
    let count = shared.line.ask_one("evicting records", command)?;
    Ok(Fields::of(Value::Array(vec![count])).number().unwrap_or(0).max(0).cast_unsigned())
}

fn least_used(
    shared: &Shared,
    plan: &EvictionPlan,
    count: u64,
) -> Result<Vec<(Id, Option<Timestamp>)>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut command = redis::cmd("ZRANGE");
    // One more, in case the spared one is among them.
    command.arg(shared.keys.used(&plan.scope, plan.kind)).arg(0).arg(count);
    let members = shared.line.ask_one("evicting records", command)?;
    let keys = texts_in(members).filter_map(|key| Key::parse(&key).ok());
    let others = keys.filter(|key| plan.keep.as_ref() != Some(key));
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    Ok(others.take(count).map(|key| (Id::new(plan.scope.clone(), key), None)).collect())
}

fn texts_in(members: Value) -> impl Iterator<Item = String> {
    let members = members.into_sequence().unwrap_or_default().into_iter();
    members.filter_map(|member| redis::from_redis_value(member).ok())
}
