//! Taking in batches of events. The counts of a scope and the batch's name are
//! written in one step, so each counts once; what single records are told comes
//! after that and may be lost with us: it only says who goes first.

use std::collections::{HashMap, HashSet};

use redis::{Cmd, Value};

use super::Shared;
use super::read::Fields;
use super::scripts::{self, eval};
use super::write::{BATCH, remove_by};
use crate::base::clock::Timestamp;
use crate::entry::{Batch, Happening, Tally};
use crate::error::Result;
use crate::key::{Id, Kind, Scope};
use crate::store::sums::Sums;

/// How many names of batches are remembered, for each scope. A batch is told
/// again only right after a crash, so the newest suffice.
const REMEMBERED: usize = 1_000;

pub(super) fn fold(shared: &Shared, batch: &Batch) -> Result<()> {
    let sums = Sums::of(batch);
    let news = count(shared, batch, &sums)?;
    let served: Vec<_> = sums.served.iter().filter(|(id, _)| news.contains(&id.scope)).collect();
    let records = served.iter().map(|(id, (hits, last))| touch(shared, id, *hits, *last));
    tell(shared, &records.collect::<Vec<_>>())?;
    let lists = served.iter().flat_map(|(id, (_, last))| relist(shared, id, *last));
    tell(shared, &lists.collect::<Vec<_>>())?;
    let damaged = sums.damaged.iter().filter(|(id, _)| news.contains(&id.scope));
    let damaged: Vec<_> = damaged.map(|(id, at)| ((*id).clone(), Some(*at))).collect();
    remove_by(shared, &damaged, scripts::REMOVE_DAMAGED).map(drop)
}

/// The scopes for which the batch is news; now it is counted there.
fn count<'a>(shared: &Shared, batch: &Batch, sums: &Sums<'a>) -> Result<HashSet<&'a Scope>> {
    let mut scopes: HashMap<&Scope, Vec<(String, u64)>> = HashMap::new();
    for ((scope, kind, day, what), count) in &sums.counts {
        scopes.entry(scope).or_default().push((format!("{kind}/{day}/{what}"), *count));
    }
    let commands = scopes.iter().map(|(scope, counts)| {
        let keys = [&*shared.keys.folded(scope), &*shared.keys.tally(scope)];
        let mut command = eval(scripts::COUNT, &keys);
        let newest = batch.events.iter().map(|event| event.at.as_millis()).max().unwrap_or(0);
        command.arg(batch.name.as_str()).arg(newest).arg(REMEMBERED);
        for (field, count) in counts {
            command.arg(field).arg(*count);
        }
        command
    });
    let answers = shared.line.ask("folding in what happened", commands.collect())?;
    let new = scopes.keys().zip(answers).filter(|(_, answer)| *answer == Value::Int(1));
    Ok(new.map(|(scope, _)| *scope).collect())
}

fn tell(shared: &Shared, commands: &[Cmd]) -> Result<()> {
    for commands in commands.chunks(BATCH) {
        shared.line.ask("folding in what happened", commands.to_vec())?;
    }
    Ok(())
}

fn touch(shared: &Shared, id: &Id, hits: u64, last: Timestamp) -> Cmd {
    let mut command = eval(scripts::TOUCH, &[&shared.keys.record(id)]);
    command.arg(hits).arg(last.as_millis());
    command
}

/// Moves a record back in its list, whichever that is, if it is in it.
fn relist(shared: &Shared, id: &Id, last: Timestamp) -> impl Iterator<Item = Cmd> {
    Kind::ALL.into_iter().map(move |kind| {
        let mut command = redis::cmd("ZADD");
        command.arg(shared.keys.used(&id.scope, kind)).arg("XX").arg("GT");
        command.arg(last.as_millis()).arg(id.key.as_str());
        command
    })
}

pub(super) fn tallies(shared: &Shared, scope: &Scope) -> Result<Vec<Tally>> {
    let mut command = redis::cmd("HGETALL");
    command.arg(shared.keys.tally(scope));
    let answer = shared.line.ask_one("reading the counts", command)?;
    let mut fields = match answer {
        Value::Map(pairs) => {
            Fields::of(Value::Array(pairs.into_iter().flat_map(|(k, v)| [k, v]).collect()))
        }
        other => Fields::of(other),
    };
    let mut tallies = Vec::new();
    while let Some(field) = fields.text() {
        let count = fields.number().unwrap_or(0).max(0).cast_unsigned();
        tallies.extend(tally(scope, &field, count));
    }
    Ok(tallies)
}

/// `None` for the kinds and words of a later version, which are its to show.
fn tally(scope: &Scope, field: &str, count: u64) -> Option<Tally> {
    let mut parts = field.split('/');
    let kind = Kind::from_name(parts.next()?)?;
    let day = parts.next()?.parse().ok()?;
    let what = Happening::from_name(parts.next()?)?;
    Some(Tally { scope: scope.clone(), kind, day, what, count })
}
