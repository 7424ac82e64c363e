//! Writing: frames first, then the record that refers to them, atomically.

use redis::{Cmd, Value};

use super::Shared;
use super::line::Line;
use super::read::{Fields, FrameRun};
use super::scripts::{self, eval};
use crate::base::clock::{SystemClock, Timestamp};
use crate::base::ids;
use crate::entry::{Payload, Record};
use crate::error::Result;
use crate::key::{Id, Kind};

/// Lifetime of frames without a record, in seconds.
const UNNAMED: u64 = 3_600;
/// The end of the year 9999: later expiries mean never.
const LAST: i64 = 253_402_300_799_000;
/// Number of commands in one request.
pub(super) const BATCH: usize = 500;

pub(super) fn put(shared: &Shared, id: &Id, record: &Record) -> Result<()> {
    if !record.is_sealed() {
        return put(shared, id, &record.sealed()?);
    }
    let body = place(shared, id, &record.payload)?;
    let full = record.full.as_ref().map(|full| place(shared, id, full)).transpose()?;
    let runs: Vec<_> =
        [Some(&body), full.as_ref()].into_iter().flatten().filter_map(Placed::run).collect();
    let expires = record.head.header.dead_at().filter(|at| at.as_millis() < LAST);
    let mut commands = index_commands(shared, id, record);
    commands.push(put_command(shared, id, record, &body, full.as_ref(), expires));
    for name in runs.iter().flat_map(|run| run.names(shared, id)) {
        commands.push(keep_until(&name, expires));
    }
    shared.line.ask_numbers("storing a record", commands).map(drop)
}

/// Location of a payload: in the record itself, or as frames.
enum Placed<'a> {
    Inline(&'a [u8]),
    Framed(FrameRun, u64),
}

impl Placed<'_> {
    fn run(&self) -> Option<&FrameRun> {
        match self {
            Self::Inline(_) => None,
            Self::Framed(run, _) => Some(run),
        }
    }

    fn len(&self) -> u64 {
        match self {
            Self::Inline(body) => body.len() as u64,
            Self::Framed(_, len) => *len,
        }
    }

    fn add_to(&self, command: &mut Cmd, inline: &str, framed: &str) {
        match self {
            Self::Inline(body) => command.arg(inline).arg(*body),
            Self::Framed(run, _) => command.arg(framed).arg(run.to_text()),
        };
    }
}

/// Writes the frames of a large payload; a small one goes into the record.
fn place<'a>(shared: &Shared, id: &Id, payload: &'a Payload) -> Result<Placed<'a>> {
    let frames = match payload {
        Payload::Inline(body) | Payload::Plain(body) => return Ok(Placed::Inline(body)),
        Payload::Framed(frames) => &**frames,
        Payload::Opened(body) => body,
    };
    let (mut run, mut len) = (FrameRun { generation: ids::fresh(&SystemClock), count: 0 }, 0);
    frames.each(&mut |frame| {
        let mut command = redis::cmd("SET");
        command.arg(shared.keys.frame(id, &run.generation, run.count)).arg(frame);
        command.arg("EX").arg(UNNAMED);
        run.count += 1;
        len += frame.len() as u64;
        match shared.line.ask_one("storing a large body", command)? {
            Value::Okay => Ok(()),
            _ => Err(Line::not_redis("storing a large body")),
        }
    })?;
    Ok(Placed::Framed(run, len))
}

fn put_command(
    shared: &Shared,
    id: &Id,
    record: &Record,
    body: &Placed<'_>,
    full: Option<&Placed<'_>>,
    expires: Option<Timestamp>,
) -> Cmd {
    let head = &record.head;
    let header = head.header.to_json();
    let bytes = body.len() + full.map_or(0, Placed::len) + header.len() as u64;
    let dead = head.header.dead_at().map(Timestamp::as_millis);
    let mut command = eval(scripts::PUT, &[&shared.keys.record(id)]);
    command.arg(expires.map(Timestamp::as_millis).map_or(String::new(), |at| at.to_string()));
    command.arg("head").arg(header).arg("bytes").arg(bytes);
    command.arg("dead").arg(dead.map_or(String::new(), |at| at.to_string()));
    command.arg("at").arg(head.stored_at.as_millis());
    command.arg("used").arg(head.last_used.as_millis()).arg("hits").arg(head.hits);
    body.add_to(&mut command, "body", "frames");
    if let Some(full) = full {
        full.add_to(&mut command, "full", "fullframes");
    }
    command
}

/// Before the record, so that no record escapes the limits.
fn index_commands(shared: &Shared, id: &Id, record: &Record) -> Vec<Cmd> {
    let head = &record.head;
    let mut commands = unlist(shared, id, |kind| kind != head.header.kind);
    let mut used = redis::cmd("ZADD");
    used.arg(shared.keys.used(&id.scope, head.header.kind));
    used.arg(head.last_used.as_millis()).arg(id.key.as_str());
    commands.push(used);
    let mut dead = redis::cmd(if head.header.dead_at().is_some() { "ZADD" } else { "ZREM" });
    dead.arg(shared.keys.dead());
    if let Some(at) = head.header.dead_at() {
        dead.arg(at.as_millis());
    }
    dead.arg(id.to_string());
    commands.push(dead);
    commands
}

/// Removes a record from the sorted sets of some kinds.
fn unlist(shared: &Shared, id: &Id, of: impl Fn(Kind) -> bool) -> Vec<Cmd> {
    let kinds = Kind::ALL.into_iter().filter(|kind| of(*kind));
    let mut commands = Vec::new();
    for kind in kinds {
        let mut command = redis::cmd("ZREM");
        command.arg(shared.keys.used(&id.scope, kind)).arg(id.key.as_str());
        commands.push(command);
    }
    commands
}

/// Gives a frame the expiry of its record.
fn keep_until(name: &str, expires: Option<Timestamp>) -> Cmd {
    let mut command = redis::cmd(if expires.is_some() { "PEXPIREAT" } else { "PERSIST" });
    command.arg(name);
    if let Some(at) = expires {
        command.arg(at.as_millis());
    }
    command
}

/// Outcome of a removal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Removed {
    /// Removed; it had this many bytes.
    Gone(u64),
    /// Did not exist.
    Absent,
    /// Kept by a condition of the script.
    Kept,
}

/// Outcome of a removal, with the kind in whose list the record was.
#[derive(Debug, Clone, Copy)]
pub(super) struct Removal {
    pub(super) outcome: Removed,
    pub(super) kind: Option<Kind>,
}

/// Removes records with such a script, and takes them off all lists.
pub(super) fn remove_by(
    shared: &Shared,
    ids: &[(Id, Option<Timestamp>)],
    script: &str,
) -> Result<Vec<Removal>> {
    let mut removed = Vec::with_capacity(ids.len());
    for ids in ids.chunks(BATCH) {
        let commands = ids.iter().map(|(id, at)| {
            let mut command = eval(script, &[&shared.keys.record(id)]);
            if let Some(at) = at {
                command.arg(at.as_millis());
            }
            command
        });
        let answers = shared.line.ask("removing records", commands.collect())?;
        let outcomes = answers.into_iter().map(removal).collect::<Result<Vec<Removed>>>()?;
        let mut unlisted = Vec::new();
        for ((id, _), outcome) in ids.iter().zip(&outcomes) {
            if !matches!(outcome, Removed::Kept) {
                unlisted.extend(unlist(shared, id, |_| true));
                unlisted.push(not_dying(shared, id));
            }
        }
        let mut lists = shared.line.ask("removing records", unlisted)?.into_iter();
        removed.extend(outcomes.into_iter().map(|outcome| {
            let answers = match outcome {
                Removed::Kept => Vec::new(),
                _ => lists.by_ref().take(Kind::ALL.len() + 1).collect(),
            };
            Removal { outcome, kind: listed_kind(&answers) }
        }));
    }
    Ok(removed)
}

/// The kind in whose list a record was, from the answers to [`unlist`].
fn listed_kind(answers: &[Value]) -> Option<Kind> {
    let mut lists = Kind::ALL.into_iter().zip(answers);
    lists.find(|(_, answer)| **answer == Value::Int(1)).map(|(kind, _)| kind)
}

fn not_dying(shared: &Shared, id: &Id) -> Cmd {
    let mut command = redis::cmd("ZREM");
    command.arg(shared.keys.dead()).arg(id.to_string());
    command
}

/// Parses the answer of a removal script: a list that begins with 1, 0 or -1.
fn removal(answer: Value) -> Result<Removed> {
    let mut fields = Fields::of(answer);
    match (fields.number(), fields.number()) {
        (Some(1), bytes) => Ok(Removed::Gone(bytes.unwrap_or(0).max(0).cast_unsigned())),
        (Some(0), _) => Ok(Removed::Absent),
        (Some(_), _) => Ok(Removed::Kept),
        (None, _) => Err(Line::not_redis("removing records")),
    }
}
