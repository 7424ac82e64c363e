//! Writing: frames first, then the record that refers to them, atomically; and evictions.
//!
//! Limits in bytes are left to the server, which knows its memory (`maxmemory`, `maxmemory-policy`).
//! It also expires records by itself: here they are only taken off the lists.

use redis::{Cmd, Value};

use super::RedisShared;
use super::pool::RedisPool;
use super::read::{FrameRun, ReplyFields};
use super::scripts::{self, eval, parse_id};
use crate::base::clock::{SystemClock, Timestamp};
use crate::base::name::fresh_id;
use crate::entry::{EntryRecord, StoredBody};
use crate::error::Result;
use crate::key::{EntryId, Key, Kind};
use crate::store::{EvictionCause, EvictionLimit, EvictionPlan, EvictionReport, PlacedPayload};

/// Lifetime of frames without a record, in seconds.
const UNNAMED: u64 = 3_600;
/// The end of the year 9999: later expiries mean never.
const LAST: i64 = 253_402_300_799_000;
/// Number of commands in one request.
pub(super) const BATCH: usize = 500;

pub(super) fn put(shared: &RedisShared, id: &EntryId, record: &EntryRecord) -> Result<()> {
    if !record.is_sealed() {
        return put(shared, id, &record.to_sealed()?);
    }
    let body = write_payload(shared, id, &record.payload)?;
    let full = record.full.as_ref().map(|full| write_payload(shared, id, full)).transpose()?;
    let header = &record.head.header;
    // The lists come before the record, so that no record escapes the limits.
    let mut commands = remove_from_lists(shared, id, |kind| kind != header.kind);
    let mut used = redis::cmd("ZADD");
    used.arg(shared.keys.used(&id.scope, header.kind));
    used.arg(record.head.last_used.as_millis()).arg(id.key.as_str());
    commands.push(used);
    let mut dead = redis::cmd(if header.deletable_at().is_some() { "ZADD" } else { "ZREM" });
    dead.arg(shared.keys.dead());
    if let Some(at) = header.deletable_at() {
        dead.arg(at.as_millis());
    }
    dead.arg(id.to_string());
    commands.push(dead);
    let expires = header.deletable_at().filter(|at| at.as_millis() < LAST);
    commands.push(put_command(shared, id, record, &body, full.as_ref(), expires));
    // The frames get the expiry of their record.
    let runs = std::iter::once(&body).chain(&full).filter_map(RedisPayload::frames);
    for name in runs.flat_map(|run| run.names(shared, id)) {
        let mut command = redis::cmd(if expires.is_some() { "PEXPIREAT" } else { "PERSIST" });
        command.arg(name);
        if let Some(at) = expires {
            command.arg(at.as_millis());
        }
        commands.push(command);
    }
    shared.pool.query_numbers("cannot store an entry", commands).map(drop)
}

type RedisPayload<'a> = PlacedPayload<'a, FrameRun>;

fn write_payload<'a>(
    shared: &RedisShared,
    id: &EntryId,
    payload: &'a StoredBody,
) -> Result<RedisPayload<'a>> {
    let new_run = || FrameRun { generation: fresh_id(&SystemClock), count: 0 };
    PlacedPayload::write(payload, new_run, |run, frame| {
        let mut command = redis::cmd("SET");
        command.arg(shared.keys.frame(id, &run.generation, run.count)).arg(frame);
        command.arg("EX").arg(UNNAMED);
        run.count += 1;
        match shared.pool.query_one("cannot store a large body", command)? {
            Value::Okay => Ok(()),
            _ => Err(RedisPool::not_redis_error("cannot store a large body")),
        }
    })
}

fn put_command(
    shared: &RedisShared,
    id: &EntryId,
    record: &EntryRecord,
    body: &RedisPayload<'_>,
    full: Option<&RedisPayload<'_>>,
    expires: Option<Timestamp>,
) -> Cmd {
    let head = &record.head;
    let header = head.header.to_json();
    let bytes = body.len() + full.map_or(0, RedisPayload::len) + header.len() as u64;
    let dead = head.header.deletable_at().map(Timestamp::as_millis);
    let mut command = eval(scripts::PUT, &[&shared.keys.record(id)]);
    command.arg(expires.map(Timestamp::as_millis).map_or(String::new(), |at| at.to_string()));
    command.arg("head").arg(header).arg("bytes").arg(bytes);
    command.arg("dead").arg(dead.map_or(String::new(), |at| at.to_string()));
    command.arg("at").arg(head.stored_at.as_millis());
    command.arg("used").arg(head.last_used.as_millis()).arg("hits").arg(head.hits);
    let places = [("body", "frames", Some(body)), ("full", "fullframes", full)];
    for (inline, framed, payload) in places {
        match payload {
            Some(PlacedPayload::Inline(body)) => command.arg(inline).arg(*body),
            Some(PlacedPayload::Framed { frames, .. }) => command.arg(framed).arg(frames.to_text()),
            None => &mut command,
        };
    }
    command
}

/// Removes a record from the sorted sets of some kinds.
fn remove_from_lists(shared: &RedisShared, id: &EntryId, of: impl Fn(Kind) -> bool) -> Vec<Cmd> {
    let kinds = Kind::ALL.into_iter().filter(|kind| of(*kind));
    let mut commands = Vec::new();
    for kind in kinds {
        let mut command = redis::cmd("ZREM");
        command.arg(shared.keys.used(&id.scope, kind)).arg(id.key.as_str());
        commands.push(command);
    }
    commands
}

/// Outcome of a removal.
#[derive(Debug, Clone, Copy)]
pub(super) enum RemovalOutcome {
    /// Removed; it had this many bytes.
    Gone(u64),
    /// Did not exist.
    Absent,
    /// Kept by a condition of the script.
    Kept,
}

/// Outcome of a removal, with the kind in whose list the record was.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordRemoval {
    pub(super) outcome: RemovalOutcome,
    pub(super) kind: Option<Kind>,
}

/// Removes records with such a script, and takes them off all lists.
pub(super) fn remove_by(
    shared: &RedisShared,
    ids: &[(EntryId, Option<Timestamp>)],
    script: &str,
) -> Result<Vec<RecordRemoval>> {
    let mut removed = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        let commands = ids.iter().map(|(id, at)| {
            let mut command = eval(script, &[&shared.keys.record(id)]);
            if let Some(at) = at {
                command.arg(at.as_millis());
            }
            command
        });
        let answers = shared.pool.query_all("cannot remove entries", commands.collect())?;
        let outcome = |answer| {
            let mut fields = ReplyFields::of(answer);
            match (fields.number(), fields.number()) {
                (Some(1), bytes) => {
                    Ok(RemovalOutcome::Gone(bytes.unwrap_or(0).max(0).cast_unsigned()))
                }
                (Some(0), _) => Ok(RemovalOutcome::Absent),
                (Some(_), _) => Ok(RemovalOutcome::Kept),
                (None, _) => Err(RedisPool::not_redis_error("cannot remove entries")),
            }
        };
        let outcomes = answers.into_iter().map(outcome).collect::<Result<Vec<_>>>()?;
        let mut unlisted = Vec::new();
        for ((id, _), outcome) in ids.iter().zip(&outcomes) {
            if !matches!(outcome, RemovalOutcome::Kept) {
                unlisted.extend(remove_from_lists(shared, id, |_| true));
                let mut command = redis::cmd("ZREM");
                command.arg(shared.keys.dead()).arg(id.to_string());
                unlisted.push(command);
            }
        }
        let mut lists = shared.pool.query_all("cannot remove entries", unlisted)?.into_iter();
        removed.extend(outcomes.into_iter().map(|outcome| {
            let answers = match outcome {
                RemovalOutcome::Kept => Vec::new(),
                _ => lists.by_ref().take(Kind::ALL.len() + 1).collect(),
            };
            let mut kinds = Kind::ALL.into_iter().zip(answers);
            let listed = kinds.find(|(_, answer)| *answer == Value::Int(1));
            RecordRemoval { outcome, kind: listed.map(|(kind, _)| kind) }
        }));
    }
    Ok(removed)
}

pub(super) fn evict(shared: &RedisShared, plan: &EvictionPlan) -> Result<EvictionReport> {
    let mut evicted = EvictionReport::default();
    loop {
        let mut command = eval(scripts::TAKE_DEAD, &[&shared.keys.dead()]);
        command.arg(plan.now.as_millis()).arg(BATCH);
        let dead = texts_in(shared.pool.query_one("cannot evict entries", command)?);
        let dead = dead.filter_map(|id| Some((parse_id(&id)?, Some(plan.now))));
        let dead: Vec<_> = dead.collect();
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

/// Removes by the list. Members that the server has dropped by itself are taken off the list, and
/// not counted.
fn remove_least_used(
    shared: &RedisShared,
    plan: &EvictionPlan,
    max: u64,
    evicted: &mut EvictionReport,
) -> Result<()> {
    loop {
        let mut command = redis::cmd("ZCARD");
        command.arg(shared.keys.used(&plan.scope, plan.kind));
        let count = shared.pool.query_one("cannot evict entries", command)?;
        let count = ReplyFields::of(Value::Array(vec![count])).number().unwrap_or(0);
        let excess = count.max(0).cast_unsigned().saturating_sub(max).min(BATCH as u64);
        if excess == 0 {
            return Ok(());
        }
        let mut command = redis::cmd("ZRANGE");
        // One more, in case the spared one is among them.
        command.arg(shared.keys.used(&plan.scope, plan.kind)).arg(0).arg(excess);
        let members = shared.pool.query_one("cannot evict entries", command)?;
        let keys = texts_in(members).filter_map(|key| Key::parse(&key).ok());
        let others = keys.filter(|key| plan.keep.as_ref() != Some(key));
        let others = others.take(usize::try_from(excess).unwrap_or(usize::MAX));
        let ids: Vec<_> = others.map(|key| (EntryId::new(plan.scope.clone(), key), None)).collect();
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

fn texts_in(members: Value) -> impl Iterator<Item = String> {
    let members = members.into_sequence().unwrap_or_default().into_iter();
    members.filter_map(|member| redis::from_redis_value(member).ok())
}
